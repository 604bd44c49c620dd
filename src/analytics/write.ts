import { Readable } from 'node:stream';
import { type ClickHouseSettings, TupleParam } from '@clickhouse/client';
import type { Warehouse } from './connect.ts';
import { tableName } from './tables.ts';

/** The columns that identify a code, in the order of the table's primary key. */
export type CodeKey = [account: string, mode: string, code: string];

/** Scans as lines of tab-separated fields, in the order of `fields`. */
export interface ScanLines {
  fields: readonly string[];
  lines: string;
}

/** Inserts scans; a second insert with the same token is ignored. */
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
      // One block per insert: several blocks could be split differently on a retry, which would defeat the deduplication.
      input_format_parallel_parsing: 0,
      max_insert_block_size: '10000000',
      min_insert_block_size_rows: '10000000',
      min_insert_block_size_bytes: '0',
      ...settings,
    },
  });
}

/** Rows to remove: all rows of codes, or the rows from before a time up to a position of the log. */
export type LeavingRows = { codes: CodeKey[] } | { before: Date; upTo: number };

/** The condition with its parameters. The one on `time` lets ClickHouse skip the partitions of later months. */
const condition = (rows: LeavingRows) =>
  'codes' in rows
    ? {
        where: 'WHERE (account, mode, code) IN {codes:Array(Tuple(String, String, String))}',
        // The client encodes a tuple only from `TupleParam`; it would encode a nested array as an array.
        parameters: { codes: rows.codes.map((code) => new TupleParam(code)) },
      }
    : {
        where: 'WHERE time < fromUnixTimestamp64Milli({before_ms:Int64}) AND position <= {up_to:UInt64}',
        parameters: { before_ms: rows.before.getTime(), up_to: rows.upTo },
      };

/** Counts these rows. The codes must fit into one URL parameter: see `removalChunkSize`. */
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
 * Submits the removal of rows, which ClickHouse completes in the background. Waiting for it would fail while a replica is
 * down, and a load balancer closes idle connections.
 */
export async function removeRowsOf(warehouse: Warehouse, version: number, rows: LeavingRows): Promise<void> {
  const { where, parameters } = condition(rows);
  await warehouse.client.command({
    query: `ALTER TABLE ${tableName(warehouse, version)} DELETE ${where}`,
    query_params: parameters,
    clickhouse_settings: { mutations_sync: '0' },
  });
}
