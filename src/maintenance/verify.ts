import { setTimeout as sleep } from 'node:timers/promises';
import type { ScanCount, ScanCounts } from '../../events/scan-count.ts';
import { mismatchOf } from '../../projections/analytics-doubt.ts';
import { counters } from '../../projections/counters.ts';
import { ledger } from '../../projections/warehouse-ledger.ts';
import type { Warehouse } from '../analytics/connect.ts';
import { countRowsByCode, wrongAggregates } from '../analytics/row-counts.ts';
import { countRows } from '../analytics/tables.ts';
import { listArchives, namesOf } from '../log/archives.ts';
import type { Queryable, Sql, Transaction } from '../log/connect.ts';
import { holdPartitions } from '../log/partitions.ts';
import { headOfLog } from '../log/read.ts';
import { latestRun } from './retention.ts';
import {
  addCounts,
  countScansInLog,
  type Difference,
  differences,
  type LogCounts,
  subtractCounts,
} from './scan-counts.ts';
import { type ArchiveVerified, differingArchivedScans, gapsInCatalogue, verifyFiles } from './verify-archive.ts';
import { type DeliveriesVerified, positionOfDeliveries, verifyDeliveries } from './verify-deliveries.ts';
import { readLimits, verifyLimits } from './verify-limits.ts';

export interface Verification {
  /** The position up to which everything was compared. */
  position: number;
  codes: number;
  scans: number;
  /** Those of them that are in archive files. */
  archived: number;
  /** Scans that the retention has removed, and that are still part of the totals. */
  dropped: number;
  /** Scans for which a webhook was on, and how many of their deliveries are not yet sent. */
  deliveries: Pick<DeliveriesVerified, 'scans' | 'waiting'>;
  differences: Difference[];
}

/** A scan of a deleted code that arrives during the verification has visitors until the counters have applied it. */
const visitorsTimeoutMs = 5_000;

interface VerifyOptions {
  sql: Sql;
  warehouse: Warehouse;
  /** Only the codes of one account. */
  account?: string | undefined;
  onProgress?: (done: number, total: number) => void;
  /** How long projections may take to reach the current end of the log. */
  catchUpTimeoutMs?: number;
  /** The time by which the age of deliveries is computed. */
  now?: Date;
}

/**
 * Counts the scans of every code in the log, and compares the counts with the projections. Scans may arrive meanwhile: each
 * projection is compared up to its own position.
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const { sql, warehouse, account, onProgress = () => {}, catchUpTimeoutMs = 30_000, now = new Date() } = options;
  const head = await headOfLog(sql);
  const late = await awaitProjections(sql, warehouse, head, catchUpTimeoutMs);
  const none = { scans: 0, waiting: 0 };
  if (late.length > 0)
    return { position: head, codes: 0, scans: 0, archived: 0, dropped: 0, deliveries: none, differences: late };

  const files = await listArchives(sql);
  const leaving = await latestRun(sql);
  const archived = await verifyFiles(files, {
    ...{ account, leaving, limits: await readLimits(sql, account) },
    onProgress: (done) => onProgress(done, head),
  });
  const state = await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', (tx) =>
    readPostgres(tx, account, archived, onProgress),
  );
  const { counted, table, ends, erased, retention, dropped, limits, lower, log, ahead } = state;
  // A run that moved scans, replaced files, or removes others, since the files were read makes the result invalid.
  const isSameRun = retention?.run === leaving?.run && retention?.up_to === leaving?.up_to;
  if (namesOf(state.files) !== namesOf(files) || !isSameRun) return verify(options);
  if (archived.differences.length > 0)
    return {
      position: lower,
      codes: 0,
      scans: 0,
      archived: 0,
      dropped: 0,
      deliveries: none,
      differences: archived.differences,
    };
  const logUpTo = (position: number, kind: keyof LogCounts) =>
    position === lower ? log[kind] : addCounts(new Map(log[kind]), ahead[kind]);

  /** Codes that were deleted up to `goneBy` must be gone. Those that were deleted later may be gone or not. */
  const compare = (what: string, logged: ScanCounts, goneBy: number, found: ScanCounts) => {
    const isNotDeleted = ([code]: [string, ScanCount]) => !ends.has(code);
    const expected = new Map([...logged].filter(isNotDeleted));
    const visible = [...found].filter(
      ([code, count]) => isNotDeleted([code, count]) || (ends.get(code) ?? 0) <= goneBy,
    );
    return differences(what, expected, new Map(visible));
  };
  // While the retention removes scans, any of them may still be in the log or the warehouse.
  const staying = subtractCounts(logUpTo(table.position, 'all'), logUpTo(table.position, 'leaving'));
  const inWarehouse = await countRowsByCode(warehouse, {
    version: table.version,
    account,
    position: table.position,
    without: table.dropped_run === retention?.run ? undefined : retention,
  });
  const { differences: ofDeliveries, ...deliveries } = await verifyDeliveries(sql, { account, now });
  const result = {
    position: lower,
    codes: log.all.size,
    scans: sumOf(log.all),
    archived: sumOf(archived.counts.all),
    dropped: sumOf(dropped),
    deliveries,
    differences: [
      ...compare(
        'counters',
        addCounts(new Map(logUpTo(counted.position, 'all')), dropped),
        counted.position,
        counted.counts,
      ),
      ...compare('warehouse', staying, table.removed_to, inWarehouse),
      ...(await differingAggregates(warehouse, table.version, account)),
      ...limits,
      ...ofDeliveries,
      ...(await remainingVisitors(sql, account)),
      ...(await remainingScans(sql, erased, log.all)),
      ...state.archive,
      ...(retention?.done_to === retention?.up_to ? notDropped(log.leaving) : []),
    ],
  };
  // A retention run that started meanwhile may have removed scans, which makes the result invalid.
  return (await latestRun(sql))?.run === retention?.run ? result : verify(options);
}

