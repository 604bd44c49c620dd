import type { ScanCount, ScanCounts } from '../../events/scan-count.ts';
import { ledger } from '../../projections/warehouse-ledger.ts';
import type { Warehouse } from '../analytics/connect.ts';
import { countRowsByCode, wrongAggregates } from '../analytics/row-counts.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { listArchives } from '../log/archives.ts';
import { withFixedHistory } from '../log/history.ts';
import { headOfLog } from '../log/read.ts';
import { isOfAccount, readByCode } from './by-code.ts';
import { latestRun } from './retention.ts';
import {
  addCounts,
  countScansInLog,
  type Difference,
  differences,
  type LogCounts,
  subtractCounts,
} from './scan-counts.ts';
import { differingArchivedScans, gapsInCatalogue, readArchivedScanCounts, verifyFiles } from './verify-archive.ts';
import { type DeliveriesVerified, verifyDeliveries } from './verify-deliveries.ts';
import { erasedAccounts, remainingScans, remainingVisitors } from './verify-erasures.ts';
import { readLimits, verifyLimits } from './verify-limits.ts';
import { awaitProjections, positionOfCounters } from './verify-positions.ts';

export interface Verification {
  /** The position up to which everything was compared. */
  position: number;
  codes: number;
  scans: number;
  /** How many of them are in archive files. */
  archived: number;
  /** Scans that the retention has removed, and that are still part of the totals. */
  dropped: number;
  /** Scans for which a webhook was on, and how many of their deliveries are not yet sent. */
  deliveries: Pick<DeliveriesVerified, 'scans' | 'waiting'>;
  differences: Difference[];
}

const nothingCounted = { codes: 0, scans: 0, archived: 0, dropped: 0, deliveries: { scans: 0, waiting: 0 } };

interface VerifyOptions {
  sql: Sql;
  warehouse: Warehouse;
  /** Only the codes of one account. */
  account?: string | undefined;
  /** Awaited. */
  onProgress?: (done: number, total: number) => unknown;
  /** How long projections may take to reach the current end of the log. */
  catchUpTimeoutMs?: number;
  /** The time by which the age of deliveries is computed. */
  now?: Date;
}

/**
 * Counts the scans of every code in the log, and compares the counts with the projections. Scans may arrive meanwhile: each
 * projection is compared up to its own position. The history of the log is fixed meanwhile, so scans are counted in short
 * statements without a common snapshot; only what changes with the projections is read in one.
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const { sql, warehouse, catchUpTimeoutMs = timeouts.verifyCatchUpMs } = options;
  const head = await headOfLog(sql);
  const late = await awaitProjections(sql, warehouse, head, catchUpTimeoutMs);
  if (late.length > 0) return { ...nothingCounted, position: head, differences: late };
  return withFixedHistory(sql, () => compareAll(options));
}

async function compareAll(options: VerifyOptions): Promise<Verification> {
  const { sql, warehouse, account, onProgress = () => {}, now = new Date() } = options;
  const files = await listArchives(sql);
  const retention = await latestRun(sql);
  const state = await readState(sql, account);
  const { counted, table } = state;
  // The log is read once, in two parts: up to the lower of both positions, and from there to the higher one.
  const [lower, upper] = [counted.position, table.position].sort((a, b) => a - b) as [number, number];
  const archived = await verifyFiles(files, {
    account,
    leaving: retention,
    limits: state.limits,
    onProgress: (done) => onProgress(done, upper),
  });
  if (archived.differences.length > 0) return { ...nothingCounted, position: lower, differences: archived.differences };
  const archivedTo = files.at(-1)?.to ?? 0;
  const count = (after: number, to: number) =>
    countScansInLog(sql, { account, leaving: retention, after, to, onProgress: (done) => onProgress(done, upper) });
  const log = await count(archivedTo, lower);
  addCounts(log.all, archived.counts.all);
  addCounts(log.leaving, archived.counts.leaving);
  const ahead = await count(lower, upper);
  await onProgress(upper, upper);
  const logUpTo = (position: number, kind: keyof LogCounts) =>
    position === lower ? log[kind] : addCounts(new Map(log[kind]), ahead[kind]);

  // While the retention removes scans, any of them may still be in the log or the warehouse.
  const staying = subtractCounts(logUpTo(table.position, 'all'), logUpTo(table.position, 'leaving'));
  const inWarehouse = await countRowsByCode(warehouse, {
    version: table.version,
    account,
    position: table.position,
    without: table.dropped_run === retention?.run ? undefined : retention,
  });
  const { differences: ofDeliveries, ...deliveries } = await verifyDeliveries(sql, { account, now });
  // Read last, so that it has every code that the counts above may already lack.
  const ends = await endsOfCodes(sql);
  /** Codes that were deleted up to `goneBy` must be gone. Those that were deleted later may be gone or not. */
  const compare = (what: string, logged: ScanCounts, goneBy: number, found: ScanCounts) => {
    const isNotDeleted = ([code]: [string, ScanCount]) => !ends.has(code);
    const expected = new Map([...logged].filter(isNotDeleted));
    const visible = [...found].filter(
      ([code, count]) => isNotDeleted([code, count]) || (ends.get(code) ?? 0) <= goneBy,
    );
    return differences(what, expected, new Map(visible));
  };
  const loggedForCounters = addCounts(new Map(logUpTo(counted.position, 'all')), state.dropped);
  return {
    position: lower,
    codes: log.all.size,
    scans: sumOf(log.all),
    archived: sumOf(archived.counts.all),
    dropped: sumOf(state.dropped),
    deliveries,
    differences: [
      ...compare('counters', loggedForCounters, counted.position, counted.counts),
      ...compare('warehouse', staying, table.removed_to, inWarehouse),
      ...(await differingAggregates(warehouse, table.version, account)),
      ...(await verifyLimits(sql, state, archived.counts.uncertain)),
      ...ofDeliveries,
      ...(await remainingVisitors(sql, account)),
      ...(await remainingScans(sql, state.erased, log.all)),
      ...(await gapsInCatalogue(sql)),
      ...differingArchivedScans(state.archivedScans, archived.counts, (code) => ends.has(code)),
      ...storedTwice((await count(0, archivedTo)).all),
      ...(retention?.done_to === retention?.up_to ? notDropped(log.leaving) : []),
    ],
  };
}

