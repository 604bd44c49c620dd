import { service } from '../../events/recorded.ts';
import { type ServiceEvent, serviceStream } from '../../events/service.ts';
import { codeOf } from '../lib/errors.ts';
import { append } from '../log/append.ts';
import type { Queryable, Sql, Transaction } from '../log/connect.ts';
import { floorOfLog, raiseFloor } from '../log/floor.ts';
import { locks } from '../log/locks.ts';
import { isReadForLong, type Partition, partitionAt } from '../log/partitions.ts';
import { headOfLog } from '../log/read.ts';

/**
 * Removes scans of before a cutoff from log and warehouse, in runs of steps that are transactions of their own: any
 * process may take the next one, at any time.
 *
 * 1. A run starts: its cutoff, and where the log ends, are recorded.
 * 2. Waits until the projections have applied everything up to there, so that none needs these scans any more.
 * 3. Scans leave the log, from its beginning to its end. A partition with nothing but such scans is dropped as a whole;
 *    from another one they are deleted in batches. `dropped_scans` counts them in the same transaction.
 * 4. Waits until they have left the warehouse (projections/analytics-removal.ts).
 * 5. The event scans_dropped ends the run.
 */
export type RetentionStep =
  | { state: 'progressed' }
  /** Another process takes a step at this moment. */
  | { state: 'busy' }
  | { state: 'waiting'; for: string }
  | { state: 'ended'; before: Date; scans: number }
  | { state: 'idle' };

/** A run, under way or ended. */
export interface RetentionRun {
  run: number;
  before: Date;
  up_to: number;
  done_to: number;
  scans: number;
  cut_short: boolean;
  started_at: Date;
  done_at: Date | null;
}

/** Rows that one step deletes at most, and positions in which it searches for them. */
const maxBatchPositions = 20_000;
const maxSearchPositions = 500_000;
/** Redirects wait while a partition is being dropped, and this long at most for the readers before it. */
const dropLockTimeout = '200ms';
const lockNotAvailable = '55P03';
/** Readers that hold up a drop for longer than its timeout. */
const longReadMs = 1_000;
const isRead: RetentionStep = { state: 'waiting', for: 'a backup or another long read of the log to end' };

/** The start of the month (UTC) that was `months` months ago: scans of before this time are not kept. */
export const cutoffOf = (months: number, now: Date): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1));

/** The run under way, or the last one. */
export async function latestRun(sql: Queryable): Promise<RetentionRun | undefined> {
  const [run] = await sql<RetentionRun[]>`
    SELECT run, before, up_to, done_to, scans, cut_short, started_at, done_at FROM scan_retention`;
  return run;
}

/**
 * Takes the next step. Without a cutoff nothing is to be removed any more, and with an earlier one less than a run under
 * way would remove: then that run ends with what has left the log already.
 */
export const dropNext = (sql: Sql, cutoff: Date | undefined, now: Date): Promise<RetentionStep> =>
  sql
    .begin(async (tx): Promise<RetentionStep> => {
      const [lock] = await tx<[{ free: boolean }]>`SELECT pg_try_advisory_xact_lock(${locks.retention}) AS free`;
      if (!lock.free) return { state: 'busy' };
      const run = await latestRun(tx);
      if (run === undefined || run.done_at !== null) return start(tx, run, cutoff, now);
      if (run.done_to < run.up_to && (cutoff === undefined || cutoff < run.before)) return cutShort(tx);
      const late = await lagging(tx, run);
      if (late !== undefined) return { state: 'waiting', for: late };
      return run.done_to < run.up_to ? drop(tx, run) : end(tx, run, now);
    })
    .catch((error) => {
      if (codeOf(error) !== lockNotAvailable) throw error;
      return isRead;
    });

async function start(
  tx: Transaction,
  last: RetentionRun | undefined,
  cutoff: Date | undefined,
  now: Date,
): Promise<RetentionStep> {
  const isDue = (before: Date) =>
    last === undefined || before > last.before || (last.cut_short && before >= last.before);
  if (cutoff === undefined || !isDue(cutoff)) return { state: 'idle' };
  await tx`
    INSERT INTO scan_retention (run, before, up_to, done_to, scans, cut_short, started_at)
    VALUES (${(last?.run ?? 0) + 1}, ${cutoff}, ${await headOfLog(tx)}, 0, 0, false, ${now})
    ON CONFLICT (only_row) DO UPDATE SET
      run = excluded.run, before = excluded.before, up_to = excluded.up_to, done_to = 0, scans = 0, cut_short = false,
      started_at = excluded.started_at, done_at = NULL`;
  return { state: 'progressed' };
}

async function cutShort(tx: Transaction): Promise<RetentionStep> {
  await tx`UPDATE scan_retention SET up_to = done_to, cut_short = true`;
  return { state: 'progressed' };
}

async function lagging(tx: Transaction, { up_to }: RetentionRun): Promise<string | undefined> {
  const [reached] = await tx<[Record<'counters' | 'webhooks' | 'warehouse', number>]>`
    SELECT
      coalesce((SELECT position FROM checkpoints WHERE projection = 'counters'), -1) AS counters,
      coalesce((SELECT position FROM checkpoints WHERE projection = 'webhooks'), -1) AS webhooks,
      coalesce((SELECT position FROM warehouse_tables WHERE in_use), -1) AS warehouse`;
  const late = (['counters', 'webhooks', 'warehouse'] as const).find((name) => reached[name] < up_to);
  return late === undefined ? undefined : `the ${late} to reach position ${up_to} of the log`;
}

