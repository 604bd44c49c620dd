import { createHmac } from 'node:crypto';
import type { KeyLimits } from '../../events/key.ts';
import type { Role } from '../../events/member.ts';
import { limitsOf, type Mode, type Plan } from '../../events/plans.ts';
import type { Actor } from '../../events/recorded.ts';
import { batchCalls } from '../lib/batch-calls.ts';
import { clientAddress, type TrustedProxies } from '../lib/client-address.ts';
import { Refusal } from '../lib/errors.ts';
import { subscriberNetwork } from '../lib/ip-address.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { addressNotAllowed, KeyNetworks } from './key-limits.ts';
import { noteKeyUse } from './key-usage.ts';
import { hashOfKey, isValidKey } from './keys.ts';

/** The authenticated caller of an operation: a key with its limits, or a person with a role. */
export interface Caller extends KeyLimits {
  account: string;
  mode: Mode;
  plan: Plan;
  /** Id of the key; null for a person. */
  key: string | null;
  /** Who changes are recorded as. */
  actor: Actor;
  /** What the person may do in the account; 'owner' for a key, which its scopes limit. */
  role: Role;
  /** Id of the person, if one has signed in. */
  user?: string;
  /** Id of the console session, if the request came with one. */
  session?: string;
  /** Whether the session was proven recently enough for what could hand over the account; undefined without a session. */
  isProven?: boolean;
}

/** Whether the caller's account is suspended. */
export interface Standing {
  /** The operator's reason; null if the account is not suspended. */
  suspended_reason: string | null;
}

/** The rate limit and its use in the current window of 60 s. */
export interface Rate {
  limit: number;
  used: number;
  /** Unix time, in seconds, at which the window ends. */
  reset: number;
}

export interface Admission {
  rate: Rate;
  caller?: Caller;
  refusal?: Refusal;
}

/** The current window of 60 s, with this request counted. */
export interface Window {
  used: number;
  /** Unix time, in seconds with fractions. */
  ends: number;
}

const requestsPerMinuteWithoutKey = 60;

export interface AdmissionControl {
  /**
   * Admits by API key. A request without a valid key, or from outside the networks of its key, is refused, and counts for
   * the address of its client.
   */
  byKey(request: Request, peer: string): Promise<Admission>;
  /** Counts a request for the address of its client, which has not authenticated. */
  byAddress(request: Request, peer: string): Promise<Admission>;
  /** Counts tries for a purpose by the address of a client: more than `limit` in a minute of what `counted` names are refused. */
  countByAddress(request: Request, peer: string, purpose: string, limit: number, counted?: string): Promise<Admission>;
  /** Identifies a client in the log, on all instances alike: a hash of its address under a secret key. */
  clientHash(request: Request, peer: string): string;
  networks: KeyNetworks;
}

/**
 * Authenticates and rate-limits requests. Concurrent requests share one statement, and counts are exact across
 * instances.
 */
