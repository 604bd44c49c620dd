import { createCode } from '../../events/code.ts';
import type { Owner } from '../../events/owner.ts';
import { limitsOf, type Plan } from '../../events/plans.ts';
import type { TargetingChange } from '../../events/read-targeting.ts';
import type { Actor } from '../../events/recorded.ts';
import { foldShortCode } from '../../events/short-code.ts';
import type { Style } from '../../events/style.ts';
import { writeState } from '../../projections/state.ts';
import { type FieldError, notFound, Refusal } from '../lib/errors.ts';
import { newId, newRuleId, newShortCode } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { isReserved } from '../lib/short-code.ts';
import { append } from '../log/append.ts';
import { type Queryable, type Transaction, violates } from '../log/connect.ts';
import { locks } from '../log/locks.ts';
import { refuseBlocked, urlsOf } from './blocked-hosts.ts';
import type { Changed } from './change.ts';
import { countCodes, totalOf } from './codes.ts';
import { startLimits } from './limits.ts';
import { withAccountTimezone } from './rule-timezones.ts';
import { createVisitorKeys } from './visitor-keys.ts';

/** A code to create; its fields are validated. */
export interface CodeRequest {
  name: string;
  destination_url: string;
  short_code?: string | undefined;
  status?: 'active' | 'draft' | undefined;
  style?: Style | undefined;
  targeting?: TargetingChange | undefined;
}

class ShortCodeLost extends Error {
  constructor() {
    super('A concurrent request created a code whose short code differs only in case.');
  }
}

/** Whether a concurrent create committed the same short code first; the caller retries once. */
export const lostShortCode = (error: unknown) => error instanceof ShortCodeLost || violates(error, 'codes_short_code');

/** Creates all codes in the given order; throws and creates none if the quota does not suffice or a short code is taken. */
export async function createCodes(
  tx: Transaction,
  box: SecretBox,
  owner: Owner,
  requests: CodeRequest[],
  by: { actor: Actor; now: Date },
  maxTestCodes = Number.POSITIVE_INFINITY,
): Promise<Changed[]> {
  await refuseBlocked(
    tx,
    requests.flatMap((request, index) =>
      urlsOf({ ...request, ...request.targeting }).map((url) => ({ index, ...url })),
    ),
  );
  await reserveQuota(tx, owner, requests.length, maxTestCodes);
  const shortCodes = await chooseShortCodes(tx, requests);
  const targetings = await withAccountTimezone(
    tx,
    owner.account,
    requests.map(({ targeting = {} }) => targeting),
  );
  const recorded = await append(
    tx,
    requests.map(({ name, destination_url, short_code, status, style }, i) => ({
      stream: newId('qr', by.now.getTime()),
      version: 1,
      event: createCode(
        {
          account: owner.account,
          mode: owner.mode,
          name,
          destination_url,
          short_code: shortCodes[i] as string,
          short_code_given: short_code !== undefined,
          status: status ?? 'active',
          style: style ?? {},
          targeting: targetings[i] as TargetingChange,
        },
        newRuleId,
      ),
    })),
    by,
  );
  const streams = recorded.map(({ stream }) => stream);
  const given = requests.flatMap(({ short_code }) => short_code ?? []);
  const limited = recorded.filter(({ data }) => data.max_scans !== undefined).map(({ stream }) => stream);
  // The append lock is held now, so the check sees every code that another transaction has created. It must be sent first.
  const [, { codes }] = await Promise.all([
    refuseLost(tx, given),
    writeState(tx, {}, recorded),
    createVisitorKeys(tx, box, streams),
    limited.length === 0 ? undefined : startLimits(tx, limited),
  ]);
  return codes.map((code, i) => ({
    code: { ...code, total_scans: 0, unique_scans: 0, used_scans: code.max_scans === null ? null : 0 },
    events: recorded.slice(i, i + 1),
  }));
}

/**
 * Exact under concurrent creates: an advisory lock serializes the creates of one account until each has committed.
 * Locking the account's row instead would deadlock: a transaction that changes the account holds the log's lock by then,
 * and a create waits for that lock.
 */
