import type { KeyLimits } from '../../events/key.ts';
import type { Mode, Plan } from '../../events/plans.ts';
import type { SignInFailure } from '../../events/session.ts';
import { newId, newSecret } from '../lib/ids.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { noteOncePerMinute } from './key-usage.ts';
import { hashOfKey, isValidKey } from './keys.ts';
import { endedEvent, recordFailedSignIn, startedEvents, withSessionEvents } from './session-events.ts';

/** How long a session lasts from its sign-in. */
export const sessionHours = 12;
/** How long a session on a device of one's own lasts from its last use. */
export const ownDeviceDays = 30;
/** How long it lasts from the time at which its keys were given, however often it is used. */
const absoluteDays = 90;

const hourMs = 3_600_000;
const endOf = (isOwnDevice: boolean, provenAt: Date, now: Date) =>
  new Date(
    Math.min(
      now.getTime() + (isOwnDevice ? ownDeviceDays * 24 : sessionHours) * hourMs,
      provenAt.getTime() + absoluteDays * 24 * hourMs,
    ),
  );

interface SessionKey extends KeyLimits {
  id: string;
  name: string;
  mode: Mode;
  last4: string;
}

/** A signed-in session, with its keys that are valid. */
export interface Session {
  id: string;
  account: { id: string; name: string; plan: Plan; timezone: string };
  /** At least one; the live key comes first. */
  keys: SessionKey[];
  is_own_device: boolean;
  /** When its keys were given, the oldest of them. */
  proven_at: Date;
  ends_at: Date;
}

interface SignedInKey extends SessionKey {
  session: string;
  account: string;
  account_name: string;
  plan: Plan;
  timezone: string;
  is_own_device: boolean;
  proven_at: Date;
  ends_at: Date;
}

/** The session of a token; undefined when it expired, was ended, or none of its keys is valid. */
export async function findSession(sql: Queryable, token: string, now: Date): Promise<Session | undefined> {
  const rows = await sql<SignedInKey[]>`
    SELECT s.id AS session, a.id AS account, a.name AS account_name, a.plan, coalesce(a.timezone, 'UTC') AS timezone,
      k.id, k.name, k.mode, k.last4, k.scopes, k.expires_at, k.allowed_cidrs, s.is_own_device, s.proven_at, s.ends_at
    FROM console_sessions s
    JOIN api_keys k ON k.id IN (s.live_key, s.test_key) AND ${isValidKey(sql)}
    JOIN accounts a ON a.id = s.account
    WHERE s.hash = ${hashOfKey(token)} AND s.ends_at > ${now}
    ORDER BY k.mode`;
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    id: first.session,
    account: { id: first.account, name: first.account_name, plan: first.plan, timezone: first.timezone },
    keys: rows.map(({ id, name, mode, last4, scopes, expires_at, allowed_cidrs }) => ({
      id,
      name,
      mode,
      last4,
      scopes,
      expires_at,
      allowed_cidrs,
    })),
    is_own_device: first.is_own_device,
    proven_at: first.proven_at,
    ends_at: first.ends_at,
  };
}

export type SessionEnd = 'expired' | 'key_revoked' | 'key_expired' | 'address_not_allowed' | 'ended_elsewhere';

/** Why a token has no session with a key of `mode` any more; undefined if it never had one. */
export async function whySessionEnded(
  sql: Queryable,
  token: string,
  { mode, now }: { mode: Mode | undefined; now: Date },
): Promise<SessionEnd | undefined> {
  const [row] = await sql<{ ends_at: Date; ended_at: Date | null; keys: number; expired: number }[]>`
    SELECT s.ends_at, s.ended_at, count(k.id)::int AS keys, count(k.id) FILTER (WHERE k.revoked_at IS NULL)::int AS expired
    FROM console_sessions s
    LEFT JOIN api_keys k ON k.id IN (s.live_key, s.test_key) AND k.mode = coalesce(${mode ?? null}, k.mode)
    WHERE s.hash = ${hashOfKey(token)} GROUP BY s.hash`;
  if (row === undefined) return undefined;
  if (row.ended_at !== null) return 'ended_elsewhere';
  if (row.ends_at <= now) return 'expired';
  if (row.expired > 0) return 'key_expired';
  return row.keys > 0 ? 'key_revoked' : undefined;
}

