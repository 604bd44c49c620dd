import { Empty, Loading } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { pageUrl } from '../router.ts';
import type { OperatorAction } from '../types.ts';
import { type Listed, Pages, PastTime, useListQuery } from './parts.tsx';

const texts: Record<string, string> = {
  plan_changed: 'Plan changed',
  account_suspended: 'Account suspended',
  account_resumed: 'Suspension ended',
  account_deleted: 'Account deleted',
  account_created: 'Account created',
  account_renamed: 'Account renamed',
  code_disabled: 'Code taken down',
  code_enabled: 'Code put back',
  destination_blocked: 'Host blocked',
  destination_unblocked: 'Host unblocked',
  user_disabled: 'Person disabled',
  user_enabled: 'Person enabled',
  operator_set: 'Operator',
  reset_link_created: 'Reset link created',
  one_time_codes_removed: 'One-time codes turned off',
  user_deleted: 'Person deleted',
  key_created: 'Key created',
  key_rotated: 'Key rotated',
  key_revoked: 'Key revoked',
  member_joined: 'Member added',
  member_role_set: 'Role changed',
  member_removed: 'Member removed',
  invitation_created: 'Person invited',
};

/** What operators did, by the console and by commands. */
export function Actions() {
  const { after } = useListQuery();
  const { data, error, reload } = useResource<Listed<OperatorAction>>('/operator/audit', {
    query: { after },
    refreshIntervalMs: 10_000,
  });
  if (data === undefined) return <Loading error={error} retry={reload} />;
  return (
    <section aria-label="Audit of operators">
      {data.data.length === 0 ? (
        <Empty title="Operators have changed nothing yet" />
      ) : (
        <ol class="card lines audit">
          {data.data.map((action) => (
            <li key={action.id}>
              <div class="what wrapped">
                {texts[action.type] ?? action.type}: <Subject subject={action.subject} />
                {action.detail !== null && <span class="hint detail">{action.detail}</span>}
              </div>
              <span class="muted wrapped">{actorText(action)}</span>
              <span class="muted">
                <PastTime at={action.at} />
              </span>
            </li>
          ))}
        </ol>
      )}
      <Pages next={data.next} />
    </section>
  );
}

const actorText = ({ actor, actor_name }: OperatorAction) =>
  actor === 'operator' ? 'By a command' : (actor_name ?? 'A former user');

function Subject({ subject: { kind, id, name } }: Pick<OperatorAction, 'subject'>) {
  const text = name ?? (kind === 'user' ? 'a former user' : id);
  // The name of a deleted account is erased.
  if (kind === 'account' && name !== null) return <a href={pageUrl(`/operator/accounts/${id}`)}>{text}</a>;
  if (kind === 'code') return <a href={`${pageUrl('/operator/codes')}?q=${encodeURIComponent(id)}`}>{text}</a>;
  return <>{text}</>;
}
