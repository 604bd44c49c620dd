import type { Account, AccountEvent } from '../../../events/account.ts';
import { type Domain, isServing, reclaimDomain } from '../../../events/domain.ts';
import { operator, type Pending } from '../../../events/recorded.ts';
import { writeState } from '../../../projections/state.ts';
import { firstCheckAt } from '../../domains/schedule.ts';
import type { Sql, Transaction } from '../../lib/sql.ts';
import { appendAndCommit, prepare } from '../../log/append.ts';
import { stagingSchema } from './stage.ts';

/** Tables whose rows make the account visible. */
const finalTables = ['accounts', 'api_keys', 'key_usage', 'limited_scans'];

/**
 * Shows an account whose entries are all in the log. Its domains are claims from now on: that they were proved elsewhere is part
 * of its history, and must be shown here again.
 */
export const finish = (sql: Sql, { account, number }: { account: string; number: number }, now: Date): Promise<void> =>
  sql.begin(async (tx) => {
    for (const table of finalTables)
      await tx.unsafe(`INSERT INTO public.${table} SELECT * FROM ${stagingSchema}.${table}`);
    // Every later entry of the account has a higher position.
    const done = () => tx`
      UPDATE account_imports SET done_at = ${now}, to_position = (SELECT last_value FROM log_position)
      WHERE account = ${account} AND number = ${number} AND done_at IS NULL`;
    const events = await reclaimDomains(tx, account, now);
    if (events.length === 0) await done();
    else await appendAndCommit(tx, events, () => [done()]);
  });

/** Writes the domains that were proved as new claims with the same ids, tokens and settings; returns the events of that. */
async function reclaimDomains(tx: Transaction, account: string, now: Date): Promise<Pending<AccountEvent>[]> {
  const [before] = await tx<Account[]>`SELECT * FROM accounts WHERE id = ${account}`;
  const domains = await tx<Domain[]>`SELECT * FROM domains WHERE account = ${account} AND status <> 'removed'`;
  if (before === undefined || domains.length === 0) return [];
  const checks = domains.map(({ id }) => ({ domain: id, account, next_at: firstCheckAt(now) }));
  await tx`INSERT INTO domain_checks ${tx(checks)}`;
  const proved = domains.filter(isServing);
  const events = proved.flatMap(reclaimDomain);
  const pending = prepare(
    events.map((event, i) => ({ stream: account, version: before.version + 1 + i, event })),
    { actor: operator, now },
  );
  await writeState(tx, { accounts: [before], domains: proved }, pending);
  return pending;
}
