import { date, number, plural } from '../format.ts';
import { Empty, Loading } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { pageUrl, setQuery, useRoute } from '../router.ts';
import type { OperatorAccount } from '../types.ts';
import { type Listed, Pages, Search, useListQuery } from './parts.tsx';

/** All accounts, newest first. */
export function Accounts() {
  const list = useListQuery();
  const suspended = useRoute().query.get('suspended') || undefined;
  const { data, error, reload } = useResource<Listed<OperatorAccount>>('/operator/accounts', {
    query: { ...list, suspended },
  });
  return (
    <section aria-label="Accounts">
      <div class="row gap-m toolbar">
        <Search label="Search accounts" placeholder="Name, ID or e-mail of a member" />
        <label class="row nowrap check">
          <input
            type="checkbox"
            checked={suspended !== undefined}
            onChange={(e) => setQuery({ suspended: e.currentTarget.checked ? 'true' : undefined, after: undefined })}
          />
          <span>Suspended only</span>
        </label>
      </div>
      {data === undefined ? (
        <Loading error={error} retry={reload} />
      ) : data.data.length === 0 ? (
        <Empty title="No matching accounts" />
      ) : (
        <ul class="card lines">
          {data.data.map((account) => (
            <li key={account.id} class="row between gap-l">
              <div class="wrapped">
                <a href={pageUrl(`/operator/accounts/${account.id}`)}>{account.name}</a>
                <p class="hint">
                  {plural(account.live_codes, 'code')}
                  {account.test_codes > 0 && ` and ${number(account.test_codes)} test`} ·{' '}
                  {plural(account.members, 'member')} · created {date(account.created_at)}
                </p>
                {account.suspended !== null && <p class="hint">Suspended: {account.suspended.reason}</p>}
              </div>
              <span class="row">
                {account.suspended !== null && <span class="badge failed">Suspended</span>}
                <span class="badge">{account.plan}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {data !== undefined && <Pages next={data.next} />}
    </section>
  );
}
