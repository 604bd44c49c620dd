import { isScan, type LogRange } from '../events/entry.ts';
import { isFallback } from '../events/targeting/resolver.ts';
import type { Sql, Transaction } from '../src/lib/sql.ts';
import { moveCheckpoint, Superseded } from './checkpoint.ts';
import { recount } from './counters-rebuild.ts';
import { erasures } from './erasures.ts';
import { visitorRemovals } from './visitor-removals.ts';

/**
 * `total_scans` and `unique_scans` of every code, and how many of its scans do not count against a limit, in `scan_counts`.
 *
 * Applies scans and deletions of codes: it deletes the counts of deleted codes, and schedules the removal of their
 * visitors (visitor-removals.ts). The checkpoint moves in the transaction that adds the scans, so a scan that is delivered
 * twice is counted once. A rebuild (counters-rebuild.ts) counts the log, and adds the scans that the retention has removed
 * from it (`dropped_scans`) and those in archive files (`archived_scans`).
 */
export const counters = {
  name: 'counters',

  /** The stored position; negative when the counts must be rebuilt first. */
  async checkpoint(sql: Sql): Promise<number> {
    await sql`INSERT INTO checkpoints VALUES ('counters', 0) ON CONFLICT DO NOTHING`;
    const [row] = await sql<[{ position: number }]>`SELECT position FROM checkpoints WHERE projection = 'counters'`;
    return row.position;
  },

  async apply(sql: Sql, { after, to, entries }: LogRange): Promise<void> {
    // From here the whole log would be added to counts that contain it already.
    if (after < 0) throw new Superseded('the counts are invalid until they are rebuilt');
    const counts = new Map<string, { code: string; total: number; unique: number; uncounted: number }>();
    const deleted: string[] = [];
    for (const entry of entries) {
      if (isScan(entry)) {
        const count = counts.get(entry.code) ?? { code: entry.code, total: 0, unique: 0, uncounted: 0 };
        count.total++;
        if (entry.is_unique) count.unique++;
        if (entry.is_bot || isFallback(entry.rule)) count.uncounted++;
        counts.set(entry.code, count);
      } else if (entry.type === 'code_deleted' || entry.type === 'code_erased') deleted.push(entry.stream);
    }
    await sql.begin(async (tx) => {
      await moveCheckpoint(tx, 'counters', { after, to });
      if (counts.size > 0)
        await tx`
          INSERT INTO scan_counts AS c
          SELECT code, total, "unique", uncounted
          FROM jsonb_to_recordset(${tx.json([...counts.values()])})
            AS n (code text, total bigint, "unique" bigint, uncounted bigint)
          ON CONFLICT (code) DO UPDATE SET
            total_scans = c.total_scans + excluded.total_scans, unique_scans = c.unique_scans + excluded.unique_scans,
            uncounted_scans = c.uncounted_scans + excluded.uncounted_scans`;
      // A scan that waited in a spool can arrive after the deletion of its code.
      const gone = await removeDeleted(tx, [...deleted, ...counts.keys()]);
      const scanned = gone.filter((code) => counts.has(code));
      if (scanned.length > 0) await erasures.reopen(tx, scanned, after);
    });
  },

  /** Marks the counts as wrong, because the log has lost scans: they are rebuilt before anything else is applied. */
  async invalidate(tx: Transaction): Promise<void> {
    await tx`UPDATE checkpoints SET position = -1 WHERE projection = 'counters'`;
  },

  /** Recounts the whole log, and sets the checkpoint to its end. */
  rebuild: recount,
};

/** Removes the counts of those codes that are deleted, and resolves to their ids. */
async function removeDeleted(tx: Transaction, codes: string[]): Promise<string[]> {
  if (codes.length === 0) return [];
  const gone = await tx<{ id: string }[]>`SELECT id FROM codes WHERE id = ANY(${codes}) AND status = 'deleted'`;
  if (gone.length === 0) return [];
  const ids = gone.map(({ id }) => id);
  await tx`DELETE FROM scan_counts WHERE code = ANY(${ids})`;
  await tx`DELETE FROM dropped_scans WHERE code = ANY(${ids})`;
  await tx`DELETE FROM archived_scans WHERE code = ANY(${ids})`;
  await tx`DELETE FROM limited_scans WHERE code = ANY(${ids})`;
  await visitorRemovals.request(tx, ids);
  return ids;
}
