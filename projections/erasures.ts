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

  /** Reopens the erasure of every deleted account with scans after position `after`. */
  async reopenAll(tx: Transaction, after: number): Promise<void> {
    await tx`
      UPDATE erasures SET done_at = NULL, scans_to = least(scans_to, ${after}), archive_to = least(archive_to, ${after})
      WHERE account IN (
        SELECT account FROM scans WHERE position > ${after} AND account IN (SELECT account FROM erasures)
      )`;
  },
};
