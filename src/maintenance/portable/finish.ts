import type { Account, AccountEvent } from '../../../events/account.ts';
import { type Domain, isServing, reclaimDomain } from '../../../events/domain.ts';
import { operator } from '../../../events/recorded.ts';
import { writeState } from '../../../projections/state.ts';
import { firstCheckAt } from '../../domains/schedule.ts';
import type { Sql, Transaction } from '../../lib/sql.ts';
import { appendAndCommit, prepare } from '../../log/append.ts';
import { stagingSchema } from './stage.ts';

/** Tables whose rows make the account visible. */
const finalTables = ['accounts', 'api_keys', 'key_usage', 'limited_scans', 'members'];

/**
 * Shows an account whose entries are all in the log. Its domains are claims from now on: that they were proved elsewhere is part
 * of its history, and must be shown here again. People who have no user here are no members any more.
 */
export const finish = (sql: Sql, { account, number }: { account: string; number: number }, now: Date): Promise<void> =>
  sql.begin(async (tx) => {
    for (const table of finalTables)
      await tx.unsafe(`INSERT INTO public.${table} SELECT * FROM ${stagingSchema}.${table}`);
    // The service may have scheduled them meanwhile.
    await tx`
      INSERT INTO alert_checks (alert, account, next_at) SELECT id, account, ${now} FROM alerts WHERE account = ${account}
      ON CONFLICT DO NOTHING`;
    // Every later entry of the account has a higher position.
    const done = () => tx`
      UPDATE account_imports SET done_at = ${now}, to_position = (SELECT last_value FROM log_position)
      WHERE account = ${account} AND number = ${number} AND done_at IS NULL`;
    const [before] = await tx<[Account]>`SELECT * FROM accounts WHERE id = ${account}`;
    const domains = await claimDomains(tx, account, now);
    const events: AccountEvent[] = [...domains.flatMap(reclaimDomain), ...(await removeUnknown(tx, account))];
    if (events.length === 0) {
      await done();
      return;
    }
    const pending = prepare(
      events.map((event, i) => ({ stream: account, version: before.version + 1 + i, event })),
      { actor: operator, now },
    );
    await writeState(tx, { accounts: [before], domains }, pending);
    await appendAndCommit(tx, pending, () => [done()]);
  });

/** Schedules the checks of all domains; returns those that were proved, which become claims with the same ids, tokens and settings. */
async function claimDomains(tx: Transaction, account: string, now: Date): Promise<Domain[]> {
  const domains = await tx<Domain[]>`SELECT * FROM domains WHERE account = ${account} AND status <> 'removed'`;
  if (domains.length === 0) return [];
  const checks = domains.map(({ id }) => ({ domain: id, account, next_at: firstCheckAt(now) }));
  await tx`INSERT INTO domain_checks ${tx(checks)}`;
  return domains.filter(isServing);
}

/** Ends the memberships of people who have no user on this instance. */
async function removeUnknown(tx: Transaction, account: string): Promise<AccountEvent[]> {
  const unknown = await tx<{ user_id: string }[]>`
    SELECT user_id FROM members m
    WHERE account = ${account} AND NOT EXISTS (SELECT FROM users u WHERE u.id = m.user_id) ORDER BY user_id`;
  return unknown.map(({ user_id }) => ({ type: 'member_removed', data: { user: user_id } }));
}