async function reserveQuota(tx: Transaction, owner: Owner, count: number, maxTestCodes: number): Promise<void> {
  const subject = owner.mode === 'live' ? owner.account : `${owner.account}/test`;
  await tx`SELECT pg_advisory_xact_lock(${locks.quota}, hashtext(${subject}))`;
  const plan = await planOf(tx, owner.account);
  const { limit, rule, remedy } = owner.mode === 'live' ? planQuota(plan) : testQuota(maxTestCodes);
  const used = totalOf(await countCodes(tx, owner));
  if (used + count <= limit) return;
  const message = `${rule}, and ${used} exist: ${count === 1 ? 'no more can be created' : `${count} more cannot be created`}. ${remedy}`;
  const exceeding = Array.from({ length: count }, (_, index) => index).slice(Math.max(0, limit - used));
  throw new Refusal(
    'quota_exceeded',
    message,
    exceeding.map((index) => ({ index, field: 'qrcodes', message: 'This QR code exceeds the quota.' })),
  );
}

interface Quota {
  limit: number;
  rule: string;
  remedy: string;
}

async function planOf(tx: Transaction, id: string): Promise<Plan> {
  const [account] = await tx<{ plan: Plan }[]>`SELECT plan FROM accounts WHERE id = ${id}`;
  // The account was deleted after the request was admitted.
  if (account === undefined) throw notFound('account');
  return account.plan;
}

const planQuota = (plan: Plan): Quota => ({
  limit: limitsOf[plan].codes,
  rule: `The ${plan} plan allows ${limitsOf[plan].codes} QR codes`,
  remedy: 'Delete some or change the plan.',
});

/** Test codes do not count against the plan, but each takes space in the log, so the operator limits them. */
const testQuota = (limit: number): Quota => ({
  limit,
  rule: `An account may have ${limit} test QR codes`,
  remedy: 'Delete some, or ask the operator to raise MAX_TEST_CODES.',
});

async function chooseShortCodes(tx: Transaction, requests: CodeRequest[]): Promise<string[]> {
  const errors = await takenShortCodes(
    tx,
    requests.map(({ short_code }) => short_code),
  );
  if (errors[0] !== undefined) throw new Refusal('short_code_taken', errors[0].message, errors);

  const given = requests.flatMap(({ short_code }) => short_code ?? []);
  // Without regard to case: a generated code must not take over what leads to a given one.
  const chosen = new Set(given.map(foldShortCode));
  let missing = requests.length - given.length;
  const generated: string[] = [];
  while (missing > 0) {
    const candidates = Array.from({ length: missing }, newShortCode).filter((code) => !isReserved(code));
    const taken = await findTaken(tx, candidates);
    for (const code of candidates) {
      if (taken.has(code) || chosen.has(foldShortCode(code))) continue;
      chosen.add(foldShortCode(code));
      generated.push(code);
      missing--;
    }
  }
  return requests.map(({ short_code }) => short_code ?? (generated.pop() as string));
}

/** Returns an error for each short code that belongs to another code, deleted codes included. */
export async function takenShortCodes(
  sql: Queryable,
  shortCodes: (string | undefined)[],
): Promise<(FieldError & { index: number })[]> {
  const given = shortCodes.flatMap((code) => code ?? []);
  const taken = await findTaken(sql, given);
  return shortCodes.flatMap((code, index) => {
    const holder = code === undefined ? undefined : taken.get(code);
    if (holder === undefined) return [];
    const reason = holder === code ? 'is taken' : `is taken by "${holder}", which differs only in case`;
    return [{ index, field: 'short_code', message: `short_code "${code}" ${reason}; choose another.` }];
  });
}

/** The short codes that are taken, each with the existing one: the same, or a given one that differs only in case. */
async function findTaken(sql: Queryable, shortCodes: string[]): Promise<Map<string, string>> {
  if (shortCodes.length === 0) return new Map();
  const rows = await sql<{ short_code: string; folded: string | null }[]>`
    SELECT short_code, NULL AS folded FROM codes WHERE short_code = ANY(${shortCodes})
    UNION ALL
    SELECT short_code, folded_given_code(short_code, short_code_given) FROM codes
    WHERE folded_given_code(short_code, short_code_given) = ANY(${shortCodes.map(foldShortCode)})`;
  const exact = new Set(rows.flatMap(({ short_code, folded }) => (folded === null ? [short_code] : [])));
  const given = new Map(rows.flatMap(({ short_code, folded }) => (folded === null ? [] : [[folded, short_code]])));
  return new Map(
    shortCodes.flatMap((code) => {
      const holder = exact.has(code) ? code : given.get(foldShortCode(code));
      return holder === undefined ? [] : [[code, holder]];
    }),
  );
}

async function refuseLost(tx: Transaction, given: string[]): Promise<void> {
  if (given.length === 0) return;
  const rows = await tx`
    SELECT 1 FROM codes WHERE folded_given_code(short_code, short_code_given) = ANY(${given.map(foldShortCode)}) LIMIT 1`;
  if (rows.length > 0) throw new ShortCodeLost();
}
