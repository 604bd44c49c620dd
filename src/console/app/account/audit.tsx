import { api } from '../api.ts';
import { relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Actor } from '../parts/actor.tsx';
import { longSizes, pageQueryOf } from '../parts/page-numbers.ts';
import { Paged } from '../parts/pager.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { useAction } from '../parts/use-action.ts';
import { may, maySeeMembers } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { currentMode, pageUrl, setQuery, useRoute } from '../router.ts';
import type { ApiKey, AuditEvent, Member, Page } from '../types.ts';
import { auditText } from './audit-text.ts';

/** Groups of types to choose from. */
const groups = {
  '': 'Everything',
  'key.created,key.rotated,key.revoked': 'API keys',
  'session.created,session.ended,sign_in.failed': 'Sign-ins',
  'sign_in.failed': 'Failed sign-ins',
  'member.joined,member.role_changed,member.removed,invitation.created,invitation.revoked,invitation.accepted':
    'Members',
  'account.suspended,account.resumed,account.plan_changed,code.disabled,code.enabled': 'Operator',
} as const;

/** Who did what to the account. */
export function Audit() {
  const { query } = useRoute();
  const [type, actor] = [query.get('type') ?? '', query.get('actor') ?? ''];
  const filter = { type: type || undefined, actor: actor || undefined };
  const keys = useResource<{ data: ApiKey[] }>(may('account.read') ? '/account/keys' : undefined, {
    query: { include: 'revoked' },
  });
  const { data, error, loading, reload } = useResource<Page<AuditEvent>>('/account/audit', {
    query: { ...filter, ...pageQueryOf(query, longSizes) },
    refreshIntervalMs: 10_000,
  });
  const members = useResource<{ data: Member[] }>(maySeeMembers() ? '/account/members' : undefined);
  const names = namesOf(keys.data?.data ?? [], members.data?.data, data?.data ?? []);
  return (
    <section aria-label="Audit log">
      <div class="row gap-m toolbar">
        <label>
          <span class="hidden">Kind of event</span>
          <select value={type} onChange={(e) => setQuery({ type: e.currentTarget.value, page: undefined })}>
            {Object.entries(groups).map(([types, label]) => (
              <option key={types} value={types}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="hidden">Done by</span>
          <select value={actor} onChange={(e) => setQuery({ actor: e.currentTarget.value, page: undefined })}>
            <option value="">By anyone</option>
            <option value="operator">By the operator</option>
            {members.data?.data.map(({ id, name }) => (
              <option key={id} value={id}>
                By {name}
              </option>
            ))}
            {keys.data?.data.map(({ id, name, last4 }) => (
              <option key={id} value={id}>
                By {name} (…{last4})
              </option>
            ))}
          </select>
        </label>
        <span class="spacer" />
        <ExportButton filter={filter} />
      </div>
      {data === undefined ? (
        <Loading error={error} retry={reload} />
      ) : data.pagination.total === 0 ? (
        <Empty title="No matching events" />
      ) : (
        <Paged what="events" pagination={data.pagination} sizes={longSizes} loading={loading}>
          <ol class="card lines audit">
            {data.data.map((event) => (
              <AuditItem key={event.id} event={event} names={names} />
            ))}
          </ol>
        </Paged>
      )}
      {currentMode() === 'test' && <p class="hint">A test key shows only what belongs to test mode.</p>}
    </section>
  );
}

/** Names of keys and people by their ids. */
function namesOf(keys: ApiKey[], members: Member[] | undefined, events: AuditEvent[]): Map<string, string> {
  const names = new Map([...keys, ...(members ?? [])].map(({ id, name }) => [id, name]));
  if (members === undefined) return names;
  // People whom events are about, and who are no longer members.
  for (const { data } of events)
    for (const id of Object.values(data))
      if (typeof id === 'string' && id.startsWith('usr_') && !names.has(id)) names.set(id, 'a former member');
  return names;
}

function AuditItem({ event, names }: { event: AuditEvent; names: Map<string, string> }) {
  const { what, detail } = auditText(event, names);
  return (
    <li>
      <div class="what wrapped">
        {event.type === 'sign_in.failed' && <Icon name="warning" />}{' '}
        {event.qr_id === undefined ? what : <a href={pageUrl(`/codes/${event.qr_id}`)}>{what}</a>}
        {detail !== undefined && <span class="hint detail">{detail}</span>}
      </div>
      <span class="muted">
        <Actor id={event.actor} name={event.actor_name} />
      </span>
      <time class="muted" dateTime={event.timestamp} title={time(event.timestamp)}>
        {relativeTime(event.timestamp)}
      </time>
    </li>
  );
}

/** Downloads the whole selection, one event a line. */
function ExportButton({ filter }: { filter: Record<string, string | undefined> }) {
  const { busy, run } = useAction();
  const save = () =>
    run(async () => {
      const file = URL.createObjectURL(await api.file('/account/audit', filter, 'application/x-ndjson'));
      const link = Object.assign(document.createElement('a'), { href: file, download: 'audit.ndjson' });
      link.click();
      URL.revokeObjectURL(file);
    });
  return (
    <button type="button" class="button" disabled={busy} onClick={save}>
      <Icon name="download" />
      Export
    </button>
  );
}
