import type { Transaction } from '../log/connect.ts';

/**
 * Adds scans that leave the table `scans` to `dropped_scans` or `archived_scans`, which have totals by code; deleted codes
 * are left out.
 */
export async function countRemoved(
  tx: Transaction,
  table: 'dropped_scans' | 'archived_scans',
  scans: ReturnType<Transaction>,
): Promise<{ scans: number; newest: number | null }> {
  const [removed] = await tx<[{ scans: number; newest: number | null }]>`
    WITH removed AS (${scans}), by_code AS (
      SELECT code, count(*) AS total, count(*) FILTER (WHERE is_unique) AS "unique",
        count(*) FILTER (WHERE is_bot OR rule LIKE 'f%') AS uncounted, max(position) AS newest
      FROM removed GROUP BY code
    ), counted AS (
      INSERT INTO ${tx(table)} AS d
      SELECT b.code, b.total, b."unique", b.uncounted
      FROM by_code b JOIN codes c ON c.id = b.code WHERE c.status <> 'deleted'
      ORDER BY b.code
      ON CONFLICT (code) DO UPDATE SET
        total_scans = d.total_scans + excluded.total_scans, unique_scans = d.unique_scans + excluded.unique_scans,
        uncounted_scans = d.uncounted_scans + excluded.uncounted_scans
    )
    SELECT coalesce(sum(total), 0)::bigint AS scans, max(newest) AS newest FROM by_code`;
  return removed;
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
