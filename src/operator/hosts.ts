import type { BlockedHost } from '../codes/blocked-hosts.ts';
import type { Queryable } from '../lib/sql.ts';
import { containing, type ListedPage, pageOf, pageSize } from './paging.ts';

/** One page of the blocked hosts, in order of name. */
export async function listHosts(
  sql: Queryable,
  { search = '', after }: { search: string | undefined; after: string | undefined },
): Promise<ListedPage<BlockedHost>> {
  const rows = await sql<BlockedHost[]>`
    SELECT host, blocked_at FROM blocked_hosts
    WHERE true
      ${search === '' ? sql`` : sql`AND host ILIKE ${containing(search)}`}
      ${after === undefined ? sql`` : sql`AND host > ${after}`}
    ORDER BY host LIMIT ${pageSize + 1}`;
  return pageOf(rows, ({ host }) => host);
}

export async function findHost(sql: Queryable, host: string): Promise<BlockedHost | undefined> {
  const [blocked] = await sql<BlockedHost[]>`SELECT host, blocked_at FROM blocked_hosts WHERE host = ${host}`;
  return blocked;
}
