import type { Transaction } from '../src/lib/sql.ts';

/**
 * Scans of a deleted account can be appended after its erasure: they waited in a spool, or an edge had not received the
 * deletion yet. The counters process every scan, so they reopen the erasure when they find one.
 */
export const erasures = {
  /** Reopens the erasures of the accounts of `codes`, for scans after position `after`. */
  async reopen(tx: Transaction, codes: string[], after: number): Promise<void> {
    await tx`
      UPDATE erasures SET done_at = NULL, scans_to = least(scans_to, ${after}), archive_to = least(archive_to, ${after})
      WHERE account IN (SELECT account FROM codes WHERE id = ANY(${codes}))`;
  },

  /**
   * Reopens the erasure of every deleted account that has scans, from its first one on: a restore puts the scans of archive
   * files back into `scans`, and a rebuild of the counters passes late scans. Reads the whole table.
   * `hasArchive`: false in a database from before archive files.
   */
  async reopenAll(tx: Transaction, { hasArchive = true } = {}): Promise<void> {
    const [erasure] = await tx`SELECT 1 FROM erasures LIMIT 1`;
    if (erasure === undefined) return;
    await tx`
      UPDATE erasures e SET done_at = NULL, scans_to = least(scans_to, found.before)
        ${hasArchive ? tx`, archive_to = least(archive_to, found.before)` : tx``}
      FROM (
        SELECT account, min(position) - 1 AS before FROM scans
        WHERE account IN (SELECT account FROM erasures) GROUP BY account
      ) AS found
      WHERE e.account = found.account`;
  },
};
