import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import type { Timers } from '../lib/timers.ts';
import { type ArchiveFile, archivesIn } from '../log/archives.ts';
import { LogInUse, prepareDrop, retryDrop } from '../log/drop-partitions.ts';
import { ensureFloorAt } from '../log/floor.ts';
import { tryLock } from '../log/history.ts';
import { locks } from '../log/locks.ts';
import { type Partition, partitionAt } from '../log/partitions.ts';
import { headOfLog } from '../log/read.ts';
import { appendServiceEvent } from '../log/service-event.ts';
import { archivedTo } from './archive-plan.ts';
import { hasLeftovers } from './delete-files.ts';
import { addLeaving, countLeaving, dropArchived, dropScans } from './removed-scans.ts';
import { deleteAllLeftovers, type RewriteHooks, type RewriteOutcome, rewriteFile } from './rewrite-file.ts';

/**
 * A retention run removes the scans from before a cutoff from the log and the warehouse. It consists of steps, each in its
 * own transaction; any process may run the next step.
 *
 * 1. Start: record the cutoff, and the position at which the log ends.
 * 2. Wait until the projections have applied the log up to that position, so that none needs these scans any more.
 * 3. Remove the scans from the log, in the order of positions. A partition that has only scans from before the cutoff is
 *    dropped; from other partitions they are deleted in batches. An archive file is replaced by one without them, or by none.
 *    `dropped_scans` counts them in the same transaction. Replaced files are deleted.
 * 4. Wait until they are removed from the warehouse (projections/analytics-removal.ts).
 * 5. Append the event scans_dropped, if there were any, and end the run.
 */
export type RetentionStep =
  /** `isArchive`: in files of the archive, so that it held up no append. */
  | { state: 'progressed'; isArchive?: boolean }
  /** Another process is running a step. */
  | { state: 'busy' }
  | { state: 'waiting'; for: string }
  | { state: 'ended'; before: Date; scans: number }
  | { state: 'idle' };

/** A run in progress, or the last one. */
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

/** Limits of one step: positions in which it deletes scans, and positions that it searches for the first of them. */
const maxBatchPositions = 20_000;
const maxSearchPositions = 500_000;

export interface RetentionHooks extends RewriteHooks {
  timers?: Timers;
}

/** The start of the month (UTC) that was `months` months ago. Scans from before this time are removed. */
export const cutoffOf = (months: number, now: Date): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1));

/** The run in progress, or the last one. */
export async function latestRun(sql: Queryable): Promise<RetentionRun | undefined> {
  const [run] = await sql<RetentionRun[]>`
    SELECT run, before, up_to, done_to, scans, cut_short, started_at, done_at FROM scan_retention`;
  return run;
}

/**
 * Runs the next step. When the cutoff is undefined, or earlier than the cutoff of the run in progress, the run ends with the
 * scans that it has already removed from the log.
 */
export async function dropNext(
  sql: Sql,
  cutoff: Date | undefined,
  now: Date,
  { timers, ...hooks }: RetentionHooks = {},
): Promise<RetentionStep> {
  let step = await nextInLog(sql, cutoff, now, { timers });
  if (step.state === 'leftovers') {
    const deleted = await deleteAllLeftovers(sql);
    if (deleted.state !== 'archiving') return inArchive(deleted);
    // The archive run deletes them.
    step = await nextInLog(sql, cutoff, now, { timers, withLeftovers: true });
  }
  if (step.state === 'file') return inArchive(await dropFromFile(sql, step, now, hooks));
  return step.state === 'leftovers' ? { state: 'busy' } : step;
}

const inArchive = (outcome: RewriteOutcome): RetentionStep =>
  outcome.state === 'progressed' ? { state: 'progressed', isArchive: true } : outcome;

/** What is not done in one transaction. */
type ArchiveStep = { state: 'file'; file: ArchiveFile; run: RetentionRun } | { state: 'leftovers' };

