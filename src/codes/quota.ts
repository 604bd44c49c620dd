import type { Owner } from '../../events/owner.ts';
import { limitsOf, type Plan } from '../../events/plans.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import type { Queryable, Transaction } from '../lib/sql.ts';
import { locks } from '../log/locks.ts';
import { countCodes, totalOf } from './codes.ts';

/** What the operator allows each account. */
export interface OperatorLimits {
  /** Maximum number of test codes. */
  testCodes: number;
  /** Short codes that an account may choose in 30 days, in each mode; undefined: the limit of its plan. */
  givenShortCodes: number | undefined;
}

interface Requested {
  short_code?: string | undefined;
  /** Short codes on a custom domain are taken from no other account, so an account may choose any number of them. */
  domain?: string | undefined;
}

/**
 * Throws `quota_exceeded` unless all codes may be created. Exact under concurrent creates: an advisory lock serializes those
 * of one account and mode until each has committed. Without `limits`, as for commands of the operator, only the plan's quota of
 * codes applies.
 */
export async function reserveQuota(
  tx: Transaction,
  owner: Owner,
  requests: Requested[],
  { limits, now }: { limits: OperatorLimits | undefined; now: Date },
): Promise<void> {
  const subject = owner.mode === 'live' ? owner.account : `${owner.account}/test`;
  await tx`SELECT pg_advisory_xact_lock(${locks.quota}, hashtext(${subject}))`;
  const plan = await planOf(tx, owner.account);
  await checkCodes(tx, owner, requests.length, owner.mode === 'live' ? planQuota(plan) : testQuota(limits));
  if (limits !== undefined) await checkGivenShortCodes(tx, owner, requests, { plan, limits, now });
}

async function planOf(sql: Queryable, id: string): Promise<Plan> {
  const [account] = await sql<{ plan: Plan }[]>`SELECT plan FROM accounts WHERE id = ${id}`;
  // The account was deleted after the request was admitted.
  if (account === undefined) throw notFound('account');
  return account.plan;
}

interface Quota {
  limit: number;
  rule: string;
  remedy: string;
}

const planQuota = (plan: Plan): Quota => ({
  limit: limitsOf[plan].codes,
  rule: `The ${plan} plan allows ${limitsOf[plan].codes} QR codes`,
  remedy: 'Delete some or change the plan.',
});

/** Test codes do not count against the plan, but each takes space in the log, so the operator limits them. */
const testQuota = (
  { testCodes: limit }: Pick<OperatorLimits, 'testCodes'> = { testCodes: Number.POSITIVE_INFINITY },
) => ({
  limit,
  rule: `An account may have ${limit} test QR codes`,
  remedy: 'Delete some, or ask the operator to raise MAX_TEST_CODES.',
});

async function checkCodes(tx: Transaction, owner: Owner, count: number, { limit, rule, remedy }: Quota): Promise<void> {
  const used = totalOf(await countCodes(tx, owner));
  if (used + count > limit) throw exceeded({ limit, rule, remedy }, used, count);
}

function exceeded({ limit, rule, remedy }: Quota, used: number, count: number): Refusal {
  const message = `${rule}, and ${used} exist: ${count === 1 ? 'no more can be created' : `${count} more cannot be created`}. ${remedy}`;
  const exceeding = Array.from({ length: count }, (_, index) => index).slice(Math.max(0, limit - used));
  return new Refusal(
    'quota_exceeded',
    message,
    exceeding.map((index) => ({ index, field: 'qrcodes', message: 'This QR code exceeds the quota.' })),
  );
}

/**
 * Returns a check of requests, none of which is created: it throws what a create would, and counts those that it accepts. Without
 * `limits`, as `reserveQuota`.
 */
export async function quotaChecker(
  sql: Queryable,
  owner: Owner,
  { limits, now }: { limits: OperatorLimits | undefined; now: Date },
): Promise<(requests: Requested[]) => void> {
  const plan = await planOf(sql, owner.account);
  const quota = owner.mode === 'live' ? planQuota(plan) : testQuota(limits);
  let used = totalOf(await countCodes(sql, owner));
  let chosen = limits === undefined ? 0 : await countGivenShortCodes(sql, owner, now);
  return (requests) => {
    if (used + requests.length > quota.limit) throw exceeded(quota, used, requests.length);
    const given = givenIndexes(requests);
    const limit = limits === undefined ? Number.POSITIVE_INFINITY : givenShortCodesOf(plan, limits);
    if (chosen + given.length > limit) throw tooManyGiven(given, { limit, used: chosen });
    used += requests.length;
    chosen += given.length;
  };
}

const windowDays = 30;

/** The limit of short codes that an account of this plan may choose in 30 days, in each mode. */
export const givenShortCodesOf = (plan: Plan, { givenShortCodes }: OperatorLimits): number =>
  givenShortCodes ?? limitsOf[plan].givenShortCodes;

const windowStart = (now: Date) => new Date(now.getTime() - windowDays * 86_400_000);

/** How many short codes the owner has chosen in the last 30 days, short codes of deleted codes included. */
export async function countGivenShortCodes(sql: Queryable, { account, mode }: Owner, now: Date): Promise<number> {
  const [{ count }] = await sql<[{ count: number }]>`
    SELECT count(*) FROM codes
    WHERE account = ${account} AND mode = ${mode} AND short_code_given AND created_at > ${windowStart(now)}`;
  return count;
}

/** The requests that choose a short code of the service's own domain. */
const givenIndexes = (requests: Requested[]): number[] =>
  requests.flatMap(({ short_code, domain }, index) =>
    short_code === undefined || domain !== undefined ? [] : [index],
  );

/** A short code is never reassigned, so creating and deleting codes would take one after another from all other accounts. */
async function checkGivenShortCodes(
  tx: Transaction,
  owner: Owner,
  requests: Requested[],
  { plan, limits, now }: { plan: Plan; limits: OperatorLimits; now: Date },
): Promise<void> {
  const given = givenIndexes(requests);
  if (given.length === 0) return;
  const limit = givenShortCodesOf(plan, limits);
  const used = await countGivenShortCodes(tx, owner, now);
  if (used + given.length <= limit) return;
  const when = given.length > limit ? undefined : await freeAt(tx, owner, used + given.length - limit, now);
  throw tooManyGiven(given, { limit, used, when });
}

/** `when`: the time from which all of them can be chosen, if there is one. */
function tooManyGiven(
  given: number[],
  { limit, used, when }: { limit: number; used: number; when?: Date | undefined },
): Refusal {
  const left = Math.max(0, limit - used);
  const later = when === undefined ? '' : `, or try again after ${when.toISOString()}`;
  return new Refusal(
    'quota_exceeded',
    `An account may choose ${limit} short codes in ${windowDays} days, deleted codes included, and ${left} are left: leave out short_code to get a generated one${later}.`,
    given.slice(left).map((index) => ({ index, field: 'short_code', message: 'This short code exceeds the limit.' })),
  );
}

/** When the oldest `count` short codes of the window leave it. */
async function freeAt(tx: Transaction, { account, mode }: Owner, count: number, now: Date): Promise<Date> {
  const [oldest] = await tx<{ created_at: Date }[]>`
    SELECT created_at FROM codes
    WHERE account = ${account} AND mode = ${mode} AND short_code_given AND created_at > ${windowStart(now)}
    ORDER BY created_at OFFSET ${count - 1} LIMIT 1`;
  return new Date((oldest?.created_at ?? now).getTime() + windowDays * 86_400_000);
}
