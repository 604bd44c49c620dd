import type { StoredEvent } from '../../events/catalogue.ts';
import { serviceStream } from '../../events/service.ts';
import type { Queryable } from '../lib/sql.ts';
import { type Row, recorded } from '../log/read.ts';
import { type ListedPage, pageOf, pageSize } from './paging.ts';

/** Decisions that only operators make, and what commands did: the condition of the index events_of_operators, to the letter. */
export const byOperators = `(
  type IN (
    'plan_changed', 'account_suspended', 'account_resumed', 'account_deleted', 'code_disabled', 'code_enabled',
    'destination_blocked', 'destination_unblocked', 'user_disabled', 'user_enabled', 'operator_set', 'reset_link_created'
  ) OR actor = 'operator' AND type IN (
    'account_created', 'account_renamed', 'key_created', 'key_rotated', 'key_revoked', 'member_joined', 'member_role_set',
    'member_removed', 'invitation_created'
  )
)`;

/**
 * Those of the service's stream that the index does not have, and that are read by the stream's own: it has only what operators
 * and the service itself did.
 */
const notIndexed = ['one_time_codes_removed', 'user_deleted'];

export interface OperatorAction {
  position: number;
  id: string;
  occurred_at: Date;
  /** The id of a person, or `operator` for commands. */
  actor: string;
  /** Null for commands, and for a person who no longer exists. */
  actor_name: string | null;
  type: string;
  subject: { kind: 'account' | 'code' | 'host' | 'user'; id: string; name: string | null };
  /** Reason, plan, key or role; null if there is none, or if the account was erased. */
  detail: string | null;
}

interface ActionRow extends Row {
  actor_name: string | null;
  account_name: string | null;
  short_code: string | null;
  user_name: string | null;
}

/** One page of what operators did, newest first. `before` is the position of the last action of the page before. */
export async function listOperatorActions(
  sql: Queryable,
  { before, actor }: { before: number | undefined; actor: string | undefined },
): Promise<ListedPage<OperatorAction>> {
  const listed = sql`
    ${before === undefined ? sql`` : sql`AND position < ${before}`}
    ${actor === undefined ? sql`` : sql`AND actor = ${actor}`}`;
  const rows = await sql<ActionRow[]>`
    SELECT e.*, by_user.name AS actor_name, a.name AS account_name, c.short_code, u.name AS user_name
    FROM (
      (SELECT * FROM events WHERE ${sql.unsafe(byOperators)} ${listed} ORDER BY position DESC LIMIT ${pageSize + 1})
      UNION ALL
      -- A person who deletes themselves is no operator.
      (SELECT * FROM events
        WHERE stream = ${serviceStream} AND type = ANY(${notIndexed}) AND actor <> data ->> 'user' ${listed}
        ORDER BY version DESC LIMIT ${pageSize + 1})
      ORDER BY position DESC LIMIT ${pageSize + 1}
    ) AS e
    LEFT JOIN users by_user ON by_user.id = e.actor
    LEFT JOIN accounts a ON a.id = e.stream
    LEFT JOIN codes c ON c.id = e.stream
    LEFT JOIN users u ON u.id = e.data ->> 'user'
    ORDER BY e.position DESC`;
  return pageOf(rows.map(actionOf), ({ position }) => String(position));
}

function actionOf({ actor_name, account_name, short_code, user_name, ...row }: ActionRow): OperatorAction {
  const event = recorded(row);
  const { position, id, stream, occurred_at, actor, type } = row;
  return {
    position,
    id,
    occurred_at,
    actor,
    actor_name,
    type,
    subject: subjectOf(event, stream, { account: account_name, code: short_code, user: user_name }),
    detail: detailOf(event),
  };
}

function subjectOf(
  event: StoredEvent,
  stream: string,
  names: { account: string | null; code: string | null; user: string | null },
): OperatorAction['subject'] {
  switch (event.type) {
    case 'destination_blocked':
    case 'destination_unblocked':
      return { kind: 'host', id: event.data.host, name: event.data.host };
    case 'user_disabled':
    case 'user_enabled':
    case 'operator_set':
    case 'reset_link_created':
    case 'one_time_codes_removed':
    case 'user_deleted':
      return { kind: 'user', id: event.data.user, name: names.user };
    default:
      return stream.startsWith('qr_')
        ? { kind: 'code', id: stream, name: names.code }
        : { kind: 'account', id: stream, name: names.account };
  }
}

function detailOf(event: StoredEvent): string | null {
  switch (event.type) {
    case 'plan_changed':
    case 'account_renamed':
      return `${event.data.from} → ${event.data.to}`;
    case 'account_suspended':
    case 'code_disabled':
      return event.data.reason;
    case 'account_created':
      return `${event.data.plan} plan`;
    case 'key_created':
      return `${event.data.name}, ${event.data.mode} key ending in ${event.data.last4}`;
    case 'key_rotated':
    case 'key_revoked':
      return event.data.key;
    case 'member_joined':
    case 'member_role_set':
    case 'invitation_created':
      return event.data.role;
    case 'operator_set':
      return event.data.to ? 'on' : 'off';
    default:
      return null;
  }
}
