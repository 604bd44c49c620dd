import { codeOf, retryLater } from '../lib/errors.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';

const canceled = '57014';

/** Runs a search of an operator, which Postgres cancels when it takes too long: it may have to compare every row. */
export async function withSearchTimeout<T>(sql: Sql, search: (tx: Transaction) => Promise<T>): Promise<T> {
  const ms = timeouts.operatorSearchMs;
  try {
    const { found } = await sql.begin('READ ONLY', async (tx) => {
      await tx`SELECT set_config('statement_timeout', ${String(ms)}, true)`;
      return { found: await search(tx) };
    });
    return found;
  } catch (error) {
    if (codeOf(error) !== canceled) throw error;
    throw retryLater(`The search took longer than ${ms / 1_000} s and was stopped: search for more of the text.`);
  }
}
