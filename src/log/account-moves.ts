import type { Queryable } from '../lib/sql.ts';
import type { CursorSource } from './cursor-source.ts';

/** A move of an account from another log. */
export interface AccountMove {
  number: number;
  /** In the log that it was moved to, the entries of the account are after this position. */
  after: number;
  /** What cursors of the log that it came from are sealed with. */
  cursors: CursorSource;
}

/** The moves of an account, oldest first; none for most. */
export const movesOf = (sql: Queryable, account: string): Promise<AccountMove[]> => sql<AccountMove[]>`
  SELECT number, after_position AS after, cursors FROM account_imports
  WHERE account = ${account} AND done_at IS NOT NULL ORDER BY number`;

/**
 * The position in this log of what a position was in the log that the account came from by move `number`: the
 * position of the last entry up to there, through all moves since then; 0 before the first one.
 */
export async function movedPosition(
  sql: Queryable,
  account: string,
  { number, to }: { number: number; to: number },
  position: number,
): Promise<number> {
  let moved = position;
  for (let move = number; move <= to; move++) {
    const [row] = await sql<{ position: number }[]>`
      SELECT position + width_bucket(${moved}::bigint, sources) - 1 AS position FROM account_import_positions
      WHERE account = ${account} AND number = ${move} AND sources[1] <= ${moved}
      ORDER BY sources[1] DESC LIMIT 1`;
    moved = row?.position ?? 0;
  }
  return moved;
}
