import { endSessionsOf } from '../accounts/other-sessions.ts';
import { Refusal } from '../lib/errors.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import type { By } from './members.ts';

/** The person can no longer sign in, and is signed out everywhere. Memberships stay. */
export async function disableUser(sql: Sql, user: string, by: By): Promise<void> {
  await refuseLastOperator(sql, user);
  await sql`UPDATE users SET disabled_at = coalesce(disabled_at, ${by.now}) WHERE id = ${user}`;
  await endSessionsOf(sql, user, { ...by, cause: 'operator' });
}

export async function enableUser(sql: Queryable, user: string): Promise<void> {
  await sql`UPDATE users SET disabled_at = NULL WHERE id = ${user}`;
}

/** Throws 409 if no one else would be operator. */
export async function setOperator(sql: Sql, user: string, isOperator: boolean): Promise<void> {
  if (!isOperator) await refuseLastOperator(sql, user);
  await sql`UPDATE users SET is_operator = ${isOperator} WHERE id = ${user}`;
}

async function refuseLastOperator(sql: Queryable, user: string): Promise<void> {
  const operators = await sql<{ id: string }[]>`SELECT id FROM users WHERE is_operator AND disabled_at IS NULL`;
  if (operators.length === 1 && operators[0]?.id === user)
    throw new Refusal('last_owner', 'No one would be operator: make another person operator first.');
}