const sumOf = (counts: ScanCounts) => [...counts.values()].reduce((sum, { total }) => sum + total, 0);

/** Reads everything that is compared from one snapshot of Postgres. */
async function readPostgres(
  tx: Transaction,
  account: string | undefined,
  archived: ArchiveVerified,
  onProgress: (done: number, total: number) => void,
) {
  await holdPartitions(tx);
  const files = await listArchives(tx);
  const archivedTo = files.at(-1)?.to ?? 0;
  const counted = { position: await positionOfCounters(tx), counts: await countsOfCounters(tx, account) };
  const table = await ledger.inUse(tx);
  if (table === undefined)
    throw new Error('the warehouse is being rebuilt: no table is in use. Run verify again later');
  const retention = await latestRun(tx);
  // The log is read once, in two parts: up to the lower of both positions, and from there to the higher one.
  const [lower, upper] = [counted.position, table.position].sort((a, b) => a - b) as [number, number];
  const options = { account, leaving: retention };
  const log = await countScansInLog(tx, {
    ...options,
    after: archivedTo,
    to: lower,
    onProgress: (done) => onProgress(done, upper),
  });
  addCounts(log.all, archived.counts.all);
  addCounts(log.leaving, archived.counts.leaving);
  const ahead = await countScansInLog(tx, { ...options, after: lower, to: upper });
  onProgress(upper, upper);
  const ends = await endsOfCodes(tx);
  return {
    ...{ counted, table, retention, lower, log, ahead, ends, files },
    archive: [
      ...(await gapsInCatalogue(tx)),
      ...(await differingArchivedScans(tx, archived.counts, (code) => ends.has(code), account)),
      ...(await storedTwice(tx, archivedTo)),
    ],
    erased: await erasedAccounts(tx),
    dropped: await countDropped(tx, account),
    limits: await verifyLimits(tx, account, archived.counts.uncertain),
  };
}

/** Scans that are in Postgres as well as in an archive file. */
async function storedTwice(sql: Queryable, archivedTo: number): Promise<Difference[]> {
  const rows = await sql<{ code: string; total: number }[]>`
    SELECT code, count(*) AS total FROM scans WHERE position <= ${archivedTo} GROUP BY code`;
  return rows.map(({ code, total }) => ({ what: 'archive', code, log: `${total} scans`, found: 'archived, too' }));
}

/** Scans that the retention should have removed from the log. */
const notDropped = (leaving: ScanCounts): Difference[] =>
  [...leaving].map(([code, { total }]) => ({ what: 'retention', code, log: `${total} scans`, found: 'dropped' }));

/** Waits until the projections have reached `head`; resolves to those that have not after the timeout. */
async function awaitProjections(
  sql: Sql,
  warehouse: Warehouse,
  head: number,
  timeoutMs: number,
): Promise<Difference[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const reached = {
      counters: await positionOfCounters(sql),
      webhooks: await positionOfDeliveries(sql),
      warehouse: await positionOfWarehouse(sql, warehouse),
    };
    const late = Object.entries(reached).filter(([, position]) => position === undefined || position < head);
    if (late.length === 0) return [];
    if (performance.now() > deadline)
      return late.map(([what, position]) => ({
        what,
        code: 'all',
        log: `ends at position ${head}`,
        found: position === undefined ? 'incomplete, or being rebuilt' : `is at position ${position}`,
      }));
    await sleep(50);
  }
}

