import type { KeyLimits } from '../../events/key.ts';
import type { Role } from '../../events/member.ts';
import type { Mode, Plan } from '../../events/plans.ts';
import { newId, newSecret } from '../lib/ids.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { noteOncePerMinute } from './key-usage.ts';
import { hashOfKey, isValidKey } from './keys.ts';
import { endedEvent, withSessionEvents } from './session-events.ts';

/** How long a session lasts from its sign-in. */
export const sessionHours = 12;
/** How long a session on a device of one's own lasts from its last use. */
export const ownDeviceDays = 30;
/** How long it lasts from the sign-in, or from the time at which its keys were given, however often it is used. */
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

/** The person of a session. */
export interface SessionUser {
  id: string;
  name: string;
  email: string;
  is_operator: boolean;
  has_password: boolean;
}

/** A signed-in session: of a person who is a member of its account, or with keys that are valid. */
export interface Session {
  id: string;
  account: { id: string; name: string; plan: Plan; timezone: string };
  /** The live key comes first; none for a person. */
  keys: SessionKey[];
  user: SessionUser | null;
  /** 'owner' for keys. */
  role: Role;
  is_own_device: boolean;
  /** When the person signed in, or when its keys were given, the oldest of them. */
  proven_at: Date;
  /** The last time at which a password, a key or another proof was given. */
  last_proof_at: Date;
  ends_at: Date;
}

/** One row for each key, or one without a key for a person. */
type SessionRow = Omit<Session, 'id' | 'keys'> & { session: string } & (SessionKey | { [K in keyof SessionKey]: null });

/** Joins the person `u` and the role `m` of a session `s`, in SQL: a disabled person, and one who is no member, has neither. */
export const joinMember = (sql: Queryable) => sql`
  LEFT JOIN (members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL)
    ON m.user_id = s.user_id AND m.account = s.account`;

/** The session of a token; undefined when it expired, was ended, or has neither a member nor a valid key. */
export async function findSession(sql: Queryable, token: string, now: Date): Promise<Session | undefined> {
  const rows = await sql<SessionRow[]>`
    SELECT s.id AS session,
      json_build_object('id', a.id, 'name', a.name, 'plan', a.plan, 'timezone', coalesce(a.timezone, 'UTC')) AS account,
      CASE WHEN u.id IS NOT NULL THEN json_build_object('id', u.id, 'name', u.name, 'email', u.email,
        'is_operator', u.is_operator, 'has_password', u.password_hash IS NOT NULL) END AS user,
      coalesce(m.role, 'owner') AS role,
      s.is_own_device, s.proven_at, coalesce(s.last_proof_at, s.proven_at) AS last_proof_at, s.ends_at,
      k.id, k.name, k.mode, k.last4, k.scopes, k.expires_at, k.allowed_cidrs
    FROM console_sessions s
    JOIN accounts a ON a.id = s.account
    LEFT JOIN api_keys k ON s.user_id IS NULL AND k.id IN (s.live_key, s.test_key) AND ${isValidKey(sql)}
    ${joinMember(sql)}
    WHERE s.hash = ${hashOfKey(token)} AND s.ends_at > ${now} AND (k.id IS NOT NULL OR m.user_id IS NOT NULL)
    ORDER BY k.mode`;
  const [first] = rows;
  if (first === undefined) return undefined;
  const { session, account, user, role, is_own_device, proven_at, last_proof_at, ends_at } = first;
  return {
    id: session,
    account,
    keys: rows.flatMap((row) => (row.id === null ? [] : [keyOf(row)])),
    user,
    role,
    is_own_device,
    proven_at,
    last_proof_at,
    ends_at,
  };
}

const keyOf = ({ id, name, mode, last4, scopes, expires_at, allowed_cidrs }: SessionKey): SessionKey => ({
  id,
  name,
  mode,
  last4,
  scopes,
  expires_at,
  allowed_cidrs,
});

export type SessionEnd =
  | 'expired'
  | 'key_revoked'
  | 'key_expired'
  | 'address_not_allowed'
  | 'ended_elsewhere'
  | 'person_disabled'
  | 'not_member';

