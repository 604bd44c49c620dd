import { useEffect, useRef } from 'preact/hooks';
import { Heading } from '../parts/heading.tsx';
import { Empty } from '../parts/states.tsx';
import { ZoneNote } from '../parts/zone-note.tsx';
import { pageUrl } from '../router.ts';
import { bootstrap } from '../welcome.ts';
import { AccountPage } from './account.tsx';
import { Accounts } from './accounts.tsx';
import { Actions } from './actions.tsx';
import { Codes } from './codes.tsx';
import { Health } from './health.tsx';
import { Hosts } from './hosts.tsx';
import { Users } from './users.tsx';

const sections = [
  ['', 'Accounts', Accounts],
  ['/codes', 'Codes', Codes],
  ['/hosts', 'Blocked hosts', Hosts],
  ['/people', 'People', Users],
  ['/health', 'Health', Health],
  ['/audit', 'Audit', Actions],
] as const;

/** What operators of the service see. `path` is what follows /operator. */
export function OperatorPage({ path }: { path: string }) {
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    // A phone shows only some of the tabs.
    tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [path]);
  if (bootstrap.user?.is_operator !== true)
    return (
      <Empty title="For operators only">
        <p>
          The operator of this service makes people operators, by running{' '}
          <code>./scanlog user operator &lt;email&gt; on</code>.
        </p>
      </Empty>
    );
  const [, account] = /^\/accounts\/(acct_\w+)$/.exec(path) ?? [];
  const current = account === undefined ? path : '';
  const Section = sections.find(([to]) => to === current)?.[2];
  return (
    <>
      <Heading title="Operator" lead="All accounts of this service" />
      <nav class="tabs" aria-label="Operator" ref={tabs}>
        {sections.map(([to, text]) => (
          <a key={to} href={pageUrl(`/operator${to}`)} aria-current={to === current ? 'page' : undefined}>
            {text}
          </a>
        ))}
      </nav>
      {account !== undefined ? (
        <AccountPage key={account} id={account} />
      ) : Section === undefined ? (
        <Empty title="Page not found" />
      ) : (
        <Section />
      )}
      <ZoneNote />
    </>
  );
}
