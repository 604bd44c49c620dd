import type { SignInMeans } from '../../events/session.ts';
import { type OpenedSession, openSession, type SignInFrom } from '../accounts/console-sessions.ts';
import { hashOfKey } from '../accounts/keys.ts';
import { startedEvents, withSessionEvents } from '../accounts/session-events.ts';
import type { Queryable, Sql } from '../lib/sql.ts';

/** The account of the person's last session, or else the one joined first; undefined without any account. */
export async function accountToOpen(sql: Queryable, user: string): Promise<string | undefined> {
  const [row] = await sql<{ account: string }[]>`
    SELECT m.account FROM members m JOIN accounts a ON a.id = m.account
    WHERE m.user_id = ${user}
    ORDER BY (SELECT max(s.last_used_at) FROM console_sessions s WHERE s.user_id = m.user_id AND s.account = m.account)
      DESC NULLS LAST, m.joined_at, m.account
    LIMIT 1`;
  return row?.account;
}

/**
 * Starts a session of a person in an account; undefined if the person is disabled or no member. If the person proved who they are
 * before `now`, that counts as the last proof.
 */
export const openUserSession = (
  sql: Sql,
  { user, account }: { user: string; account: string },
  { by, provenAt, ...from }: SignInFrom & { by: SignInMeans; provenAt?: Date | undefined },
): Promise<OpenedSession | undefined> =>
  withSessionEvents(sql, account, from.now, async (tx) => {
    if (!(await isMember(tx, user, account))) return { result: undefined, events: [] };
    const opened = await openSession(tx, account, { keys: [], user, provenAt: from.now }, from);
    if (opened !== undefined) {
      await tx`UPDATE users SET last_signed_in_at = ${from.now} WHERE id = ${user}`;
      const lastProof = provenAt !== undefined && provenAt < from.now ? provenAt : from.now;
      await tx`
        UPDATE console_sessions SET signed_in_by = ${by}, last_proof_at = ${lastProof} WHERE id = ${opened.session.id}`;
    }
    return { result: opened, events: startedEvents(opened, user, { by, isNewDevice: from.isNewDevice ?? false }) };
  });

const isMember = async (sql: Queryable, user: string, account: string): Promise<boolean> =>
  (await sql`SELECT FROM members WHERE user_id = ${user} AND account = ${account}`).length > 0;

/** Moves a session to another account of its person; false if the person is no member of it. */
export async function switchAccount(sql: Queryable, token: string, account: string): Promise<boolean> {
  const moved = await sql`
    UPDATE console_sessions s SET account = ${account}
    FROM members m JOIN accounts a ON a.id = m.account
    WHERE s.hash = ${hashOfKey(token)} AND m.user_id = s.user_id AND m.account = ${account} RETURNING s.id`;
  return moved.length > 0;
}

/** Notes that the person, or a key, of a session was proven now. */
export async function noteProof(sql: Queryable, token: string, now: Date): Promise<void> {
  await sql`UPDATE console_sessions SET last_proof_at = ${now} WHERE hash = ${hashOfKey(token)}`;
}
