import type { AccountEvent } from '../../../events/account.ts';
import { operator } from '../../../events/recorded.ts';
import { writeState } from '../../../projections/state.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Sql } from '../../lib/sql.ts';
import { appendAndCommit, prepare } from '../../log/append.ts';
import { tryLock } from '../../log/history.ts';
import { locks } from '../../log/locks.ts';

/**
 * Deletes an account whose import was cut off, so that its erasure removes what is there of it; resolves to whether there is one.
 * Its file can be imported again after that.
 */
export const abandonImport = (sql: Sql, account: string, now: Date): Promise<boolean> =>
  sql.begin(async (tx) => {
    if (!(await tryLock(tx, locks.accountImport)))
      throw new Refusal('conflict', 'An import is under way: wait for it to end.');
    const [unfinished] = await tx<{ after: number; version: number }[]>`
      SELECT after_position AS after, (SELECT coalesce(max(version), 0) FROM events WHERE stream = account) AS version
      FROM account_imports WHERE account = ${account} AND done_at IS NULL FOR UPDATE`;
    if (unfinished === undefined) return false;
    const event: AccountEvent = { type: 'account_deleted', data: {} };
    const pending = prepare([{ stream: account, version: unfinished.version + 1, event }], { actor: operator, now });
    await writeState(tx, {}, pending);
    await tx`INSERT INTO erasures (account, requested_at, scans_to) VALUES (${account}, ${now}, ${unfinished.after})`;
    await appendAndCommit(tx, pending, () => [
      tx`
        UPDATE account_imports SET done_at = ${now}, to_position = (SELECT last_value FROM log_position)
        WHERE account = ${account} AND done_at IS NULL`,
    ]);
    return true;
  }) as Promise<boolean>;
