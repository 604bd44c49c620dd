import type { ScanCount, ScanCounts } from '../../events/scan-count.ts';
import { ledger } from '../../projections/warehouse-ledger.ts';
import type { Warehouse } from '../analytics/connect.ts';
import { countRowsByCode, wrongAggregates } from '../analytics/row-counts.ts';
import { timeouts } from '../lib/timeouts.ts';
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
import { type DeliveriesVerified, verifyDeliveries } from './verify-deliveries.ts';
import { erasedAccounts, remainingScans, remainingVisitors } from './verify-erasures.ts';
import { readLimits, verifyLimits } from './verify-limits.ts';
import { awaitProjections, positionOfCounters } from './verify-positions.ts';

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

const nothingCounted = { codes: 0, scans: 0, archived: 0, dropped: 0, deliveries: { scans: 0, waiting: 0 } };

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
  const {
    sql,
    warehouse,
    account,
    onProgress = () => {},
    catchUpTimeoutMs = timeouts.verifyCatchUpMs,
    now = new Date(),
  } = options;
  const head = await headOfLog(sql);
  const late = await awaitProjections(sql, warehouse, head, catchUpTimeoutMs);
  if (late.length > 0) return { ...nothingCounted, position: head, differences: late };

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
  if (archived.differences.length > 0) return { ...nothingCounted, position: lower, differences: archived.differences };
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
  const counted = { position: await positionOfCounters(tx), counts: await readCounts(tx, 'scan_counts', account) };
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
    // Those that the retention has removed from the log.
    dropped: await readCounts(tx, 'dropped_scans', account),
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

/** The totals by code of a table of them. */
async function readCounts(
  sql: Queryable,
  table: 'scan_counts' | 'dropped_scans',
  account: string | undefined,
): Promise<ScanCounts> {
  const rows = await sql<({ code: string } & ScanCount)[]>`
    SELECT t.code, t.total_scans AS total, t.unique_scans AS "unique" FROM ${sql(table)} t
    ${account === undefined ? sql`` : sql`JOIN codes c ON c.id = t.code AND c.account = ${account}`}`;
  return new Map(rows.map(({ code, ...count }) => [code, count]));
}

async function endsOfCodes(sql: Queryable): Promise<Map<string, number>> {
  const rows = await sql<{ stream: string; position: number }[]>`
    SELECT stream, position FROM events WHERE type = 'code_deleted'`;
  return new Map(rows.map(({ stream, position }) => [stream, position]));
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
    return wrong.map(({ aggregate, subject, rows, aggregated }) => ({
      what: `warehouse, ${aggregate}`,
      code: subject,
      log: `${rows} rows`,
      found: `${aggregated} in the aggregate`,
    }));
  }
}