const sumOf = (counts: ScanCounts) => [...counts.values()].reduce((sum, { total }) => sum + total, 0);

/** What changes while the log grows, of one moment: its size follows the number of codes, not the number of scans. */
const readState = (sql: Sql, account: string | undefined) =>
  sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    const table = await ledger.inUse(tx);
    if (table === undefined)
      throw new Error('the warehouse is being rebuilt: no table is in use. Run verify again later');
    return {
      table,
      head: await headOfLog(tx),
      counted: { position: await positionOfCounters(tx), counts: await readCounts(tx, 'scan_counts', account) },
      // Those that the retention has removed from the log.
      dropped: await readCounts(tx, 'dropped_scans', account),
      archivedScans: await readArchivedScanCounts(tx, account),
      limits: await readLimits(tx, account),
      erased: await erasedAccounts(tx),
    };
  });

/** Scans that are in Postgres as well as in an archive file. */
const storedTwice = (counts: ScanCounts): Difference[] =>
  [...counts].map(([code, { total }]) => ({ what: 'archive', code, log: `${total} scans`, found: 'archived, too' }));

/** Scans that the retention should have removed from the log. */
const notDropped = (leaving: ScanCounts): Difference[] =>
  [...leaving].map(([code, { total }]) => ({ what: 'retention', code, log: `${total} scans`, found: 'dropped' }));

/** The totals by code of a table of them. */
async function readCounts(
  sql: Queryable,
  table: 'scan_counts' | 'dropped_scans',
  account: string | undefined,
): Promise<ScanCounts> {
  const rows = await readByCode(
    (after, limit) => sql<({ code: string; wanted: boolean } & ScanCount)[]>`
      SELECT t.code, t.total_scans AS total, t.unique_scans AS "unique", ${isOfAccount(sql, account)} AS wanted
      FROM ${sql(table)} t WHERE t.code > ${after} ORDER BY t.code LIMIT ${limit}`,
  );
  return new Map(rows.filter(({ wanted }) => wanted).map(({ code, total, unique }) => [code, { total, unique }]));
}

const maxEndsPerQuery = 10_000;

/** The positions at which codes were deleted. */
async function endsOfCodes(sql: Queryable): Promise<Map<string, number>> {
  const ends = new Map<string, number>();
  for (let after = 0; ; ) {
    const rows = await sql<{ stream: string; position: number }[]>`
      SELECT stream, position FROM events
      WHERE type = 'code_deleted' AND position > ${after} ORDER BY position LIMIT ${maxEndsPerQuery}`;
    for (const { stream, position } of rows) ends.set(stream, position);
    const last = rows.at(-1);
    if (last === undefined || rows.length < maxEndsPerQuery) return ends;
    after = last.position;
  }
}

async function differingAggregates(
  warehouse: Warehouse,
  version: number,
  account: string | undefined,
): Promise<Difference[]> {
  const wrong = await wrongAggregates(warehouse, { version, account });
  return wrong.map(({ aggregate, subject, rows, aggregated }) => ({
    what: `warehouse, ${aggregate}`,
    code: subject,
    log: `${rows} rows`,
    found: `${aggregated} in the aggregate`,
  }));
}