export function admissionControl(sql: Sql, { clientAddressKey }: SecretBox, trusted: TrustedProxies): AdmissionControl {
  const usage = noteKeyUse(sql);
  const networks = new KeyNetworks(trusted);

  const findCaller = batchCalls((hashes: string[]) => readCallers(sql, hashes), { overlapAfterMs: 1_000 });

  async function admitKey(hash: string, request: Request, peer: string): Promise<Admission | undefined> {
    // Otherwise requests from elsewhere with a leaked key would use up the rate limit of the account.
    if (networks.isKnownOutside(hash, request, peer)) return undefined;
    const found = await findCaller(hash);
    if (found === undefined || networks.isOutside(hash, found, request, peer)) return undefined;
    const { used, ends, suspended_reason, ...caller } = found;
    if (caller.key !== null) usage.note(caller.key);
    return admitted(limitsOf[caller.plan].requestsPerMinute, { used, ends }, caller, { suspended_reason });
  }

  // An IPv6 subscriber has 2^64 addresses, which count as one client.
  const networkOf = ({ headers }: Request, peer: string) =>
    subscriberNetwork(clientAddress(peer, headers.get('x-forwarded-for'), trusted));

  function clientHash(request: Request, peer: string): string {
    const hash = createHmac('sha256', clientAddressKey).update('log').update(networkOf(request, peer));
    return hash.digest('base64url').slice(0, 16);
  }

  const byAddress = (request: Request, peer: string) => countByAddress(request, peer, '', requestsPerMinuteWithoutKey);

  async function countByAddress(request: Request, peer: string, purpose: string, limit: number, counted?: string) {
    const client = createHmac('sha256', clientAddressKey).update(purpose).update(networkOf(request, peer));
    return admitted(limit, await countInWindow(sql, client.digest('base64url')), undefined, undefined, counted);
  }

  return {
    byAddress,
    countByAddress,
    clientHash,
    networks,
    async byKey(request, peer) {
      const authorization = request.headers.get('authorization') ?? '';
      const [, key] = /^bearer +(sk_(?:live|test)_[0-9A-Za-z]{43}) *$/i.exec(authorization) ?? [];
      const hash = key === undefined ? undefined : hashOfKey(key);
      const admission = hash === undefined ? undefined : await admitKey(hash, request, peer);
      if (admission !== undefined) return admission;
      const unauthenticated = await byAddress(request, peer);
      if (unauthenticated.refusal !== undefined) return unauthenticated;
      const refusal = hash === undefined ? unauthorized(reasonOf(authorization)) : await refusalOfKey(sql, hash);
      return { ...unauthenticated, refusal };
    },
  };
}

/** Finds the callers of many keys, and counts one request for each in the window of its account and mode. */
async function readCallers(sql: Sql, hashes: string[]): Promise<((Caller & Window & Standing) | undefined)[]> {
  const rows = await sql<(Caller & Window & Standing & { hash: string })[]>`
    WITH caller AS MATERIALIZED (
      SELECT k.hash, k.account, k.mode, a.plan, a.suspended_reason, k.id AS key, k.id AS actor,
        'owner' AS role, k.scopes, k.expires_at, k.allowed_cidrs, batch.requests
      FROM (SELECT hash, count(*) AS requests FROM unnest(${hashes}::text[]) AS hash GROUP BY hash) AS batch
      JOIN api_keys k ON k.hash = batch.hash JOIN accounts a ON a.id = k.account
      WHERE ${isValidKey(sql)}
    ), counted AS (
      INSERT INTO rate_windows AS w (subject, started_at, used)
      SELECT account || '/' || mode AS subject, clock_timestamp(), sum(requests) FROM caller GROUP BY 1 ORDER BY 1
      ON CONFLICT (subject) DO UPDATE SET ${nextWindow(sql)}
      RETURNING subject, used, extract(epoch FROM started_at)::float8 + 60 AS ends
    )
    SELECT hash, account, mode, plan, suspended_reason, key, actor, role, scopes, expires_at, allowed_cidrs, used, ends
    FROM caller JOIN counted ON subject = account || '/' || mode`;
  const callers = new Map(rows.map(({ hash, ...caller }) => [hash, caller]));
  // `used` includes the whole batch: from it, each request gets its own number, the last one the highest.
  const laterRequests = new Map<string, number>();
  return hashes
    .toReversed()
    .map((hash) => {
      const caller = callers.get(hash);
      if (caller === undefined) return undefined;
      const subject = `${caller.account}/${caller.mode}`;
      const later = laterRequests.get(subject) ?? 0;
      laterRequests.set(subject, later + 1);
      return { ...caller, used: caller.used - later };
    })
    .reverse();
}

/** Whether a caller that was admitted earlier would be admitted now, with a key that expires when it did then: a rotated one expires sooner. */
export const isAdmittedAsLong = (sql: Sql, caller: Caller, now: Date): Promise<boolean> =>
  isAdmitted(
    sql,
    caller,
    now,
    sql`date_trunc('milliseconds', k.expires_at) IS NOT DISTINCT FROM ${caller.expires_at}::timestamptz`,
  );