/** Stores when sessions were last used; on a device of one's own, that also moves their end. Takes hashes of tokens. */
export const noteSessionUse = (sql: Sql, clock: () => Date) =>
  noteOncePerMinute((hash) => {
    const now = clock();
    return sql`
      UPDATE console_sessions SET
        last_used_at = greatest(last_used_at, ${now}),
        ends_at = CASE WHEN is_own_device
          THEN greatest(ends_at, least(${endOf(true, now, now)}, proven_at + ${absoluteDays * 24} * interval '1 hour'))
          ELSE ends_at END
      WHERE hash = ${hash} AND ends_at > ${now}`;
  });

/** The device that signs in, with the session it had until now. */
export interface SignInFrom {
  token: string | undefined;
  device: string;
  browser: string;
  isOwnDevice: boolean;
  now: Date;
}

/** Whether the networks of a key do not contain the client that signs in. */
type IsOutside = (key: string, limits: Pick<KeyLimits, 'allowed_cidrs'>) => boolean;

export interface SignedIn {
  token: string;
  session: Session;
  /** The key that signed in. */
  key: { id: string; mode: Mode };
}

/** A refusal of a key that belongs to an account. */
type AttributableRefusal =
  | { reason: 'revoked' | 'expired' | 'outside' | 'other_mode'; key: string }
  | { reason: 'other_account'; key: string; account_name: string };
export type SignInRefusal = { reason: 'unknown' } | AttributableRefusal;

/**
 * Exchanges a key for a new session token and ends the session of the old token. A session of the same account keeps
 * its key of the other mode. With `account` or `mode`, keys of others are refused.
 */
export async function signIn(
  sql: Sql,
  { key, isOutside, account, mode, ...from }: SignInFrom & Wanted & { key: string; isOutside: IsOutside },
): Promise<SignedIn | { refused: SignInRefusal }> {
  const [found] = await sql<FoundKey[]>`
    SELECT k.id, k.account, a.name AS account_name, k.mode, k.revoked_at, k.allowed_cidrs, ${isValidKey(sql)} AS is_valid
    FROM api_keys k JOIN accounts a ON a.id = k.account WHERE k.hash = ${hashOfKey(key)}`;
  if (found === undefined) return { refused: { reason: 'unknown' } };
  const refused = refusalOf(found, { account, mode }, isOutside);
  if (refused !== undefined) {
    const failed = { actor: found.id, mode: found.mode, reason: failureOf[refused.reason] };
    await recordFailedSignIn(sql, found.account, failed, from.now);
    return { refused };
  }
  const opened = await withSessionEvents(sql, found.account, from.now, async (tx) => {
    const started = await openSession(tx, found.account, { keys: [found], provenAt: from.now }, from);
    return { result: started, events: startedEvents(started, found.id, 'key') };
  });
  // The key can have been revoked meanwhile.
  if (opened === undefined) return { refused: { reason: 'revoked', key: found.id } };
  return { ...opened, key: { id: found.id, mode: found.mode } };
}

const failureOf = {
  revoked: 'key_revoked',
  expired: 'key_expired',
  outside: 'address_not_allowed',
  other_account: 'other_account',
  other_mode: 'other_mode',
} as const satisfies Record<AttributableRefusal['reason'], SignInFailure>;

/** The account and mode that the key must be of, if the page names them. */
interface Wanted {
  account?: string | undefined;
  mode?: Mode | undefined;
}

