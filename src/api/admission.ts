import { createHmac } from 'node:crypto';
import { limitsOf, type Mode, type Plan } from '../../events/plans.ts';
import { hashOfKey } from '../accounts/accounts.ts';
import { batchCalls } from '../lib/batch-calls.ts';
import { clientAddress, type TrustedProxies } from '../lib/client-address.ts';
import { Refusal } from '../lib/errors.ts';
import { subscriberNetwork } from '../lib/ip-address.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../log/connect.ts';
import { noteKeyUse } from './key-usage.ts';

/** Who asks: everything an operation may know about it. */
export interface Caller {
  account: string;
  mode: Mode;
  plan: Plan;
  /** Id of the key. */
  key: string;
}

/** Why the operator has suspended the caller's account; null while it is not. */
export interface Standing {
  suspended_reason: string | null;
}

/** What is left of the window of 60 s that a request counts in. */
export interface Rate {
  limit: number;
  used: number;
  /** Unix time, in seconds, at which the window has ended. */
  reset: number;
}

export interface Admission {
  rate: Rate;
  caller?: Caller;
  refusal?: Refusal;
}

export interface Window {
  used: number;
  /** Seconds since 1970, with fractions. */
  ends: number;
}

const requestsWithoutKey = 60;

export interface AdmissionControl {
  /** By the key that the request carries; without one that works, it counts for its client's address, and is refused. */
  byKey(request: Request, peer: string): Promise<Admission>;
  /** Counts a request that nobody answers for yet. */
  byAddress(request: Request, peer: string): Promise<Admission>;
  /** Tells clients apart in the log, the same on every instance: a keyed hash of the address, of no use without the key. */
  clientHash(request: Request, peer: string): string;
}

/**
 * Lets requests in: finds the key's account and counts the request, in one statement for all that come at the same time,
 * and exactly across instances.
 */
export function admissionControl(sql: Sql, { clientAddressKey }: SecretBox, trusted: TrustedProxies): AdmissionControl {
  const usage = noteKeyUse(sql);

  const findCallers = batchCalls(readCallers, { overlapAfterMs: 1_000 });

  /** Finds the accounts of many keys at once, and gives each request its number in its account's window. */
  async function readCallers(hashes: string[]): Promise<((Caller & Window & Standing) | undefined)[]> {
    const rows = await sql<(Caller & Window & Standing & { hash: string })[]>`
      WITH caller AS MATERIALIZED (
        SELECT k.hash, k.account, k.mode, a.plan, a.suspended_reason, k.id AS key, asked.times
        FROM (SELECT hash, count(*) AS times FROM unnest(${hashes}::text[]) AS hash GROUP BY hash) AS asked
        JOIN api_keys k ON k.hash = asked.hash JOIN accounts a ON a.id = k.account
        WHERE k.revoked_at IS NULL
      ), counted AS (
        INSERT INTO rate_windows AS w (subject, started_at, used)
        SELECT account || '/' || mode AS subject, clock_timestamp(), sum(times) FROM caller GROUP BY 1 ORDER BY 1
        ON CONFLICT (subject) DO UPDATE SET ${nextWindow(sql)}
        RETURNING subject, used, extract(epoch FROM started_at)::float8 + 60 AS ends
      )
      SELECT hash, account, mode, plan, suspended_reason, key, used, ends
      FROM caller JOIN counted ON subject = account || '/' || mode`;
    const callers = new Map(rows.map(({ hash, ...caller }) => [hash, caller]));
    // What was counted together is told apart again, the last to come with the highest number.
    const later = new Map<string, number>();
    return hashes
      .toReversed()
      .map((hash) => {
        const caller = callers.get(hash);
        if (caller === undefined) return undefined;
        const subject = `${caller.account}/${caller.mode}`;
        const behind = later.get(subject) ?? 0;
        later.set(subject, behind + 1);
        return { ...caller, used: caller.used - behind };
      })
      .reverse();
  }

  async function withKey(key: string): Promise<Admission | undefined> {
    const found = await findCallers(hashOfKey(key));
    if (found === undefined) return undefined;
    const { used, ends, suspended_reason, ...caller } = found;
    usage.note(caller.key);
    return admitted(limitsOf[caller.plan].requestsPerMinute, { used, ends }, caller, { suspended_reason });
  }

  // A whole IPv6 subscriber counts as one: it has 2^64 addresses.
  const networkOf = ({ headers }: Request, peer: string) =>
    subscriberNetwork(clientAddress(peer, headers.get('x-forwarded-for'), trusted));

  function clientHash(request: Request, peer: string): string {
    const hash = createHmac('sha256', clientAddressKey).update('log').update(networkOf(request, peer));
    return hash.digest('base64url').slice(0, 16);
  }

  async function byAddress(request: Request, peer: string): Promise<Admission> {
    const subject = createHmac('sha256', clientAddressKey).update(networkOf(request, peer)).digest('base64url');
    const [window] = await sql<[Window]>`
      INSERT INTO rate_windows AS w (subject, started_at, used)
      VALUES (${subject}, clock_timestamp(), 1)
      ON CONFLICT (subject) DO UPDATE SET ${nextWindow(sql)}
      RETURNING used, extract(epoch FROM started_at)::float8 + 60 AS ends`;
    return admitted(requestsWithoutKey, window);
  }

  return {
    byAddress,
    clientHash,
    async byKey(request, peer) {
      const given = request.headers.get('authorization') ?? '';
      const [, key] = /^bearer +(sk_(?:live|test)_[0-9A-Za-z]{43}) *$/i.exec(given) ?? [];
      const known = key === undefined ? undefined : await withKey(key);
      if (known !== undefined) return known;
      const stranger = await byAddress(request, peer);
      return { refusal: unauthorized(), ...stranger };
    },
  };
}

/** A window begins with the first request behind the end of the one before. */
export const nextWindow = (sql: Sql) => sql`
  used = CASE WHEN w.started_at > excluded.started_at - interval '60 seconds' THEN w.used ELSE 0 END + excluded.used,
  started_at = CASE WHEN w.started_at > excluded.started_at - interval '60 seconds' THEN w.started_at ELSE excluded.started_at END`;

/** The caller, or the refusal of one whose account is suspended, or who sends more than `limit` of what is `counted`. */
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

const unauthorized = () =>
  new Refusal(
    'unauthorized',
    'A valid API key is required: send it as "Authorization: Bearer sk_live_…" or "sk_test_…".',
    undefined,
    { 'www-authenticate': 'Bearer' },
  );