/** Whether a caller that was admitted earlier would be admitted now, apart from rate limits. */
async function isAdmitted(
  sql: Sql,
  { account, key, user, session }: Caller,
  now: Date,
  keyCondition: ReturnType<Sql>,
): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM accounts a
    WHERE a.id = ${account} AND a.suspended_at IS NULL
      AND (EXISTS (SELECT FROM api_keys k WHERE k.id = ${key} AND ${isValidKey(sql)} AND ${keyCondition})
        OR EXISTS (
          SELECT FROM members m JOIN users u ON u.id = m.user_id
          WHERE m.account = a.id AND m.user_id = ${user ?? null} AND u.disabled_at IS NULL
        ))
      AND (${session === undefined} OR EXISTS (
        SELECT FROM console_sessions s WHERE s.id = ${session ?? ''} AND s.ends_at > ${now}
      ))`;
  return rows.length > 0;
}

/** Ends what a caller that was admitted earlier is still reading, unless it would be admitted now. */
export async function requireStillAdmitted(sql: Sql, caller: Caller, now: Date): Promise<void> {
  if (await isAdmitted(sql, caller, now, sql`true`)) return;
  throw new Refusal('unauthorized', 'The account was suspended, or the key or session ended, during this request.');
}

/** Counts one request of a subject, which is an account, a client or one of their limits, on all instances. */
export async function countInWindow(sql: Sql, subject: string): Promise<Window> {
  const [window] = await sql<[Window]>`
    INSERT INTO rate_windows AS w (subject, started_at, used)
    VALUES (${subject}, clock_timestamp(), 1)
    ON CONFLICT (subject) DO UPDATE SET ${nextWindow(sql)}
    RETURNING used, extract(epoch FROM started_at)::float8 + 60 AS ends`;
  return window;
}

/** Continues the current window, or begins a new one with the first request after its end. */
export const nextWindow = (sql: Sql) => sql`
  used = CASE WHEN w.started_at > excluded.started_at - interval '60 seconds' THEN w.used ELSE 0 END + excluded.used,
  started_at = CASE WHEN w.started_at > excluded.started_at - interval '60 seconds' THEN w.started_at ELSE excluded.started_at END`;

/** Admits the caller, unless the account is suspended or the window has more than `limit` of what `counted` names. */
export function admitted(
  limit: number,
  { used, ends }: Window,
  caller?: Caller,
  standing?: Standing,
  counted = 'requests',
): Admission {
  const rate = { limit, used, reset: Math.ceil(ends) };
  if (used <= limit) {
    if (typeof standing?.suspended_reason === 'string') return { rate, refusal: suspended(standing.suspended_reason) };
    return caller === undefined ? { rate } : { rate, caller };
  }
  const wait = Math.max(1, Math.ceil(ends - Date.now() / 1000));
  const message = `More than ${limit} ${counted} in a minute: try again in ${wait} s.`;
  return { rate, refusal: new Refusal('rate_limited', message, undefined, { 'retry-after': String(wait) }) };
}

export const suspended = (reason: string) =>
  new Refusal('account_suspended', `The operator of this service has suspended the account: ${reason}`);

const unauthorized = (reason: string) =>
  new Refusal('unauthorized', reason, undefined, { 'www-authenticate': 'Bearer' });

const howToSend = 'send it as "Authorization: Bearer sk_live_…" or "sk_test_…"';

/** Why a header without a well-formed key is refused. */
function reasonOf(authorization: string): string {
  if (authorization.trim() === '') return `The API key is missing: ${howToSend}.`;
  if (!/^bearer\b/i.test(authorization))
    return `The Authorization header is malformed: an API key is required, ${howToSend}.`;
  return 'The API key is malformed: it must be "sk_live_" or "sk_test_" and 43 letters and digits. Was it copied in full?';
}

/** Why a well-formed key is refused. What became of a key is reported only to a caller that has all of it. */
async function refusalOfKey(sql: Sql, hash: string): Promise<Refusal> {
  const [key] = await sql<{ revoked_at: Date | null; expires_at: Date | null; is_valid: boolean }[]>`
    SELECT k.revoked_at, k.expires_at, ${isValidKey(sql)} AS is_valid FROM api_keys k WHERE k.hash = ${hash}`;
  if (key === undefined) return unauthorized('The API key is unknown: this service has no such key.');
  if (key.is_valid) return addressNotAllowed();
  const [what, at] = key.revoked_at === null ? ['expired', key.expires_at] : ['was revoked', key.revoked_at];
  return unauthorized(`The API key ${what} on ${at?.toISOString()}: use another key.`);
}
