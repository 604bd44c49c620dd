import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { type BackupRows, leftOut, rowLines, type TableLine } from './backup-file.ts';

/** Tables whose entries never change while the history of the log is fixed, so they need no snapshot. */
export const historyTables = ['events', 'scans'];

/** All tables except those in `leftOut`. */
export async function tablesOf(sql: Queryable): Promise<TableLine[]> {
  const rows = await sql<{ table: string; columns: string }[]>`
    SELECT c.relname AS "table",
      (SELECT json_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text AS columns
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND NOT c.relname = ANY (${leftOut})
    ORDER BY c.relname`;
  return rows.map(({ table, columns }) => ({ table, columns: JSON.parse(columns) }));
}

/** About how many rows these tables have, as of the last vacuum or analyze: counting them would take a minute. */
export async function estimateRows(sql: Queryable, tables: string[]): Promise<number> {
  const [{ rows }] = await sql<[{ rows: number }]>`
    SELECT coalesce(sum(greatest(p.reltuples, 0)), 0)::bigint AS rows
    FROM unnest(${tables}::text[]) AS name CROSS JOIN LATERAL pg_partition_tree(to_regclass(name)) AS t
    JOIN pg_class p ON p.oid = t.relid WHERE t.isleaf`;
  return rows;
}

/** Few, because a stored response of a bulk create can have a megabyte. */
const rowsPerFetch = 100;
/** Tables of many rows, none of which is large. */
const rowsPerFetchOf = new Map([
  ['visitors', 10_000],
  ['visitor_keys', 10_000],
  ['code_passwords', 10_000],
  ['scan_counts', 10_000],
  ['log_blocks', 10_000],
  ['deliveries', 1_000],
]);

/** All rows of a table, in the order in which they are stored: any other would read its pages in random order. */
export async function* tableRows(tx: Transaction, table: string): AsyncGenerator<BackupRows> {
  const count = rowsPerFetchOf.get(table) ?? rowsPerFetch;
  await tx`DECLARE backup NO SCROLL CURSOR FOR SELECT t::text AS row FROM ${tx(table)} t`;
  const fetch = async () => [...(await tx<{ row: string }[]>`FETCH ${tx.unsafe(String(count))} FROM backup`)];
  for await (const rows of readAhead(fetch)) yield rowLines(rows.map(({ row }) => row));
  await tx`CLOSE backup`;
}

/** The results of `read`, up to the first without entries. Starts the next read before the last result is used. */
async function* readAhead<T extends { length: number }>(read: () => Promise<T>): AsyncGenerator<T> {
  for (let next = read(); ; ) {
    const result = await next;
    if (result.length === 0) return;
    next = read();
    // Its error is thrown when it is awaited.
    next.catch(() => {});
    yield result;
  }
}

const eventsPerQuery = 200;
const positionsPerQuery = 10_000;

/** The events up to position `to`, in log order. */
export async function* eventRows(sql: Sql, to: number): AsyncGenerator<BackupRows> {
  for (let after = 0; ; ) {
    const rows = await sql<{ row: string; position: number }[]>`
      SELECT e::text AS row, position FROM events e
      WHERE position > ${after} AND position <= ${to} ORDER BY position LIMIT ${eventsPerQuery}`;
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rowLines(rows.map(({ row }) => row));
    after = last.position;
  }
}

/** The scans in Postgres up to position `to`, in log order. */
export async function* scanRows(sql: Sql, to: number): AsyncGenerator<BackupRows> {
  let from = (await firstScan(sql)) - 1;
  const next = async () => {
    const after = from;
    from = Math.min(from + positionsPerQuery, to);
    return after < to ? [await scansBetween(sql, after, from)] : [];
  };
  for await (const [rows] of readAhead(next)) if (rows !== undefined && rows.count > 0) yield rows;
}

/** The first position that a scan in Postgres can have: those before are in archive files, or were removed. */
async function firstScan(sql: Sql): Promise<number> {
  const [row] = await sql<{ position: number }[]>`SELECT position FROM scans ORDER BY position LIMIT 1`;
  return row?.position ?? Number.POSITIVE_INFINITY;
}

/** Postgres joins the lines: the driver's work per row would cost more than everything else that we do with it. */
async function scansBetween(sql: Sql, after: number, to: number): Promise<BackupRows> {
  const [row] = await sql<[BackupRows]>`
    SELECT count(*) AS count,
      coalesce(string_agg(replace(replace(s::text, '\\', '\\\\'), E'\\n', '\\n') || E'\\n', ''), '') AS text
    FROM (SELECT s FROM scans s WHERE s.position > ${after} AND s.position <= ${to} ORDER BY s.position) AS wanted`;
  return row;
}
