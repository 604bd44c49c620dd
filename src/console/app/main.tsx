import { render } from 'preact';
import { AccountPage, type Section } from './account/page.tsx';
import { AccountAnalyticsPage } from './analytics/page.tsx';
import { CodePage } from './code/page.tsx';
import { CreatePage } from './codes/create.tsx';
import { ImportPage } from './codes/import.tsx';
import { CodesPage } from './codes/list.tsx';
import { LivePage } from './live/page.tsx';
import { Empty } from './parts/states.tsx';
import { currentMode, interceptLinks, pageUrl, useRoute } from './router.ts';
import { Shell } from './shell.tsx';
import { keyOf } from './welcome.ts';

function Page({ path }: { path: string }) {
  if (path === '/' || path === '/codes') return <CodesPage />;
  if (path === '/live') return <LivePage />;
  if (path === '/analytics') return <AccountAnalyticsPage />;
  if (path === '/codes/new') return <CreatePage />;
  if (path === '/codes/import') return <ImportPage />;
  const [, code] = /^\/codes\/(qr_\w+)$/.exec(path) ?? [];
  if (code !== undefined) return <CodePage key={code} id={code} />;
  const [isWebhook, webhook] = /^\/account\/webhook\/(new|wh_\w+)$/.exec(path) ?? [];
  if (isWebhook !== undefined) return <AccountPage section="webhook" webhook={webhook} />;
  const [isAccount, section = 'plan'] = /^\/account(?:\/(keys|sessions|webhook|shares|audit))?$/.exec(path) ?? [];
  if (isAccount !== undefined) return <AccountPage section={section as Section} />;
  return (
    <Empty title="Page not found">
      <a class="button" href={pageUrl('/')}>
        View all codes
      </a>
    </Empty>
  );
}

function Console() {
  const { path, mode } = useRoute();
  return (
    <Shell path={path} mode={mode}>
      <Page key={mode} path={path} />
    </Shell>
  );
}

// Without a key for the current mode there is nothing to show: switch to the other mode.
if (keyOf(currentMode()) === undefined) location.replace(pageUrl('/', currentMode() === 'live' ? 'test' : 'live'));
else {
  interceptLinks();
  const root = document.getElementById('console');
  if (root !== null) render(<Console />, root);
}
