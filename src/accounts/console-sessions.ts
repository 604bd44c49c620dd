import type { Mode, Plan } from '../../events/plans.ts';
import { newSecret } from '../lib/ids.ts';
import type { Queryable, Sql } from '../log/connect.ts';
import { hashOfKey } from './accounts.ts';

export const sessionHours = 12;

/** A signed-in session, with its keys that are not revoked. */
export interface Session {
  account: { id: string; name: string; plan: Plan };
  /** At least one; the live key comes first. */
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

/** The session of a token; undefined when it expired, was signed out, or all its keys are revoked. */
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
 * Exchanges a key for a new session token and ends the session of the old token. A session of the same account keeps
 * its key of the other mode. A refusal carries the id of a revoked key, or "unknown" for a key that never existed.
 */
export async function signIn(
  sql: Sql,
  { key, token: oldToken, now }: { key: string; token: string | undefined; now: Date },
): Promise<SignedIn | { refused: string }> {
  const [found] = await sql<{ id: string; account: string; mode: Mode; revoked_at: Date | null }[]>`
    SELECT id, account, mode, revoked_at FROM api_keys WHERE hash = ${hashOfKey(key)}`;
  if (found === undefined) return { refused: 'unknown' };
  if (found.revoked_at !== null) return { refused: found.id };
  const oldSession = oldToken === undefined ? undefined : await findSession(sql, oldToken, now);
  const keptKeys =
    oldSession?.account.id === found.account ? oldSession.keys.filter(({ mode }) => mode !== found.mode) : [];
  const keyIdOf = (mode: Mode) => [found, ...keptKeys].find((candidate) => candidate.mode === mode)?.id ?? null;
  const token = newSecret();
  const endsAt = new Date(now.getTime() + sessionHours * 3_600_000);
  await sql.begin(async (tx) => {
    if (oldToken !== undefined) await endSession(tx, oldToken);
    await tx`
      INSERT INTO console_sessions (hash, account, live_key, test_key, ends_at)
      VALUES (${hashOfKey(token)}, ${found.account}, ${keyIdOf('live')}, ${keyIdOf('test')}, ${endsAt})`;
  });
  return { token, mode: found.mode, key: found.id, account: found.account };
}

/** Ends the session and returns its account and key; undefined when there was none. */
export async function endSession(sql: Queryable, token: string): Promise<{ account: string; key: string } | undefined> {
  const [ended] = await sql<{ account: string; key: string }[]>`
    DELETE FROM console_sessions WHERE hash = ${hashOfKey(token)}
    RETURNING account, coalesce(live_key, test_key) AS key`;
  return ended;
}
