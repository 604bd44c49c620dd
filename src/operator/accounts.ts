import type { Account } from '../../events/account.ts';
import { isId } from '../lib/ids.ts';
import type { Queryable } from '../lib/sql.ts';
import { containing, type ListedPage, pageOf, pageSize } from './paging.ts';

export interface ListedAccount extends Account {
  live_codes: number;
  test_codes: number;
  members: number;
  domains: number;
}

/** Accounts with their usage: counters and indexed counts only, so that a page of 50 costs a few milliseconds. */
const withUsage = (sql: Queryable, which: ReturnType<typeof sql>) => sql<ListedAccount[]>`
  SELECT a.*,
    (SELECT coalesce(sum(codes), 0)::bigint FROM code_counts
      WHERE account = a.id AND mode = 'live' AND status <> 'deleted') AS live_codes,
    (SELECT coalesce(sum(codes), 0)::bigint FROM code_counts
      WHERE account = a.id AND mode = 'test' AND status <> 'deleted') AS test_codes,
    (SELECT count(*) FROM members WHERE account = a.id) AS members,
    (SELECT count(*) FROM domains WHERE account = a.id AND status <> 'removed') AS domains
  FROM (${which}) AS a ORDER BY a.id DESC`;

/** What a search in the list of accounts is for: an id, the address of a member, or a part of the name. */
function matching(sql: Queryable, search: string) {
  if (isId('acct', search)) return sql`id = ${search}`;
  if (search.includes('@'))
    return sql`id IN (
      SELECT account FROM members JOIN users ON users.id = user_id WHERE lower(email) = lower(${search}))`;
  return sql`name ILIKE ${containing(search)}`;
}

interface AccountListing {
  search: string | undefined;
  /** Only accounts that are suspended. */
  isSuspended: boolean;
  /** The id of the last account of the page before. */
  after: string | undefined;
}

/** One page of all accounts, newest first. A search by name compares the names of all accounts. */
export async function listAllAccounts(
  sql: Queryable,
  { search = '', isSuspended, after }: AccountListing,
): Promise<ListedPage<ListedAccount>> {
  const rows = await withUsage(
    sql,
    sql`
      SELECT * FROM accounts
      WHERE true
        ${search === '' ? sql`` : sql`AND ${matching(sql, search)}`}
        ${isSuspended ? sql`AND suspended_at IS NOT NULL` : sql``}
        ${after === undefined ? sql`` : sql`AND id < ${after}`}
      ORDER BY id DESC LIMIT ${pageSize + 1}`,
  );
  return pageOf(rows, ({ id }) => id);
}

export async function findListedAccount(sql: Queryable, id: string): Promise<ListedAccount | undefined> {
  const [account] = await withUsage(sql, sql`SELECT * FROM accounts WHERE id = ${id}`);
  return account;
}
