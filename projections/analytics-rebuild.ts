import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../src/lib/sql.ts';
import { ledger } from './warehouse-ledger.ts';
import { insertText, type ReadScans, type ScanTables } from './warehouse-tables.ts';

/** Log positions that go into one insert. With 100,000 it took as long, and ClickHouse 600 instead of 480 MB. */
const positionsPerInsert = 25_000;
/** With this many positions left, the table in use is locked while the rest is inserted. */
const maxPositionsLocked = 10_000;

export type Progress = (done: number, total: number) => void;

interface RebuildOptions {
  sql: Sql;
  tables: ScanTables;
  readScans: ReadScans;
  headOfLog(): Promise<number>;
  /** How long a failing insert or a wrong row count is retried before the rebuild fails. */
  retryTimeoutMs: number;
  onProgress?: Progress | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Fills a new table from the log, verifies its row count, replaces the table in use with it, and drops the unused tables.
 * Reads use the old table until then. The caller ensures that only one rebuild runs at a time.
 */
export async function rebuildAnalytics(options: RebuildOptions): Promise<{ scans: number }> {
  const { sql, tables, headOfLog, retryTimeoutMs, signal } = options;
  await dropUnused(sql, tables);

  let head = await headOfLog();
  const endedBy = head;
  const version = await ledger.add(sql, tables.definition, endedBy);
  // In a database restored from a backup the version sequence is older, so a table with this version may already exist.
  await tables.drop(version);
  await tables.create(version);

  const table: NewTable = { version, endedBy, position: 0, rows: 0 };
  while (head - table.position > maxPositionsLocked) {
    await fill(table, head, options);
    head = await headOfLog();
  }
  const verify = () => retry(() => verifyRows(tables, table), retryTimeoutMs, signal);
  // Also before the exchange, which locks the table in use.
  await verify();
  await ledger.exchange(sql, version, async (to) => {
    await fill(table, Math.max(to, head), options);
    await verify();
    return { position: table.position, rows: table.rows };
  });
  await dropUnused(sql, tables);
  return { scans: table.rows };
}

/** The table that is being filled, and how far it is. */
interface NewTable {
  readonly version: number;
  readonly endedBy: number;
  position: number;
  rows: number;
}

/** Inserts the log up to `to`. Reads the next piece from Postgres while ClickHouse inserts the current one. */
async function fill(table: NewTable, to: number, options: RebuildOptions): Promise<void> {
  const { tables, readScans, retryTimeoutMs, onProgress = () => {}, signal } = options;
  const { version, endedBy } = table;
  const read = (after: number) => {
    const upTo = Math.min(after + positionsPerInsert, to);
    const reading = readScans({ after, to: upTo, endedBy });
    // Awaited in the next iteration; until then a rejection must not count as unhandled.
    reading.catch(() => {});
    return { upTo, reading };
  };
  let next = table.position < to ? read(table.position) : undefined;
  while (next !== undefined) {
    const { upTo, reading } = next;
    const piece = await reading;
    signal?.throwIfAborted();
    next = upTo < to ? read(upTo) : undefined;
    const { position } = table;
    // The deduplication token makes a repeated insert safe; a new rebuild would read the whole log again.
    if (piece.count > 0)
      await retry(() => insertText(tables, { version, position }, upTo, piece), retryTimeoutMs, signal);
    table.position = upTo;
    table.rows += piece.count;
    onProgress(upTo, to);
  }
}

async function verifyRows(tables: ScanTables, { version, rows }: NewTable): Promise<void> {
  const count = await tables.count(version);
  if (count === rows) return;
  await tables.sync(version);
  throw new Error(`the new table scans_v${version} has ${count ?? 'no'} rows, but ${rows} were inserted`);
}

const initialBackoffMs = 100;
const maxBackoffMs = 5_000;

/** Retries with exponential backoff until `work` succeeds or `retryTimeoutMs` have passed. */
async function retry(
  work: () => Promise<void>,
  retryTimeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadline = performance.now() + retryTimeoutMs;
  for (let backoffMs = initialBackoffMs; ; backoffMs = Math.min(backoffMs * 2, maxBackoffMs)) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() + backoffMs > deadline) throw error;
      await sleep(backoffMs, undefined, signal === undefined ? {} : { signal });
    }
  }
}

async function dropUnused(sql: Sql, tables: ScanTables): Promise<void> {
  for (const version of await ledger.notInUse(sql)) {
    await tables.drop(version);
    await ledger.forget(sql, version);
  }
}
