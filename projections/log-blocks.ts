import type { Queryable, Sql } from '../src/lib/sql.ts';
import { moveCheckpoint } from './checkpoint.ts';

/** Positions of one block: reading all scans of a block takes about 20 ms. */
export const blockSize = 65_536;

/** The block of a position; positions begin at 1. */
export const blockOf = (position: number) => Math.floor((position - 1) / blockSize);

/**
 * `log_blocks`: in which blocks of the log an account has scans or changes.
 *
 * Reads the log itself, one complete block at a time, so that neither appends nor the stream have anything to do with it. The
 * checkpoint moves in the transaction that adds the rows. It needs no rebuild: a row without entries does no harm.
 */
export const logBlocks = {
  name: 'log_blocks',

  /** The last position of the last block in the table. */
  async checkpoint(sql: Queryable): Promise<number> {
    const [row] = await sql<{ position: number }[]>`
      SELECT position FROM checkpoints WHERE projection = 'log_blocks'`;
    return row?.position ?? 0;
  },

  /** Adds the block after the checkpoint, if the log, which ends at `head`, has all of it. Resolves to whether it has. */
  async addNext(sql: Sql, head: number): Promise<boolean> {
    const after = await logBlocks.checkpoint(sql);
    const to = after + blockSize;
    if (to > head) return false;
    await sql.begin(async (tx) => {
      await tx`INSERT INTO checkpoints VALUES ('log_blocks', 0) ON CONFLICT DO NOTHING`;
      await moveCheckpoint(tx, 'log_blocks', { after, to });
      await tx`
        INSERT INTO log_blocks AS b (account, mode, block, has_scans, has_changes)
        SELECT account, mode, ${blockOf(to)}, bool_or(is_scan), bool_or(NOT is_scan) FROM (
          SELECT DISTINCT account, mode, true AS is_scan FROM scans WHERE position > ${after} AND position <= ${to}
          UNION ALL
          SELECT c.account, c.mode, false FROM events e JOIN codes c ON c.id = e.stream
          WHERE e.position > ${after} AND e.position <= ${to}
          UNION ALL
          -- An event of an account can be of either mode, or of both.
          SELECT e.stream, m.mode, false FROM events e CROSS JOIN (VALUES ('live'), ('test')) AS m (mode)
          WHERE e.position > ${after} AND e.position <= ${to} AND starts_with(e.stream, 'acct_')
        ) AS entries
        GROUP BY account, mode
        ON CONFLICT (account, mode, block) DO UPDATE SET
          has_scans = b.has_scans OR excluded.has_scans, has_changes = b.has_changes OR excluded.has_changes`;
    });
    return true;
  },
};