async function drop(tx: Transaction, run: RetentionRun): Promise<RetentionStep> {
  const partition = await partitionAt(tx, run.done_to + 1);
  if (partition === undefined || partition.from > run.up_to) await progress(tx, run.up_to, 0);
  else {
    const isBegun = run.done_to > 0 && run.done_to >= partition.from;
    const mayBeDropped = !isBegun && partition.to - 1 <= run.up_to;
    // Checked before the whole partition is read, and without a lock that redirects would queue behind.
    if (mayBeDropped && (await isReadForLong(tx, longReadMs))) return isRead;
    if (mayBeDropped && !(await hasKept(tx, run, partition))) await dropPartition(tx, partition);
    else await deleteBatch(tx, run, Math.min(partition.to - 1, run.up_to));
  }
  return { state: 'progressed' };
}

/** Whether a partition has scans that stay. */
async function hasKept(tx: Transaction, { before }: RetentionRun, { name }: Partition): Promise<boolean> {
  await tx`SET LOCAL statement_timeout = 0`;
  const [kept] = await tx`SELECT 1 FROM ${tx(name)} WHERE occurred_at >= ${before} LIMIT 1`;
  return kept !== undefined;
}

async function dropPartition(tx: Transaction, { name, to }: Partition): Promise<void> {
  await tx`SELECT set_config('lock_timeout', ${dropLockTimeout}, true)`;
  // An erasure must not delete what is being counted.
  await tx`LOCK TABLE ${tx(name)} IN SHARE MODE`;
  const gone = await count(tx, tx`SELECT position, code, is_unique FROM ${tx(name)}`);
  await tx`DROP TABLE ${tx(name)}`;
  await coverStream(tx, gone.newest);
  await progress(tx, to - 1, gone.scans);
}

async function deleteBatch(tx: Transaction, { before, done_to }: RetentionRun, end: number): Promise<void> {
  const [next] = await tx<{ position: number }[]>`
    SELECT position FROM scans WHERE position > ${done_to} AND position <= ${end} ORDER BY position LIMIT 1`;
  if (next === undefined) return progress(tx, end, 0);
  const searchedTo = Math.min(next.position + maxSearchPositions, end);
  const [first] = await tx<{ position: number }[]>`
    SELECT position FROM scans
    WHERE position >= ${next.position} AND position <= ${searchedTo} AND occurred_at < ${before}
    ORDER BY position LIMIT 1`;
  if (first === undefined) return progress(tx, searchedTo, 0);
  const to = Math.min(first.position + maxBatchPositions, end);
  // The log's triggers let nothing be deleted but scans of the run.
  await tx`SELECT set_config('scanlog.dropping', 'true', true)`;
  const gone = await count(
    tx,
    tx`
      DELETE FROM scans WHERE position >= ${first.position} AND position <= ${to} AND occurred_at < ${before}
      RETURNING position, code, is_unique`,
  );
  await coverStream(tx, gone.newest);
  await progress(tx, to, gone.scans);
}

/** Adds scans to the totals of what has left the log; deleted codes have none. */
async function count(
  tx: Transaction,
  scans: ReturnType<Transaction>,
): Promise<{ scans: number; newest: number | null }> {
  const [gone] = await tx<[{ scans: number; newest: number | null }]>`
    WITH gone AS (${scans}), by_code AS (
      SELECT code, count(*) AS total, count(*) FILTER (WHERE is_unique) AS "unique", max(position) AS newest
      FROM gone GROUP BY code
    ), counted AS (
      INSERT INTO dropped_scans AS d
      SELECT b.code, b.total, b."unique" FROM by_code b JOIN codes c ON c.id = b.code WHERE c.status <> 'deleted'
      ORDER BY b.code
      ON CONFLICT (code) DO UPDATE SET
        total_scans = d.total_scans + excluded.total_scans, unique_scans = d.unique_scans + excluded.unique_scans
    )
    SELECT coalesce(sum(total), 0)::bigint AS scans, max(newest) AS newest FROM by_code`;
  return gone;
}

/** The stream may still have them, and one of them may have been the end of the log: neither must look like a lost tail. */
async function coverStream(tx: Transaction, newest: number | null): Promise<void> {
  if (newest !== null && newest > (await floorOfLog(tx))) await raiseFloor(tx, newest);
}

async function progress(tx: Transaction, to: number, scans: number): Promise<void> {
  await tx`UPDATE scan_retention SET done_to = ${to}, scans = scans + ${scans}`;
}

async function end(tx: Transaction, { run, before, up_to, scans }: RetentionRun, now: Date): Promise<RetentionStep> {
  const [table] = await tx<{ dropped_run: number }[]>`SELECT dropped_run FROM warehouse_tables WHERE in_use`;
  if (table === undefined || table.dropped_run < run)
    return { state: 'waiting', for: 'the scans to leave the warehouse' };
  if (scans > 0) {
    const [{ version }] = await tx<[{ version: number }]>`
      SELECT coalesce(max(version), 0) + 1 AS version FROM events WHERE stream = ${serviceStream}`;
    const data = { before: before.toISOString(), up_to_position: up_to, scans };
    const event: ServiceEvent = { type: 'scans_dropped', data };
    await append<ServiceEvent>(tx, [{ stream: serviceStream, version, event }], { actor: service, now });
  }
  await tx`UPDATE scan_retention SET done_at = ${now}`;
  return { state: 'ended', before, scans };
}