/** Undefined while the row count of the table is wrong: the projection will detect that and rebuild it. */
async function positionOfWarehouse(sql: Sql, warehouse: Warehouse): Promise<number | undefined> {
  const table = await ledger.inUse(sql);
  if (table === undefined) return undefined;
  const mismatch = mismatchOf(table, await countRows(warehouse, table.version));
  // The rows of an insert in progress may already be there.
  return mismatch === undefined || table.inserting_to !== null ? table.position : undefined;
}

async function positionOfCounters(sql: Queryable): Promise<number> {
  const [row] = await sql<{ position: number }[]>`SELECT position FROM checkpoints WHERE projection = ${counters.name}`;
  return row?.position ?? 0;
}

async function countsOfCounters(sql: Queryable, account: string | undefined): Promise<ScanCounts> {
  const rows = await sql<({ code: string } & ScanCount)[]>`
    SELECT s.code, s.total_scans AS total, s.unique_scans AS "unique" FROM scan_counts s
    ${account === undefined ? sql`` : sql`JOIN codes c ON c.id = s.code AND c.account = ${account}`}`;
  return new Map(rows.map(({ code, ...count }) => [code, count]));
}

/** Scans that the retention has removed from the log. */
async function countDropped(sql: Queryable, account: string | undefined): Promise<ScanCounts> {
  const rows = await sql<({ code: string } & ScanCount)[]>`
    SELECT d.code, d.total_scans AS total, d.unique_scans AS "unique" FROM dropped_scans d
    ${account === undefined ? sql`` : sql`JOIN codes c ON c.id = d.code AND c.account = ${account}`}`;
  return new Map(rows.map(({ code, ...count }) => [code, count]));
}

async function endsOfCodes(sql: Queryable): Promise<Map<string, number>> {
  const rows = await sql<{ stream: string; position: number }[]>`
    SELECT stream, position FROM events WHERE type = 'code_deleted'`;
  return new Map(rows.map(({ stream, position }) => [stream, position]));
}

/** Accounts whose erasure is done. The counters reopen an erasure when they apply a later scan of the account. */
async function erasedAccounts(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ account: string }[]>`SELECT account FROM erasures WHERE done_at IS NOT NULL`;
  return rows.map(({ account }) => account);
}

/** Scans in the log of accounts whose erasure is done. */
async function remainingScans(sql: Sql, erased: string[], log: ScanCounts): Promise<Difference[]> {
  if (erased.length === 0) return [];
  const codes = await sql<{ id: string }[]>`
    SELECT id FROM codes WHERE id = ANY(${[...log.keys()]}) AND account = ANY(${erased})`;
  return codes.map(({ id }) => ({ what: 'erasure', code: id, log: `${log.get(id)?.total} scans`, found: 'erased' }));
}

/** Deleted codes that have visitors whose removal is not scheduled; waits for the counters, which schedule it. */
async function remainingVisitors(sql: Sql, account: string | undefined): Promise<Difference[]> {
  const deadline = performance.now() + visitorsTimeoutMs;
  for (;;) {
    const codes = await sql<{ id: string }[]>`
      SELECT id FROM codes
      WHERE status = 'deleted' ${account === undefined ? sql`` : sql`AND account = ${account}`}
        AND EXISTS (SELECT FROM visitors WHERE code_hash = hashtextextended(id, 0))
        AND NOT EXISTS (SELECT FROM visitor_removals WHERE code = id)`;
    if (codes.length === 0 || performance.now() > deadline)
      return codes.map(({ id }) => ({ what: 'visitors', code: id, log: 'deleted', found: 'has visitors' }));
    await sleep(50);
  }
}

/** Rows and aggregates are read one after the other, and inserts continue: only repeated differences are real. */
async function differingAggregates(
  warehouse: Warehouse,
  version: number,
  account: string | undefined,
): Promise<Difference[]> {
  for (let tries = 1; ; tries++) {
    const wrong = await wrongAggregates(warehouse, { version, account });
    if (wrong.length > 0 && tries < 5) continue;
    return wrong.map(({ aggregate, code, rows, aggregated }) => ({
      what: `warehouse, ${aggregate}`,
      code,
      log: `${rows} rows`,
      found: `${aggregated} in the aggregate`,
    }));
  }
}
