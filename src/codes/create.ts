import { createCode } from '../../events/code.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { OptionalChange } from '../../events/code-fields.ts';
import type { Owner } from '../../events/owner.ts';
import type { Actor, Recorded } from '../../events/recorded.ts';
import { foldShortCode } from '../../events/short-code.ts';
import type { Style } from '../../events/style.ts';
import { writeState } from '../../projections/state.ts';
import { type FieldError, Refusal } from '../lib/errors.ts';
import { newId, newRuleId, newShortCode } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable, Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { violates } from '../log/connect.ts';
import { withExpectedPositions } from '../log/expected-positions.ts';
import { locks } from '../log/locks.ts';
import { refuseBlocked, urlsOf } from './blocked-hosts.ts';
import type { Changed } from './change.ts';
import type { CountedCode } from './codes.ts';
import { startLimits } from './limits.ts';
import { type OperatorLimits, reserveQuota } from './quota.ts';
import { withAccountTimezone } from './rule-timezones.ts';
import { isReserved } from './short-code.ts';
import { createVisitorKeys } from './visitor-keys.ts';

/** A code to create; its fields are validated. */
export interface CodeRequest {
  name: string;
  destination_url: string;
  short_code?: string | undefined;
  status?: 'active' | 'draft' | undefined;
  style?: Style | undefined;
  optional?: OptionalChange | undefined;
}

class ShortCodeLost extends Error {
  constructor() {
    super('A concurrent request created a code whose short code differs only in case.');
  }
}

/** Whether a concurrent create committed the same short code first; the caller retries once. */
export const lostShortCode = (error: unknown) => error instanceof ShortCodeLost || violates(error, 'codes_short_code');

/** Codes whose rows are written, but not yet committed. */
export interface NewCodes {
  codes: CountedCode[];
  /** Appends their events and commits the transaction, of which this must be the last step. */
  commit(): Promise<Recorded<CodeEvent>[]>;
}

/** Creates all codes in the given order; throws and creates none if the quota does not suffice or a short code is taken. */
export async function createCodes(...args: Parameters<typeof prepareCodes>): Promise<Changed[]> {
  const { codes, commit } = await prepareCodes(...args);
  const recorded = await commit();
  return codes.map((code, i) => ({ code, events: recorded.slice(i, i + 1) }));
}

/** Like `createCodes`, but leaves the commit to the caller. */
export async function prepareCodes(
  tx: Transaction,
  box: SecretBox,
  owner: Owner,
  requests: CodeRequest[],
  by: { actor: Actor; now: Date },
  limits?: OperatorLimits,
): Promise<NewCodes> {
  await refuseBlocked(
    tx,
    requests.flatMap((request, index) => urlsOf({ ...request, ...request.optional }).map((url) => ({ index, ...url }))),
  );
  await reserveQuota(tx, owner, requests, { limits, now: by.now });
  const shortCodes = await chooseShortCodes(tx, requests);
  const optionals = await withAccountTimezone(
    tx,
    owner.account,
    requests.map(({ optional = {} }) => optional),
  );
  const pending = prepare(
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
          optional: optionals[i] as OptionalChange,
        },
        newRuleId,
      ),
    })),
    by,
  );
  const { codes } = await writeState(tx, {}, await withExpectedPositions(tx, pending));
  const ids = pending.map(({ stream }) => stream);
  await createVisitorKeys(tx, box, ids);
  const limited = pending.filter(({ data }) => data.max_scans !== undefined).map(({ stream }) => stream);
  if (limited.length > 0) await startLimits(tx, limited);
  const given = requests.flatMap(({ short_code }) => short_code ?? []);
  return {
    codes: codes.map((code) => ({
      ...code,
      total_scans: 0,
      unique_scans: 0,
      used_scans: code.max_scans === null ? null : 0,
    })),
    async commit() {
      if (given.length > 0) await refuseLost(tx, given, ids);
      return appendAndCommit(tx, pending);
    },
  };
}

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

/** Throws if a concurrent request has created a code with one of these short codes in another case. */
async function refuseLost(tx: Transaction, given: string[], own: string[]): Promise<void> {
  // Until the commit, so that the check sees every code that another transaction has created.
  await tx`SELECT pg_advisory_xact_lock(${locks.givenShortCodes})`;
  const rows = await tx<{ id: string }[]>`
    SELECT id FROM codes WHERE folded_given_code(short_code, short_code_given) = ANY(${given.map(foldShortCode)})`;
  const ids = new Set(own);
  if (rows.some(({ id }) => !ids.has(id))) throw new ShortCodeLost();
}
