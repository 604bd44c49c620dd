import type { Session } from '../accounts/console-sessions.ts';
import type { Queryable } from '../lib/sql.ts';

/** Whether the console asks for the time zone of the account, because no one has chosen one yet. */
export async function asksTimeZone(sql: Queryable, { account }: Pick<Session, 'account'>): Promise<boolean> {
  const [row] = await sql<{ is_unset: boolean }[]>`
    SELECT timezone IS NULL AS is_unset FROM accounts WHERE id = ${account.id}`;
  return row?.is_unset ?? false;
}
