import { render } from 'preact';
import type { Scope } from '../../../events/scopes.ts';
import { AccountPage, type Section } from './account/page.tsx';
import { AccountAnalyticsPage } from './analytics/page.tsx';
import { CodePage } from './code/page.tsx';
import { CreatePage } from './codes/create.tsx';
import { ImportPage } from './codes/import.tsx';
import { CodesPage } from './codes/list.tsx';
import { showTimesIn } from './format.ts';
import { LivePage } from './live/page.tsx';
import { Empty } from './parts/states.tsx';
import { homePath, may, NotAllowed } from './permissions.tsx';
import { currentMode, interceptLinks, pageUrl, useRoute } from './router.ts';
import { Shell } from './shell.tsx';
import { accountTimeZone, hasMode, useBootstrapChanges } from './welcome.ts';
import { YouPage } from './you/page.tsx';

/** What a page needs to read; null for the person's own page, and for the account, whose sections need different scopes. */
function scopeOf(path: string): Scope | null {
  if (path === '/live') return 'events.read';
  if (path === '/analytics') return 'analytics.read';
  if (path === '/codes/new' || path === '/codes/import') return 'codes.write';
  return path === '/' || path.startsWith('/codes') ? 'codes.read' : null;
}

function Page({ path }: { path: string }) {
  const scope = scopeOf(path);
  if (scope !== null && !may(scope)) return <NotAllowed scope={scope} />;
  if (path === '/' || path === '/codes') return <CodesPage />;
  if (path === '/live') return <LivePage />;
  if (path === '/analytics') return <AccountAnalyticsPage />;
  if (path === '/codes/new') return <CreatePage />;
  if (path === '/codes/import') return <ImportPage />;
  if (path === '/you') return <YouPage />;
  const [, code] = /^\/codes\/(qr_\w+)$/.exec(path) ?? [];
  if (code !== undefined) return <CodePage key={code} id={code} />;
  const [isWebhook, webhook] = /^\/account\/webhook\/(new|wh_\w+)$/.exec(path) ?? [];
  if (isWebhook !== undefined) return <AccountPage section="webhook" webhook={webhook} />;
  const [isDomain, domain] = /^\/account\/domains\/(dom_\w+)$/.exec(path) ?? [];
  if (isDomain !== undefined) return <AccountPage section="domains" domain={domain} />;
  const [isAccount, section] =
    /^\/account(?:\/(members|keys|sessions|webhook|domains|shares|audit))?$/.exec(path) ?? [];
  if (isAccount !== undefined) return <AccountPage section={section as Section | undefined} />;
  return (
    <Empty title="Page not found">
      <a class="button" href={pageUrl('/')}>
        View all codes
      </a>
    </Empty>
  );
}

function Console() {
  // Another time zone is on every page, and the person's name at the top.
  useBootstrapChanges();
  const { path, mode } = useRoute();
  return (
    <Shell path={path} mode={mode}>
      <Page key={mode} path={path} />
    </Shell>
  );
}

// Without a key for the current mode there is nothing to show: switch to the other mode.
if (!hasMode(currentMode())) location.replace(pageUrl('/', currentMode() === 'live' ? 'test' : 'live'));
// The list of codes is the home page, except with a key that may not read codes.
else if (location.pathname === pageUrl('/') && homePath() !== '/') location.replace(pageUrl(homePath()));
else {
  showTimesIn(accountTimeZone);
  interceptLinks();
  const root = document.getElementById('console');
  if (root !== null) render(<Console />, root);
}
