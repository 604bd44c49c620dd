import { isFallbackSql } from '../../events/targeting/resolver.ts';
import type { Transaction } from '../lib/sql.ts';

interface Counted {
  scans: number;
  newest: number | null;
}

const byCode = (tx: Transaction) => tx`
  code, count(*) AS total, count(*) FILTER (WHERE is_unique) AS "unique",
  count(*) FILTER (WHERE is_bot OR ${tx.unsafe(isFallbackSql)}) AS uncounted, max(position) AS newest`;

/** Tables with totals of scans that have left `scans`, by code. Totals of deleted codes are left out. */
type Totals = 'dropped_scans' | 'archived_scans';

const addToTotals = (tx: Transaction, table: Totals, counted: 'by_code' | 'leaving_scans') => tx`
  INSERT INTO ${tx(table)} AS d
  SELECT n.code, n.total, n."unique", n.uncounted
  FROM ${tx(counted)} n JOIN codes c ON c.id = n.code WHERE c.status <> 'deleted'
  ORDER BY n.code
  ON CONFLICT (code) DO UPDATE SET
    total_scans = d.total_scans + excluded.total_scans, unique_scans = d.unique_scans + excluded.unique_scans,
    uncounted_scans = d.uncounted_scans + excluded.uncounted_scans`;

/** Deletes scans by a statement that returns them, and adds them to `dropped_scans`. */
export async function dropScans(tx: Transaction, deletion: ReturnType<Transaction>): Promise<Counted> {
  const [removed] = await tx<[Counted]>`
    WITH removed AS (${deletion}), by_code AS (SELECT ${byCode(tx)} FROM removed GROUP BY code),
      added AS (${addToTotals(tx, 'dropped_scans', 'by_code')})
    SELECT coalesce(sum(total), 0)::bigint AS scans, max(newest) AS newest FROM by_code`;
  return removed;
}

/**
 * Counts scans by code in a table that lasts until the transaction ends: counting a partition takes minutes, and the rows of
 * `addLeaving` are locked for the projections, so they are written only when the partition is dropped.
 */
export async function countLeaving(tx: Transaction, scans: ReturnType<Transaction>): Promise<Counted> {
  await tx`
    CREATE TEMPORARY TABLE leaving_scans ON COMMIT DROP AS SELECT ${byCode(tx)} FROM (${scans}) AS leaving GROUP BY code`;
  const [counted] = await tx<[Counted]>`
    SELECT coalesce(sum(total), 0)::bigint AS scans, max(newest) AS newest FROM leaving_scans`;
  return counted;
}

/** Adds what `countLeaving` has counted. */
export async function addLeaving(tx: Transaction, table: Totals): Promise<void> {
  await addToTotals(tx, table, 'leaving_scans');
}

/** How many scans leave the archive, by code. */
export type RemovedScans = Map<string, { total: number; unique: number; uncounted: number }>;

/** Moves the counts of scans that leave the archive from `archived_scans` to `dropped_scans`; deleted codes are left out. */
export async function dropArchived(tx: Transaction, removed: RemovedScans): Promise<number> {
  const rows = [...removed].map(([code, counts]) => ({ code, ...counts }));
  const counts = tx`
    SELECT n.* FROM jsonb_to_recordset(${tx.json(rows)}) AS n (code text, total bigint, "unique" bigint, uncounted bigint)`;
  await tx`
    INSERT INTO dropped_scans AS d
    SELECT n.code, n.total, n."unique", n.uncounted
    FROM (${counts}) AS n JOIN codes c ON c.id = n.code WHERE c.status <> 'deleted'
    ORDER BY n.code
    ON CONFLICT (code) DO UPDATE SET
      total_scans = d.total_scans + excluded.total_scans, unique_scans = d.unique_scans + excluded.unique_scans,
      uncounted_scans = d.uncounted_scans + excluded.uncounted_scans`;
  await tx`
    UPDATE archived_scans a SET total_scans = a.total_scans - n.total, unique_scans = a.unique_scans - n."unique",
      uncounted_scans = a.uncounted_scans - n.uncounted
    FROM (${counts}) AS n WHERE a.code = n.code`;
  await tx`DELETE FROM archived_scans WHERE code = ANY(${[...removed.keys()]}) AND total_scans = 0`;
  return rows.reduce((sum, { total }) => sum + total, 0);
}
