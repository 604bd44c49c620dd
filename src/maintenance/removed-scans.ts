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
