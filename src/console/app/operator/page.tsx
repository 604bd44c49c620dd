import { Heading } from '../parts/heading.tsx';
import { SideLinks } from '../parts/side-links.tsx';
import { Empty } from '../parts/states.tsx';
import { ZoneNote } from '../parts/zone-note.tsx';
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
const links = sections.map(([to, text]) => ({ path: `/operator${to}`, text }));

/** What operators of the service see. `path` is what follows /operator. */
export function OperatorPage({ path }: { path: string }) {
  if (bootstrap.user?.is_operator !== true)
    return (
      <>
        <Heading title="Operator" />
        <Empty title="For operators only">
          <p>
            The operator of this service makes people operators, by running{' '}
            <code>./scanlog user operator &lt;email&gt; on</code>.
          </p>
        </Empty>
      </>
    );
  const [, account] = /^\/accounts\/(acct_\w+)$/.exec(path) ?? [];
  const current = account === undefined ? path : '';
  const Section = sections.find(([to]) => to === current)?.[2];
  return (
    <>
      <Heading title="Operator" lead="All accounts of this service" />
      <div class="beside-sections">
        <SideLinks label="Operator" groups={[{ links }]} current={`/operator${current}`} />
        <div>
          {account !== undefined ? (
            <AccountPage key={account} id={account} />
          ) : Section === undefined ? (
            <Empty title="Page not found" />
          ) : (
            <Section />
          )}
          <ZoneNote />
        </div>
      </div>
    </>
  );
}
