import type { Recorded } from '../../events/recorded.ts';
import type { ServiceEvent } from '../../events/service.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { retryLostRace } from '../log/decide.ts';
import { appendServiceEvent } from '../log/service-event.ts';
import { containing, type ListedPage, pageOf, pageSize } from './paging.ts';

export interface ListedUser {
  id: string;
  name: string;
  email: string;
  is_operator: boolean;
  has_password: boolean;
  created_at: Date;
  last_signed_in_at: Date | null;
  disabled_at: Date | null;
  /** The first accounts that the person belongs to. */
  accounts: { id: string; name: string; role: string }[];
}

/** Bounds the accounts of each person in the list. */
const maxAccounts = 10;

const select = (sql: Queryable, which: ReturnType<typeof sql>) => sql<ListedUser[]>`
  SELECT u.id, u.name, u.email, u.is_operator, u.password_hash IS NOT NULL AS has_password, u.created_at,
    u.last_signed_in_at, u.disabled_at, coalesce((
      SELECT jsonb_agg(of) FROM (
        SELECT a.id, a.name, m.role FROM members m JOIN accounts a ON a.id = m.account
        WHERE m.user_id = u.id ORDER BY m.joined_at, a.id LIMIT ${maxAccounts}
      ) AS of
    ), '[]') AS accounts
  FROM (${which}) AS u ORDER BY u.id DESC`;

/** One page of all people, newest first. A search compares the names and addresses of all of them. */
export async function listUsers(
  sql: Queryable,
  { search = '', after }: { search: string | undefined; after: string | undefined },
): Promise<ListedPage<ListedUser>> {
  const pattern = containing(search);
  const found = sql`(id = ${search} OR name ILIKE ${pattern} OR email ILIKE ${pattern})`;
  const rows = await select(
    sql,
    sql`
      SELECT * FROM users
      WHERE true
        ${search === '' ? sql`` : sql`AND ${found}`}
        ${after === undefined ? sql`` : sql`AND id < ${after}`}
      ORDER BY id DESC LIMIT ${pageSize + 1}`,
  );
  return pageOf(rows, ({ id }) => id);
}

export async function findUser(sql: Queryable, id: string): Promise<ListedUser> {
  const [user] = await select(sql, sql`SELECT * FROM users WHERE id = ${id}`);
  if (user === undefined) throw notFound('user');
  return user;
}

interface By {
  actor: string;
  now: Date;
  /** Whether the last operator may lose access, as by a command, which can give it back. */
  mayBeLast?: boolean;
}

/** Lets a person sign in no more, or again. The person's sessions end at once. */
export const setDisabled = (sql: Sql, id: string, isDisabled: boolean, by: By): Promise<Recorded<ServiceEvent>[]> =>
  changeUser(sql, id, by, async (tx, user) => {
    if ((user.disabled_at !== null) === isDisabled) return undefined;
    if (isDisabled) await requireOtherOperator(tx, user, by);
    await tx`UPDATE users SET disabled_at = ${isDisabled ? by.now : null} WHERE id = ${id}`;
    if (isDisabled)
      await tx`
        UPDATE console_sessions SET ended_at = ${by.now}, ends_at = least(ends_at, ${by.now})
        WHERE user_id = ${id} AND ended_at IS NULL`;
    return { type: isDisabled ? 'user_disabled' : 'user_enabled', data: { user: id } };
  });

/** Makes a person an operator of the service, or no longer one. */
export const setOperator = (sql: Sql, id: string, to: boolean, by: By): Promise<Recorded<ServiceEvent>[]> =>
  changeUser(sql, id, by, async (tx, user) => {
    if (user.is_operator === to) return undefined;
    if (!to) await requireOtherOperator(tx, user, by);
    await tx`UPDATE users SET is_operator = ${to} WHERE id = ${id}`;
    return { type: 'operator_set', data: { user: id, to } };
  });

type LockedUser = Pick<ListedUser, 'id' | 'is_operator' | 'disabled_at'>;

/** Changes a person and records it in one transaction. */
function changeUser(
  sql: Sql,
  id: string,
  { actor, now }: By,
  change: (tx: Transaction, user: LockedUser) => Promise<ServiceEvent | undefined>,
): Promise<Recorded<ServiceEvent>[]> {
  return retryLostRace(() =>
    sql.begin(async (tx): Promise<Recorded<ServiceEvent>[]> => {
      // All operators in one order, too: two of them who disable each other at the same time must not leave none.
      const users = await tx<LockedUser[]>`
        SELECT id, is_operator, disabled_at FROM users WHERE id = ${id} OR is_operator ORDER BY id FOR UPDATE`;
      const user = users.find((one) => one.id === id);
      if (user === undefined) throw notFound('user');
      const event = await change(tx, user);
      return event === undefined ? [] : appendServiceEvent(tx, event, now, actor);
    }),
  );
}

async function requireOtherOperator(tx: Transaction, { id, is_operator }: LockedUser, { mayBeLast }: By): Promise<void> {
  if (!is_operator || mayBeLast) return;
  const others = await tx`SELECT 1 FROM users WHERE is_operator AND disabled_at IS NULL AND id <> ${id} LIMIT 1`;
  if (others.length > 0) return;
  throw new Refusal('conflict', 'This is the last operator: make another person an operator first.');
}
