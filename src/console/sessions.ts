import type { Mode, Plan } from '../../events/plans.ts';
import { hashOfKey } from '../accounts/accounts.ts';
import { newSecret } from '../lib/ids.ts';
import type { Queryable, Sql } from '../log/connect.ts';

export const sessionHours = 12;

/** Somebody who is signed in, with the keys that still work. */
export interface Session {
  account: { id: string; name: string; plan: Plan };
  /** At least one, live first. */
  keys: { id: string; name: string; mode: Mode; last4: string }[];
  ends_at: Date;
}

interface SignedInKey {
  account: string;
  account_name: string;
  plan: Plan;
  id: string;
  name: string;
  mode: Mode;
  last4: string;
  ends_at: Date;
}

/** The session of a token, unless it has ended: by time, by signing out, or because its keys were revoked. */
export async function findSession(sql: Queryable, token: string, now: Date): Promise<Session | undefined> {
  const rows = await sql<SignedInKey[]>`
    SELECT a.id AS account, a.name AS account_name, a.plan, k.id, k.name, k.mode, k.last4, s.ends_at
    FROM console_sessions s
    JOIN api_keys k ON k.id IN (s.live_key, s.test_key) AND k.revoked_at IS NULL
    JOIN accounts a ON a.id = s.account
    WHERE s.hash = ${hashOfKey(token)} AND s.ends_at > ${now}
    ORDER BY k.mode`;
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    account: { id: first.account, name: first.account_name, plan: first.plan },
    keys: rows.map(({ id, name, mode, last4 }) => ({ id, name, mode, last4 })),
    ends_at: first.ends_at,
  };
}

export interface SignedIn {
  token: string;
  mode: Mode;
  key: string;
  account: string;
}

/**
 * Signs in with a key; answers with the new session's token, or with the id of the key where it was revoked and with
 * "unknown" where there never was one. Who is signed in to
 * the same account already keeps the other mode's key. The token is always a new one, and the old one ends.
 */
export async function signIn(
  sql: Sql,
  { key, token: old, now }: { key: string; token: string | undefined; now: Date },
): Promise<SignedIn | { refused: string }> {
  const [found] = await sql<{ id: string; account: string; mode: Mode; revoked_at: Date | null }[]>`
    SELECT id, account, mode, revoked_at FROM api_keys WHERE hash = ${hashOfKey(key)}`;
  if (found === undefined) return { refused: 'unknown' };
  if (found.revoked_at !== null) return { refused: found.id };
  const before = old === undefined ? undefined : await findSession(sql, old, now);
  const kept = before?.account.id === found.account ? before.keys.filter(({ mode }) => mode !== found.mode) : [];
  const keyOf = (mode: Mode) => [found, ...kept].find((one) => one.mode === mode)?.id ?? null;
  const token = newSecret();
  const endsAt = new Date(now.getTime() + sessionHours * 3_600_000);
  await sql.begin(async (tx) => {
    if (old !== undefined) await endSession(tx, old);
    await tx`
      INSERT INTO console_sessions (hash, account, live_key, test_key, ends_at)
      VALUES (${hashOfKey(token)}, ${found.account}, ${keyOf('live')}, ${keyOf('test')}, ${endsAt})`;
  });
  return { token, mode: found.mode, key: found.id, account: found.account };
}

/** Ends the session; answers with whose it was, if there was one. */
export async function endSession(sql: Queryable, token: string): Promise<{ account: string; key: string } | undefined> {
  const [ended] = await sql<{ account: string; key: string }[]>`
    DELETE FROM console_sessions WHERE hash = ${hashOfKey(token)}
    RETURNING account, coalesce(live_key, test_key) AS key`;
  return ended;
}
