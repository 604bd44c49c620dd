import type { AccountEvent } from '../../events/account.ts';
import type { Plan } from '../../events/plans.ts';
import { writeState } from '../../projections/state.ts';
import { newId } from '../lib/ids.ts';
import type { Sql } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { useUpLink } from './links.ts';
import { insertUser } from './users.ts';

/**
 * Creates a person with an account, which has no keys yet, and uses up the link that confirms the address, if there is one.
 * Throws 409 if another person has the address.
 */
export async function signUp(
  sql: Sql,
  person: { name: string; email: string; password_hash: string },
  account: { name: string; plan: Plan },
  { now, confirmation }: { now: Date; confirmation?: string | undefined },
): Promise<{ user: string; account: string }> {
  const user = newId('usr', now.getTime());
  const id = newId('acct', now.getTime());
  const events: AccountEvent[] = [
    { type: 'account_created', data: account },
    { type: 'member_joined', data: { user, role: 'owner' } },
  ];
  const pending = prepare(
    events.map((event, i) => ({ stream: id, version: i + 1, event })),
    { actor: user, now },
  );
  await sql.begin(async (tx) => {
    if (confirmation !== undefined) await useUpLink(tx, 'confirm', confirmation, now);
    await insertUser(tx, { ...person, id: user }, { now, isConfirmed: confirmation !== undefined });
    await writeState(tx, {}, pending);
    await appendAndCommit(tx, pending);
  });
  return { user, account: id };
}
