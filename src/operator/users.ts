import { notFound } from '../lib/errors.ts';
import type { Queryable } from '../lib/sql.ts';
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

export async function requireListedUser(sql: Queryable, id: string): Promise<ListedUser> {
  const [user] = await select(sql, sql`SELECT * FROM users WHERE id = ${id}`);
  if (user === undefined) throw notFound('person');
  return user;
}
