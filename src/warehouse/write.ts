import { Readable } from 'node:stream';
import { type ClickHouseSettings, TupleParam } from '@clickhouse/client';
import type { Warehouse } from './connect.ts';
import { tableName } from './tables.ts';

/** A code as the table is ordered. */
export type CodeKey = [account: string, mode: string, code: string];

/** Lines of scans: these fields, in this order, with a tab between them. */
export interface ScanLines {
  fields: readonly string[];
  lines: string;
}

/** Adds scans: once for each token, however often they are sent. */
export async function insertScans(
  warehouse: Warehouse,
  version: number,
  { fields, lines }: ScanLines,
  token: string,
  settings: ClickHouseSettings = {},
): Promise<void> {
  const columns = fields.map((name) => (name === 'occurred_at' ? 'time' : name));
  await warehouse.client.insert({
    table: tableName(warehouse, version),
    columns: columns as [string, ...string[]],
    format: 'TabSeparated',
    values: Readable.from([lines], { objectMode: false }),
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplicate: 1,
      insert_deduplication_token: token,
      // One block an insert: what is cut could be cut elsewhere the next time, and would not be recognised.
      input_format_parallel_parsing: 0,
      max_insert_block_size: '10000000',
      min_insert_block_size_rows: '10000000',
      min_insert_block_size_bytes: '0',
      ...settings,
    },
  });
}

const ofCodes = 'WHERE (account, mode, code) IN {codes:Array(Tuple(String, String, String))}';
// The client writes a tuple from a class of its own; an array of arrays would be an array to ClickHouse.
const asParameter = (codes: CodeKey[]) => ({ codes: codes.map((code) => new TupleParam(code)) });

/** How many rows the codes have; the codes must fit into one field of a request, see `removalChunkSize`. */
export async function countRowsOf(warehouse: Warehouse, version: number, codes: CodeKey[]): Promise<number> {
  const result = await warehouse.client.query({
    query: `SELECT toString(count()) AS rows FROM ${tableName(warehouse, version)} ${ofCodes}`,
    query_params: asParameter(codes),
    format: 'JSONEachRow',
  });
  const [counted] = await result.json<{ rows: string }>();
  return Number(counted?.rows);
}

/**
 * Submits the removal of all rows of the codes, which the server completes in the background. To wait for it here would
 * fail while a replica is down, and a load balancer cuts a connection that stays silent.
 */
export async function removeRowsOf(warehouse: Warehouse, version: number, codes: CodeKey[]): Promise<void> {
  await warehouse.client.command({
    query: `ALTER TABLE ${tableName(warehouse, version)} DELETE ${ofCodes}`,
    query_params: asParameter(codes),
    clickhouse_settings: { mutations_sync: '0' },
  });
}