/** Why a token has no session with a key of `mode` any more; undefined if it never had one. */
export async function whySessionEnded(
  sql: Queryable,
  token: string,
  { mode, now }: { mode: Mode | undefined; now: Date },
): Promise<SessionEnd | undefined> {
  const [row] = await sql<EndedRow[]>`
    SELECT s.ends_at, s.ended_at, s.user_id, u.disabled_at,
      count(k.id)::int AS keys, count(k.id) FILTER (WHERE k.revoked_at IS NULL)::int AS expired
    FROM console_sessions s
    LEFT JOIN api_keys k ON k.id IN (s.live_key, s.test_key) AND k.mode = coalesce(${mode ?? null}, k.mode)
    LEFT JOIN users u ON u.id = s.user_id
    WHERE s.hash = ${hashOfKey(token)} GROUP BY s.hash, u.id`;
  if (row === undefined) return undefined;
  if (row.ended_at !== null) return 'ended_elsewhere';
  if (row.ends_at <= now) return 'expired';
  if (row.user_id !== null) return row.disabled_at === null ? 'not_member' : 'person_disabled';
  if (row.expired > 0) return 'key_expired';
  return row.keys > 0 ? 'key_revoked' : undefined;
}

interface EndedRow {
  ends_at: Date;
  ended_at: Date | null;
  user_id: string | null;
  disabled_at: Date | null;
  keys: number;
  expired: number;
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
  /** Whether a person signs in who never did on this device. */
  isNewDevice?: boolean;
  now: Date;
}

/** A new session, with its token and where it was opened. */
export interface OpenedSession {
  token: string;
  session: Session;
  device: string;
  browser: string;
}

/** What a session is opened with: keys, or a person. */
export interface Proven {
  keys: { id: string; mode: Mode }[];
  user: string | null;
  /** When the keys were given, or the person signed in. */
  provenAt: Date;
}

/** Starts a session in place of the session of the old token; undefined if the key or the member is no longer valid. */
export async function openSession(
  tx: Queryable,
  account: string,
  { keys, user, provenAt }: Proven,
  { token: oldToken, device, browser, isOwnDevice, isNewDevice = false, now }: SignInFrom,
): Promise<OpenedSession | undefined> {
  const found = oldToken === undefined ? undefined : await findSession(tx, oldToken, now);
  const oldSession = user === null && found?.account.id === account ? found : undefined;
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
      (hash, id, account, user_id, live_key, test_key, device, browser, is_own_device, is_new_device, created_at,
        last_used_at, proven_at, last_proof_at, ends_at)
    VALUES (${hashOfKey(token)}, ${newId('sess', now.getTime())}, ${account}, ${user}, ${keyIdOf('live')},
      ${keyIdOf('test')}, ${device}, ${browser}, ${isKeptOwn}, ${isNewDevice}, ${now}, ${now}, ${proven},
      ${provenAt}, ${endOf(isKeptOwn, proven, now)})`;
  const session = await findSession(tx, token, now);
  return session === undefined ? undefined : { token, session, device, browser };
}

/** Ends the session of a token, and returns its account, and its key or person; undefined when there was none. */
export async function signOut(sql: Sql, token: string, now: Date): Promise<EndedSession | undefined> {
  const [found] = await sql<{ account: string }[]>`
    SELECT account FROM console_sessions WHERE hash = ${hashOfKey(token)}`;
  if (found === undefined) return undefined;
  return withSessionEvents(sql, found.account, now, async (tx) => {
    const ended = await endSession(tx, token);
    return { result: ended, events: ended === undefined ? [] : [endedEvent(ended, ended.actor, 'sign_out')] };
  });
}

export interface EndedSession {
  id: string;
  account: string;
  mode: Mode;
  /** The key or person. */
  actor: string;
  /** What opened the session of a person; null for a session with keys. */
  signed_in_by: string | null;
}

/** Removes the session of a token. */
async function endSession(tx: Queryable, token: string): Promise<EndedSession | undefined> {
  const [ended] = await tx<EndedSession[]>`
    DELETE FROM console_sessions WHERE hash = ${hashOfKey(token)}
    RETURNING id, account, coalesce(user_id, live_key, test_key) AS actor, signed_in_by,
      ${modeOfSession(tx)} AS mode`;
  return ended;
}

/** The mode that the events of a session belong to, in SQL. A person acts in both. */
export const modeOfSession = (sql: Queryable) =>
  sql`CASE WHEN live_key IS NULL AND user_id IS NULL THEN 'test' ELSE 'live' END`;
