import type { Transaction } from '../src/lib/sql.ts';

/**
 * Scans of a deleted account can be appended after its erasure: they waited in a spool, or an edge had not received the
 * deletion yet. The counters see every scan, and so continue the erasure where they see one.
 */
export const erasures = {
  /** Continues the erasures that codes belong to, for scans after `after`. */
  async reopen(tx: Transaction, codes: string[], after: number): Promise<void> {
    await tx`
      UPDATE erasures SET done_at = NULL, scans_to = least(scans_to, ${after})
      WHERE account IN (SELECT account FROM codes WHERE id = ANY(${codes}))`;
  },

  /** The same for every deleted account that has scans after `after`, which no one has looked at. */
  async reopenAll(tx: Transaction, after: number): Promise<void> {
    await tx`
      UPDATE erasures SET done_at = NULL, scans_to = least(scans_to, ${after})
      WHERE account IN (
        SELECT account FROM scans WHERE position > ${after} AND account IN (SELECT account FROM erasures)
      )`;
  },
};
