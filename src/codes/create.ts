import { createCode } from '../../events/code.ts';
import type { Owner } from '../../events/owner.ts';
import { limitsOf, type Plan } from '../../events/plans.ts';
import type { Actor } from '../../events/recorded.ts';
import type { Style } from '../../events/style.ts';
import { writeState } from '../../projections/state.ts';
import { type Fault, notFound, Refusal } from '../lib/errors.ts';
import { newId, newShortCode } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { isReserved } from '../lib/short-code.ts';
import { append } from '../log/append.ts';
import { type Queryable, type Transaction, violates } from '../log/connect.ts';
import { locks } from '../log/locks.ts';
import { refuseBlocked } from './blocked-hosts.ts';
import type { Changed } from './change.ts';
import { countCodes, totalOf } from './codes.ts';
import { giveVisitorKeys } from './visitor-keys.ts';

/** What is asked for, its fields already checked. */
export interface CodeRequest {
  name: string;
  destination_url: string;
  short_code?: string | undefined;
  status?: 'active' | 'draft' | undefined;
  style?: Style | undefined;
}

/** Whether a create lost its short code to another that committed in the same moment; to be tried once more. */
export const lostShortCode = (error: unknown) => violates(error, 'codes_short_code');

/** Creates all the codes, in the given order, or none: a quota that does not suffice, a short code that is taken. */
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
    requests.map(({ destination_url }, index) => ({ index, destination_url })),
  );
  await reserveQuota(tx, owner, requests.length, maxTestCodes);
  const shortCodes = await chooseShortCodes(tx, requests);
  const recorded = await append(
    tx,
    requests.map(({ name, destination_url, status, style }, i) => ({
      stream: newId('qr', by.now.getTime()),
      version: 1,
      event: createCode({
        account: owner.account,
        mode: owner.mode,
        name,
        destination_url,
        short_code: shortCodes[i] as string,
        status: status ?? 'active',
        style: style ?? {},
      }),
    })),
    by,
  );
  const streams = recorded.map(({ stream }) => stream);
  const [{ codes }] = await Promise.all([writeState(tx, {}, recorded), giveVisitorKeys(tx, box, streams)]);
  return codes.map((code, i) => ({
    code: { ...code, total_scans: 0, unique_scans: 0 },
    events: recorded.slice(i, i + 1),
  }));
}

/**
 * Exact under concurrent creates: those of one account take turns, each until it has committed. Locking the account's
 * row instead would be a deadlock: whoever changes the account has the log's lock by then, which a create waits for.
 */
async function reserveQuota(tx: Transaction, owner: Owner, wanted: number, maxTestCodes: number): Promise<void> {
  const subject = owner.mode === 'live' ? owner.account : `${owner.account}/test`;
  await tx`SELECT pg_advisory_xact_lock(${locks.quota}, hashtext(${subject}))`;
  const plan = await planOf(tx, owner.account);
  const { limit, rule, remedy } = owner.mode === 'live' ? planQuota(plan) : testQuota(maxTestCodes);
  const used = totalOf(await countCodes(tx, owner));
  if (used + wanted <= limit) return;
  const message = `${rule}, and ${used} exist: ${wanted === 1 ? 'no more fits' : `${wanted} more do not fit`}. ${remedy}`;
  const beyond = Array.from({ length: wanted }, (_, index) => index).slice(Math.max(0, limit - used));
  throw new Refusal(
    'quota_exceeded',
    message,
    beyond.map((index) => ({ index, field: 'qrcodes', message: 'This one is beyond the quota.' })),
  );
}

interface Quota {
  limit: number;
  rule: string;
  remedy: string;
}

async function planOf(tx: Transaction, id: string): Promise<Plan> {
  const [account] = await tx<{ plan: Plan }[]>`SELECT plan FROM accounts WHERE id = ${id}`;
  // Deleted after the request was admitted.
  if (account === undefined) throw notFound('account');
  return account.plan;
}

const planQuota = (plan: Plan): Quota => ({
  limit: limitsOf[plan].codes,
  rule: `The ${plan} plan allows ${limitsOf[plan].codes} QR codes`,
  remedy: 'Delete some or change the plan.',
});

/** Test codes count against no plan, but each of them takes space in the log: the operator bounds them. */
const testQuota = (limit: number): Quota => ({
  limit,
  rule: `An account may have ${limit} test QR codes`,
  remedy: 'Delete some, or ask the operator to raise MAX_TEST_CODES.',
});

async function chooseShortCodes(tx: Transaction, requests: CodeRequest[]): Promise<string[]> {
  const faults = await takenShortCodes(
    tx,
    requests.map(({ short_code }) => short_code),
  );
  if (faults[0] !== undefined) throw new Refusal('short_code_taken', faults[0].message, faults);

  const given = requests.flatMap(({ short_code }) => short_code ?? []);
  const chosen = new Set(given);
  let missing = requests.length - given.length;
  const generated: string[] = [];
  while (missing > 0) {
    const candidates = Array.from({ length: missing }, newShortCode).filter((code) => !isReserved(code));
    const unfree = await takenAmong(tx, candidates);
    for (const code of candidates) {
      if (unfree.has(code) || chosen.has(code)) continue;
      chosen.add(code);
      generated.push(code);
      missing--;
    }
  }
  return requests.map(({ short_code }) => short_code ?? (generated.pop() as string));
}

/** A fault for each short code that belongs, or once belonged, to another code. */
export async function takenShortCodes(
  sql: Queryable,
  shortCodes: (string | undefined)[],
): Promise<(Fault & { index: number })[]> {
  const given = shortCodes.flatMap((code) => code ?? []);
  const taken = await takenAmong(sql, given);
  return shortCodes.flatMap((code, index) =>
    code !== undefined && taken.has(code)
      ? [{ index, field: 'short_code', message: `short_code "${code}" is taken; choose another.` }]
      : [],
  );
}

async function takenAmong(sql: Queryable, shortCodes: string[]): Promise<Set<string>> {
  if (shortCodes.length === 0) return new Set();
  const rows = await sql<{ short_code: string }[]>`SELECT short_code FROM codes WHERE short_code = ANY(${shortCodes})`;
  return new Set(rows.map(({ short_code }) => short_code));
}