interface FoundKey extends Pick<KeyLimits, 'allowed_cidrs'> {
  id: string;
  account: string;
  account_name: string;
  mode: Mode;
  revoked_at: Date | null;
  is_valid: boolean;
}

function refusalOf(found: FoundKey, wanted: Wanted, isOutside: IsOutside): AttributableRefusal | undefined {
  if (found.revoked_at !== null) return { reason: 'revoked', key: found.id };
  if (!found.is_valid) return { reason: 'expired', key: found.id };
  if (isOutside(found.id, found)) return { reason: 'outside', key: found.id };
  if (wanted.account !== undefined && wanted.account !== found.account)
    return { reason: 'other_account', key: found.id, account_name: found.account_name };
  if (wanted.mode !== undefined && wanted.mode !== found.mode) return { reason: 'other_mode', key: found.id };
  return undefined;
}

/** A new session, with its token and where it was opened. */
export interface OpenedSession {
  token: string;
  session: Session;
  device: string;
  browser: string;
}

/** Starts a session with these keys in place of the session of the old token. */
export async function openSession(
  tx: Queryable,
  account: string,
  { keys, provenAt }: { keys: { id: string; mode: Mode }[]; provenAt: Date },
  { token: oldToken, device, browser, isOwnDevice, now }: SignInFrom,
): Promise<OpenedSession | undefined> {
  const found = oldToken === undefined ? undefined : await findSession(tx, oldToken, now);
  const oldSession = found?.account.id === account ? found : undefined;
  const kept = oldSession?.keys.filter(({ mode }) => keys.every((key) => key.mode !== mode)) ?? [];
  const keyIdOf = (mode: Mode) => [...keys, ...kept].find((candidate) => candidate.mode === mode)?.id ?? null;
  const isOlder = kept.length > 0 && oldSession !== undefined && oldSession.proven_at < provenAt;
  const proven = isOlder ? oldSession.proven_at : provenAt;
  // Adding a mode does not ask again whose device it is.
  const isKeptOwn = isOwnDevice || oldSession?.is_own_device === true;
  const token = newSecret();
  if (oldToken !== undefined) await endSession(tx, oldToken);
  await tx`
    INSERT INTO console_sessions
      (hash, id, account, live_key, test_key, device, browser, is_own_device, created_at, last_used_at, proven_at, ends_at)
    VALUES (${hashOfKey(token)}, ${newId('sess', now.getTime())}, ${account}, ${keyIdOf('live')}, ${keyIdOf('test')},
      ${device}, ${browser}, ${isKeptOwn}, ${now}, ${now}, ${proven}, ${endOf(isKeptOwn, proven, now)})`;
  const session = await findSession(tx, token, now);
  return session === undefined ? undefined : { token, session, device, browser };
}

/** Ends the session of a token, and returns its account and key; undefined when there was none. */
export async function signOut(
  sql: Sql,
  token: string,
  now: Date,
): Promise<{ account: string; key: string } | undefined> {
  const [found] = await sql<{ account: string }[]>`
    SELECT account FROM console_sessions WHERE hash = ${hashOfKey(token)}`;
  if (found === undefined) return undefined;
  return withSessionEvents(sql, found.account, now, async (tx) => {
    const ended = await endSession(tx, token);
    return { result: ended, events: ended === undefined ? [] : [endedEvent(ended, ended.key, 'sign_out')] };
  });
}

interface EndedSession {
  id: string;
  account: string;
  mode: Mode;
  key: string;
}

/** Removes the session of a token. */
async function endSession(tx: Queryable, token: string): Promise<EndedSession | undefined> {
  const [ended] = await tx<EndedSession[]>`
    DELETE FROM console_sessions WHERE hash = ${hashOfKey(token)}
    RETURNING id, account, coalesce(live_key, test_key) AS key,
      CASE WHEN live_key IS NULL THEN 'test' ELSE 'live' END AS mode`;
  return ended;
}
