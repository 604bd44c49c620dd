import { isFallbackSql } from '../events/targeting/resolver.ts';
import type { Sql, Transaction } from '../src/lib/sql.ts';
import { erasures } from './erasures.ts';
import { visitorRemovals } from './visitor-removals.ts';

/**
 * Recounts the scans of all codes, and sets the checkpoint of the counters to the end of the log.
 *
 * Counting 41 million scans takes minutes, in which the counters go on. Their checkpoint is locked only at the end, to count
 * the scans since then and to replace the counts that differ.
 */
export async function recount(sql: Sql): Promise<void> {
  while (!(await sql.begin(attempt)));
}

/** Returns false if scans left the log before they were counted. */
async function attempt(tx: Transaction): Promise<boolean> {
  await tx`SET LOCAL statement_timeout = 0`;
  await tx`
    CREATE TEMPORARY TABLE recounted (code text COLLATE "C", total bigint, "unique" bigint, uncounted bigint)
    ON COMMIT DROP`;
  const movedBefore = await movedTo(tx);
  const first = await countAll(tx);
  // The scans of the minutes that this took, so that few are left for the time in which the checkpoint is locked.
  const second = await countAfter(tx, first);
  await visitorRemovals.requestAll(tx);
  // Before the lock, because it reads the log if an account was erased.
  await erasures.reopenAll(tx);
  await tx`ANALYZE recounted`;

  await tx`SELECT FROM checkpoints WHERE projection = 'counters' FOR UPDATE`;
  const last = await countAfter(tx, second);
  if ((await movedTo(tx)) > Math.max(first, movedBefore)) return false;
  await replaceCounts(tx);
  await tx`
    INSERT INTO checkpoints VALUES ('counters', ${last})
    ON CONFLICT (projection) DO UPDATE SET position = excluded.position`;
  // The checkpoint may have moved past deletions that were never applied.
  await requestRemovalsAfter(tx, first);
  await tx`DELETE FROM dropped_scans WHERE code IN (SELECT id FROM codes WHERE status = 'deleted')`;
  await tx`DELETE FROM archived_scans WHERE code IN (SELECT id FROM codes WHERE status = 'deleted')`;
  return true;
}

/** The end of the log, which is its floor (src/log/floor.ts) if the last entries have been removed. */
const head = `greatest((SELECT max(position) FROM scans), (SELECT max(position) FROM events),
  (SELECT convert_from(value, 'UTF8')::bigint FROM secrets WHERE name = 'log_floor'))`;
const counted = `code, count(*), count(*) FILTER (WHERE is_unique), count(*) FILTER (WHERE is_bot OR ${isFallbackSql})`;

/** Counts all scans, those that have left the log included. One statement, since scans move between these tables. */
async function countAll(tx: Transaction): Promise<number> {
  const [row] = await tx<[{ head: number }]>`
    WITH counted AS (
      INSERT INTO recounted
      SELECT ${tx.unsafe(counted)} FROM scans GROUP BY code
      UNION ALL
      SELECT code, total_scans, unique_scans, uncounted_scans FROM dropped_scans
      UNION ALL
      SELECT code, total_scans, unique_scans, uncounted_scans FROM archived_scans
    )
    SELECT coalesce(${tx.unsafe(head)}, 0) AS head`;
  return row.head;
}

/** Counts the scans after position `after`. Returns the position up to which it has counted. */
async function countAfter(tx: Transaction, after: number): Promise<number> {
  const [row] = await tx<[{ head: number }]>`
    WITH counted AS (
      INSERT INTO recounted SELECT ${tx.unsafe(counted)} FROM scans WHERE position > ${after} GROUP BY code
    )
    SELECT greatest(${tx.unsafe(head)}, ${after}::bigint) AS head`;
  return row.head;
}

/** The position up to which the retention or the archive has removed scans from the log. */
async function movedTo(tx: Transaction): Promise<number> {
  const [row] = await tx<[{ to: number }]>`
    SELECT coalesce(greatest((SELECT max(to_position) FROM archives), (SELECT max(done_to) FROM scan_retention)), 0) AS "to"`;
  return row.to;
}

async function replaceCounts(tx: Transaction): Promise<void> {
  await tx`
    WITH wanted AS MATERIALIZED (
      SELECT n.code, sum(n.total)::bigint AS total, sum(n."unique")::bigint AS "unique", sum(n.uncounted)::bigint AS uncounted
      FROM recounted n JOIN codes c ON c.id = n.code WHERE c.status <> 'deleted' GROUP BY n.code
    ), removed AS (
      DELETE FROM scan_counts s WHERE NOT EXISTS (SELECT FROM wanted w WHERE w.code = s.code)
    )
    INSERT INTO scan_counts
    SELECT code, total, "unique", uncounted FROM wanted
    EXCEPT SELECT code, total_scans, unique_scans, uncounted_scans FROM scan_counts
    ON CONFLICT (code) DO UPDATE SET
      total_scans = excluded.total_scans, unique_scans = excluded.unique_scans, uncounted_scans = excluded.uncounted_scans`;
}

/** Schedules the removal of the visitors of codes that were deleted after position `after`. */
async function requestRemovalsAfter(tx: Transaction, after: number): Promise<void> {
  const deleted = await tx<{ stream: string }[]>`
    SELECT DISTINCT stream FROM events WHERE position > ${after} AND type IN ('code_deleted', 'code_erased')`;
  if (deleted.length > 0)
    await visitorRemovals.request(
      tx,
      deleted.map(({ stream }) => stream),
    );
}
