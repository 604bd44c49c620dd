import type { Account, AccountEvent } from '../../events/account.ts';
import { type Actor, operator, type Recorded } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { notFound } from '../lib/errors.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { retryLostRace } from '../log/decide.ts';
import { locks } from '../log/locks.ts';

/**
 * Deletes an account: from the commit on, its keys are refused and its short links answer 410. Its data is erased later
 * (src/maintenance/erasure.ts).
 */
export const deleteAccount = (sql: Sql, id: string, now: Date, actor = operator): Promise<Recorded<AccountEvent>[]> =>
  retryLostRace(() => sql.begin((tx) => appendDeletion(tx, id, { actor, now })));

async function appendDeletion(
  tx: Transaction,
  id: string,
  by: { actor: Actor; now: Date },
): Promise<Recorded<AccountEvent>[]> {
  // Creating codes takes the same locks, also before its append: running creates finish first, later ones find no account.
  for (const subject of [id, `${id}/test`])
    await tx`SELECT pg_advisory_xact_lock(${locks.quota}, hashtext(${subject}))`;
  const [account] = await tx<(Account & { first_position: number })[]>`
    SELECT a.*, e.position AS first_position FROM accounts a JOIN events e ON e.stream = a.id AND e.version = 1
    WHERE a.id = ${id}`;
  if (account === undefined) throw notFound('account');
  const { first_position, ...before } = account;
  const event: AccountEvent = { type: 'account_deleted', data: {} };
  const pending = prepare([{ stream: id, version: before.version + 1, event }], by);
  await writeState(tx, { accounts: [before] }, pending);
  await tx`INSERT INTO erasures (account, requested_at, scans_to) VALUES (${id}, ${by.now}, ${first_position})`;
  return appendAndCommit(tx, pending);
}
