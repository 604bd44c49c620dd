import type { Sql, Transaction } from '../src/lib/sql.ts';

/** Deletes the visitors of deleted codes in chunks, in transactions separate from the projection's checkpoint. */
export const visitorRemovals = {
  /**
   * Schedules the removal of all visitors of these deleted codes, starting with the first: a late scan can have added
   * visitors in a range that is already processed.
   */
  async request(tx: Transaction, codes: string[]): Promise<void> {
    // DO UPDATE rather than DO NOTHING, since it waits for a chunk that is about to delete the row.
    await tx`
      INSERT INTO visitor_removals (code) SELECT code FROM unnest(${codes}::text[]) AS code ORDER BY code
      ON CONFLICT (code) DO UPDATE SET next_visitor = excluded.next_visitor`;
  },

  /** Schedules the removal for every deleted code that still has visitors. */
  async requestAll(tx: Transaction): Promise<void> {
    await tx`
      INSERT INTO visitor_removals (code)
      SELECT id FROM codes
      WHERE status = 'deleted' AND EXISTS (SELECT FROM visitors WHERE code_hash = hashtextextended(id, 0))
      ORDER BY id
      ON CONFLICT (code) DO UPDATE SET next_visitor = excluded.next_visitor`;
  },

  /** Deletes up to `maxRows` visitors of one code. Several processes may call it at once. Returns whether to call again. */
  async removeChunk(sql: Sql, maxRows: number): Promise<boolean> {
    const [pending] = await sql`SELECT 1 FROM visitor_removals LIMIT 1`;
    if (pending === undefined) return false;
    return sql.begin(async (tx) => {
      const [removal] = await tx<{ code: string; hash: string; from: string }[]>`
        SELECT code, hashtextextended(code, 0)::text AS hash, next_visitor AS from FROM visitor_removals
        ORDER BY code LIMIT 1 FOR UPDATE SKIP LOCKED`;
      if (removal === undefined) return false;
      const { code, hash, from } = removal;
      const [next] = await tx<{ visitor: string }[]>`
        SELECT visitor FROM visitors WHERE code_hash = ${hash}::text::bigint AND visitor >= ${from}
        ORDER BY visitor OFFSET ${maxRows} LIMIT 1`;
      const visitors = tx`DELETE FROM visitors WHERE code_hash = ${hash}::text::bigint AND visitor >= ${from}`;
      // One statement, so that progress and deletion cannot diverge.
      if (next === undefined) await tx`WITH removed AS (${visitors}) DELETE FROM visitor_removals WHERE code = ${code}`;
      else
        await tx`
          WITH removed AS (${visitors} AND visitor < ${next.visitor})
          UPDATE visitor_removals SET next_visitor = ${next.visitor} WHERE code = ${code}`;
      return true;
    });
  },
};
