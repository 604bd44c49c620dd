import type { Scope } from '../../../events/scopes.ts';
import { AccountPage } from './account/page.tsx';
import { sectionAt } from './account/sections.tsx';
import { AccountAnalyticsPage } from './analytics/page.tsx';
import { CodePage } from './code/page.tsx';
import { CreatePage } from './codes/create.tsx';
import { ImportPage } from './codes/import.tsx';
import { CodesPage } from './codes/list.tsx';
import { LivePage } from './live/page.tsx';
import { Heading } from './parts/heading.tsx';
import { may, NotAllowed } from './permissions.tsx';
import { pageUrl } from './router.ts';
import { start } from './start.tsx';
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
  if (path === '/account') return <AccountPage section={undefined} />;
  const section = sectionAt(path);
  if (section !== undefined) return <AccountPage section={section} />;
  return (
    <>
      <Heading title="Page not found" />
      <p>
        <a class="button" href={pageUrl('/')}>
          View all codes
        </a>
      </p>
    </>
  );
}

start(Page);