const nextInLog = (
  sql: Sql,
  cutoff: Date | undefined,
  now: Date,
  { timers, withLeftovers = false }: { timers: Timers | undefined; withLeftovers?: boolean },
): Promise<RetentionStep | ArchiveStep> =>
  sql
    .begin(async (tx): Promise<RetentionStep | ArchiveStep> => {
      if (!(await tryLock(tx, locks.retention))) return { state: 'busy' };
      const run = await latestRun(tx);
      if (run === undefined || run.done_at !== null) return start(tx, run, cutoff, now);
      if (run.done_to < run.up_to && (cutoff === undefined || cutoff < run.before)) return cutShort(tx);
      const pending = await pendingProjection(tx, run);
      if (pending !== undefined) return { state: 'waiting', for: pending };
      if (run.done_to < run.up_to) return drop(tx, run, timers);
      return !withLeftovers && (await hasLeftovers(tx)) ? { state: 'leftovers' } : end(tx, run, now);
    })
    .catch((error) => {
      if (error instanceof LogInUse) return { state: 'waiting', for: error.waitsFor };
      throw error;
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

async function pendingProjection(tx: Transaction, { up_to }: RetentionRun): Promise<string | undefined> {
  const [reached] = await tx<[Record<'counters' | 'webhooks' | 'warehouse', number>]>`
    SELECT
      coalesce((SELECT position FROM checkpoints WHERE projection = 'counters'), -1) AS counters,
      coalesce((SELECT position FROM checkpoints WHERE projection = 'webhooks'), -1) AS webhooks,
      coalesce((SELECT position FROM warehouse_tables WHERE in_use), -1) AS warehouse`;
  const pending = (['counters', 'webhooks', 'warehouse'] as const).find((name) => reached[name] < up_to);
  return pending === undefined ? undefined : `the ${pending} to reach position ${up_to} of the log`;
}

async function drop(
  tx: Transaction,
  run: RetentionRun,
  timers: Timers | undefined,
): Promise<RetentionStep | ArchiveStep> {
  // The archive has the first positions of the log, and gets more only under the lock that this transaction holds.
  const archived = Math.min(await archivedTo(tx), run.up_to);
  if (archived > run.done_to) {
    const files = await archivesIn(tx, { after: run.done_to, to: archived });
    const file = files.find(({ earliest }) => earliest !== null && new Date(earliest) < run.before);
    if (file !== undefined) return { state: 'file', file, run };
    await progress(tx, archived, 0);
    return { state: 'progressed' };
  }
  const partition = await partitionAt(tx, run.done_to + 1);
  if (partition === undefined || partition.from > run.up_to) await progress(tx, run.up_to, 0);
  else {
    const isStarted = run.done_to > 0 && run.done_to >= partition.from;
    const mayBeDropped = !isStarted && partition.to - 1 <= run.up_to;
    if (mayBeDropped) await prepareDrop(tx);
    if (mayBeDropped && !(await hasKept(tx, run, partition))) await dropPartition(tx, partition, timers);
    else await deleteBatch(tx, run, Math.min(partition.to - 1, run.up_to));
  }
  return { state: 'progressed' };
}

const dropFromFile = (
  sql: Sql,
  { file, run }: Extract<ArchiveStep, { state: 'file' }>,
  now: Date,
  hooks: RewriteHooks,
): Promise<RewriteOutcome> =>
  rewriteFile({
    ...hooks,
    sql,
    file,
    now,
    keeps: ({ position, occurred_at }) => position > run.up_to || occurred_at >= run.before,
    async onReplace(tx, removed) {
      const { count } = await tx`
        SELECT FROM scan_retention
        WHERE run = ${run.run} AND up_to = ${run.up_to} AND done_to = ${run.done_to} AND done_at IS NULL`;
      if (count === 0) return false;
      await progress(tx, Math.min(file.to, run.up_to), await dropArchived(tx, removed));
      return true;
    },
  });

/** Whether a partition has scans that are kept. */
async function hasKept(tx: Transaction, { before }: RetentionRun, { name }: Partition): Promise<boolean> {
  await tx`SET LOCAL statement_timeout = 0`;
  const [kept] = await tx`SELECT 1 FROM ${tx(name)} WHERE occurred_at >= ${before} LIMIT 1`;
  return kept !== undefined;
}

async function dropPartition(tx: Transaction, { name, to }: Partition, timers: Timers | undefined): Promise<void> {
  const removed = await countLeaving(tx, tx`SELECT position, code, is_unique, is_bot, rule FROM ${tx(name)}`);
  await retryDrop(
    tx,
    async (attempt) => {
      await addLeaving(attempt, 'dropped_scans');
      await attempt`DROP TABLE ${attempt(name)}`;
      await progress(attempt, to - 1, removed.scans);
      await ensureFloorAt(attempt, removed.newest);
    },
    timers,
  );
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
  // With this setting, the triggers on the log allow the deletion of the run's scans, and of nothing else.
  await tx`SELECT set_config('scanlog.dropping', 'true', true)`;
  const removed = await dropScans(
    tx,
    tx`
      DELETE FROM scans WHERE position >= ${first.position} AND position <= ${to} AND occurred_at < ${before}
      RETURNING position, code, is_unique, is_bot, rule`,
  );
  await progress(tx, to, removed.scans);
  await ensureFloorAt(tx, removed.newest);
}

async function progress(tx: Transaction, to: number, scans: number): Promise<void> {
  await tx`UPDATE scan_retention SET done_to = ${to}, scans = scans + ${scans}`;
}

async function end(tx: Transaction, { run, before, up_to, scans }: RetentionRun, now: Date): Promise<RetentionStep> {
  const [table] = await tx<{ dropped_run: number }[]>`SELECT dropped_run FROM warehouse_tables WHERE in_use`;
  if (table === undefined || table.dropped_run < run)
    return { state: 'waiting', for: 'the scans to leave the warehouse' };
  await tx`UPDATE scan_retention SET done_at = ${now}`;
  if (scans > 0) {
    const data = { before: before.toISOString(), up_to_position: up_to, scans };
    await appendServiceEvent(tx, { type: 'scans_dropped', data }, now);
  }
  return { state: 'ended', before, scans };
}
