import type { Owner } from '../../events/owner.ts';
import { Refusal } from '../lib/errors.ts';
import type { Queryable } from '../log/connect.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { countRows } from '../warehouse/tables.ts';

export interface TableInUse {
  version: number;
  /** Every scan up to here is in it. */
  position: number;
  /** Scans of codes that were deleted up to here have left it. */
  removedTo: number;
}

/** The table that analytics are read from. There is none until the first one is filled. */
export async function tableInUse(sql: Queryable): Promise<TableInUse> {
  const [table] = await sql<TableInUse[]>`
    SELECT version, position, removed_to AS "removedTo" FROM warehouse_tables WHERE in_use`;
  if (table !== undefined) return table;
  throw new Refusal('unavailable', 'Analytics are being made again from the log: try again in a moment.', undefined, {
    'retry-after': '5',
  });
}

/** Throws unless the table is really there: an engine that keeps it in memory starts without it. */
export async function findTable(sql: Queryable, warehouse: Warehouse): Promise<void> {
  const { version } = await tableInUse(sql);
  if ((await countRows(warehouse, version)) === undefined) throw new Error('the warehouse has not been filled yet');
}

/** Codes of an account that are deleted, and whose scans have not left the table yet. */
export async function leavingCodes(
  sql: Queryable,
  { removedTo }: TableInUse,
  { account, mode }: Owner,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT c.id FROM events e JOIN codes c ON c.id = e.stream
    WHERE e.type = 'code_deleted' AND e.position > ${removedTo} AND c.account = ${account} AND c.mode = ${mode}`;
  return rows.map(({ id }) => id);
}
