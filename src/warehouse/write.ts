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

/** Rows that leave a table together: those of codes, or those of before a time up to a position of the log. */
export type LeavingRows = { codes: CodeKey[] } | { before: Date; upTo: number };

/** A condition with its parameters. That on the time lets ClickHouse skip the partitions of later months. */
const condition = (rows: LeavingRows) =>
  'codes' in rows
    ? {
        where: 'WHERE (account, mode, code) IN {codes:Array(Tuple(String, String, String))}',
        // The client writes a tuple from a class of its own; an array of arrays would be an array to ClickHouse.
        parameters: { codes: rows.codes.map((code) => new TupleParam(code)) },
      }
    : {
        where: 'WHERE time < fromUnixTimestamp64Milli({before_ms:Int64}) AND position <= {up_to:UInt64}',
        parameters: { before_ms: rows.before.getTime(), up_to: rows.upTo },
      };

/** How many of these rows a table has; codes must fit into one field of a request, see `removalChunkSize`. */
export async function countRowsOf(warehouse: Warehouse, version: number, rows: LeavingRows): Promise<number> {
  const { where, parameters } = condition(rows);
  const result = await warehouse.client.query({
    query: `SELECT toString(count()) AS rows FROM ${tableName(warehouse, version)} ${where}`,
    query_params: parameters,
    format: 'JSONEachRow',
  });
  const [counted] = await result.json<{ rows: string }>();
  return Number(counted?.rows);
}

/**
 * Submits the removal of rows, which the server completes in the background. To wait for it here would fail while a
 * replica is down, and a load balancer cuts a connection that stays silent.
 */
export async function removeRowsOf(warehouse: Warehouse, version: number, rows: LeavingRows): Promise<void> {
  const { where, parameters } = condition(rows);
  await warehouse.client.command({
    query: `ALTER TABLE ${tableName(warehouse, version)} DELETE ${where}`,
    query_params: parameters,
    clickhouse_settings: { mutations_sync: '0' },
  });
}
