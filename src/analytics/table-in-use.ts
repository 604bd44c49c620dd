import type { Owner } from '../../events/owner.ts';
import { retryLater } from '../lib/errors.ts';
import type { Queryable } from '../lib/sql.ts';
import type { Warehouse } from './connect.ts';
import { countRows } from './tables.ts';

export interface TableInUse {
  version: number;
  /** The number of its definition in migrations/clickhouse/: older than the newest until the table is rebuilt. */
  definition: number;
  /** The table contains every scan up to this position of the log. */
  position: number;
  /** Scans of codes that were deleted up to this position of the log are removed from the table. */
  removedTo: number;
}

/** The table that analytics are read from. Throws `unavailable` until the first table is filled. */
export async function tableInUse(sql: Queryable): Promise<TableInUse> {
  const [table] = await sql<TableInUse[]>`
    SELECT version, definition, position, removed_to AS "removedTo" FROM warehouse_tables WHERE in_use`;
  if (table !== undefined) return table;
  throw retryLater('Analytics are being rebuilt from the log: try again in a few seconds.');
}

/** Throws unless ClickHouse has the table: an engine that keeps tables in memory starts without it. */
export async function findTable(sql: Queryable, warehouse: Warehouse): Promise<void> {
  const { version } = await tableInUse(sql);
  if ((await countRows(warehouse, version)) === undefined)
    throw new Error('the analytics table has not been filled yet');
}

/** Deleted codes of an account whose scans are still in the table. */
export async function deletedCodesInTable(
  sql: Queryable,
  { removedTo }: TableInUse,
  { account, mode }: Owner,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT c.id FROM events e JOIN codes c ON c.id = e.stream
    WHERE e.type = 'code_deleted' AND e.position > ${removedTo} AND c.account = ${account} AND c.mode = ${mode}`;
  return rows.map(({ id }) => id);
}
