import { auditText } from '../account/audit-text.ts';
import { date, number, plural } from '../format.ts';
import { Copy } from '../parts/copy.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import type { AuditEvent, OperatorAccountPage, Page } from '../types.ts';
import { AccountActions } from './account-actions.tsx';
import { PastTime } from './parts.tsx';

/** One account: what it is, who is in it, and what happened to it. */
export function AccountPage({ id }: { id: string }) {
  const found = useResource<OperatorAccountPage>(`/operator/accounts/${id}`, { refreshIntervalMs: 10_000 });
  if (found.data === undefined) return <Loading error={found.error} retry={found.reload} lines={5} />;
  // Also after it was deleted in another tab.
  if (found.error !== undefined && !found.error.isTransient)
    return <Failure error={found.error} retry={found.reload} />;
  const { account, members, keys } = found.data;
  return (
    <div class="stack">
      <div class="row between gap-l">
        <h2 class="wrapped">
          {account.name} <span class="badge">{account.plan}</span>{' '}
          {account.suspended !== null && <span class="badge failed">Suspended</span>}
        </h2>
        <AccountActions account={account} reload={found.reload} />
      </div>
      {account.suspended !== null && (
        <p class="row verdict bad">
          <span class="wrapped">
            Suspended <PastTime at={account.suspended.at} />: {account.suspended.reason}
          </span>
        </p>
      )}
      <div class="grid columns-l plan">
        <Usage page={found.data} />
        <div class="stack">
          <section class="card stack">
            <h3>Members</h3>
            {members.length === 0 ? (
              <p class="hint">No one signs in by name: the account is used with API keys only.</p>
            ) : (
              <ul class="lines records">
                {members.map((member) => (
                  <li key={member.id} class="row between">
                    <div class="wrapped">
                      {member.name} <span class="hint">{member.email}</span>
                      <p class="hint">
                        {member.last_signed_in_at === null ? (
                          'never signed in'
                        ) : (
                          <>
                            signed in <PastTime at={member.last_signed_in_at} />
                          </>
                        )}
                        {member.is_disabled && ' · disabled'}
                      </p>
                    </div>
                    <span class="badge">{member.role}</span>
                  </li>
                ))}
              </ul>
            )}
          </section>
          <section class="card stack">
            <h3>API keys</h3>
            {keys.length === 0 ? (
              <p class="hint">No valid key.</p>
            ) : (
              <ul class="lines records">
                {keys.map((key) => (
                  <li key={key.id} class="row between">
                    <div class="wrapped">
                      {key.name} <span class="hint">…{key.last4}</span>
                      <p class="hint">
                        {key.last_used_at === null ? (
                          'never used'
                        ) : (
                          <>
                            used <PastTime at={key.last_used_at} />
                          </>
                        )}
                        {key.unused && ' · unused for 90 days'}
                        {key.expires_at !== null && ` · expires ${date(key.expires_at)}`}
                      </p>
                    </div>
                    <span class={`badge ${key.mode}`}>{key.mode === 'live' ? 'Live' : 'Test'}</span>
                  </li>
                ))}
              </ul>
            )}
          </section>
        </div>
      </div>
      <RecentEvents id={id} />
    </div>
  );
}

function Usage({ page: { account, limits } }: { page: OperatorAccountPage }) {
  const scans = useResource<{ scans: number; days: number }>(`/operator/accounts/${account.id}/scans`);
  return (
    <section class="card stack">
      <h3>Usage</h3>
      <dl class="stack">
        <div>
          <dt>Live codes</dt>
          <dd>
            <span class="figure">{number(account.live_codes)}</span>{' '}
            {limits.qr_codes === null ? 'no limit' : `of ${number(limits.qr_codes)}`}
          </dd>
        </div>
        <div>
          <dt>Scans in 30 days</dt>
          <dd>
            <span class="figure">{scans.data === undefined ? '…' : number(scans.data.scans)}</span>{' '}
            {scans.error !== undefined && 'analytics are not available'}
          </dd>
        </div>
        <div>
          <dt>Also</dt>
          <dd>
            {plural(account.test_codes, 'test code')}, {number(account.domains)} of {plural(limits.domains, 'domain')},{' '}
            {number(limits.requests_per_minute)} requests per minute
          </dd>
        </div>
        <div>
          <dt>Account ID</dt>
          <dd>
            <code>{account.id}</code>
            <Copy text={account.id} label="Copy account ID" />
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>{date(account.created_at)}</dd>
        </div>
      </dl>
    </section>
  );
}

const recent = 20;

function RecentEvents({ id }: { id: string }) {
  const { data, error, reload } = useResource<Page<AuditEvent>>(`/operator/accounts/${id}/audit`, {
    query: { limit: recent },
    refreshIntervalMs: 10_000,
  });
  return (
    <section class="card stack">
      <h3>Recent events</h3>
      {data === undefined ? (
        <Loading error={error} retry={reload} />
      ) : data.data.length === 0 ? (
        <Empty title="No events" />
      ) : (
        <ol class="lines records">
          {data.data.map((event) => {
            const { what, detail } = auditText(event, new Map());
            return (
              <li key={event.id} class="row between">
                <div class="wrapped">
                  {what}
                  {detail !== undefined && <p class="hint">{detail}</p>}
                </div>
                <span class="hint">
                  <PastTime at={event.timestamp} />
                </span>
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}
