import { createCode, type Imported } from '../../events/code.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { OptionalChange } from '../../events/code-fields.ts';
import { type Link, linkOf, shortCodeOf } from '../../events/link.ts';
import type { Owner } from '../../events/owner.ts';
import type { Actor, Recorded } from '../../events/recorded.ts';
import { isReserved } from '../../events/reserved-words.ts';
import { foldShortCode, isGiven } from '../../events/short-code.ts';
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
import { refuseDomains } from './domains.ts';
import { startLimits } from './limits.ts';
import { storePasswords } from './passwords.ts';
import { type OperatorLimits, reserveQuota } from './quota.ts';
import { withAccountTimezone } from './rule-timezones.ts';
import { createVisitorKeys } from './visitor-keys.ts';

/** A code to create; its fields are validated. */
export interface CodeRequest {
  name: string;
  destination_url: string;
  short_code?: string | undefined;
  /** The name of a custom domain; undefined for links of the service itself. */
  domain?: string | undefined;
  status?: 'active' | 'draft' | undefined;
  style?: Style | undefined;
  optional?: OptionalChange | undefined;
  /** The argon2id hash of the password that the short link asks for. */
  password_hash?: string | undefined;
  /** Only for imports of links: a create does not accept it. */
  imported?: Imported | undefined;
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
  await refuseDomains(tx, owner.account, requests);
  await reserveQuota(tx, owner, requests, { limits, now: by.now });
  const links = await chooseLinks(tx, requests);
  const optionals = await withAccountTimezone(
    tx,
    owner.account,
    requests.map(({ optional = {} }) => optional),
  );
  const pending = prepare(
    requests.map(({ name, destination_url, short_code, domain, status, style, password_hash, imported }, i) => ({
      stream: newId('qr', by.now.getTime()),
      version: 1,
      event: createCode(
        {
          account: owner.account,
          mode: owner.mode,
          name,
          destination_url,
          short_code: links[i] as Link,
          short_code_given: domain === undefined ? short_code !== undefined : null,
          status: status ?? 'active',
          style: style ?? {},
          optional: optionals[i] as OptionalChange,
          has_password: password_hash !== undefined,
          imported: imported ?? {},
        },
        newRuleId,
      ),
    })),
    by,
  );
  const { codes } = await writeState(tx, {}, await withExpectedPositions(tx, pending));
  const ids = pending.map(({ stream }) => stream);
  await createVisitorKeys(tx, box, ids);
  await storePasswords(
    tx,
    requests.flatMap(({ password_hash: hash }, i) => (hash === undefined ? [] : [{ code: ids[i] as string, hash }])),
  );
  const limited = pending.filter(({ data }) => data.max_scans !== undefined).map(({ stream }) => stream);
  if (limited.length > 0) await startLimits(tx, limited);
  const given = codes.filter(isGiven).map(({ short_code }) => short_code);
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

/** The link that a request names; undefined if its short code is to be generated. */
const givenLink = ({ short_code, domain }: Pick<CodeRequest, 'short_code' | 'domain'>): Link | undefined =>
  short_code === undefined ? undefined : linkOf(domain, short_code);

async function chooseLinks(tx: Transaction, requests: CodeRequest[]): Promise<Link[]> {
  const errors = await takenShortCodes(tx, requests);
  if (errors[0] !== undefined) throw new Refusal('short_code_taken', errors[0].message, errors);

  const links = requests.map(givenLink);
  // Without regard to case: a generated code must not take over what leads to a given one.
  const chosen = new Set(links.flatMap((link) => (link === undefined ? [] : [foldShortCode(link)])));
  const missing = () => links.flatMap((link, i) => (link === undefined ? [i] : []));
  for (let left = missing(); left.length > 0; left = missing()) {
    const candidates = left.map((i) => ({ i, link: linkOf(requests[i]?.domain, newShortCode()) }));
    const taken = await findTaken(
      tx,
      candidates.map(({ link }) => link),
    );
    for (const { i, link } of candidates) {
      if (taken.has(link) || chosen.has(foldShortCode(link)) || isReserved(shortCodeOf(link))) continue;
      chosen.add(foldShortCode(link));
      links[i] = link;
    }
  }
  return links as Link[];
}

/** Returns an error for each short code that belongs to another code of the same domain, deleted codes included. */
export async function takenShortCodes(
  sql: Queryable,
  requests: Pick<CodeRequest, 'short_code' | 'domain'>[],
): Promise<(FieldError & { index: number })[]> {
  const links = requests.map(givenLink);
  const taken = await findTaken(
    sql,
    links.flatMap((link) => link ?? []),
  );
  return links.flatMap((link, index) => {
    const holder = link === undefined ? undefined : taken.get(link);
    if (link === undefined || holder === undefined) return [];
    const reason = holder === link ? 'is taken' : `is taken by "${shortCodeOf(holder)}", which differs only in case`;
    const message = `short_code "${shortCodeOf(link)}" ${reason}; choose another.`;
    return [{ index, field: 'short_code', message }];
  });
}

/** The links that are taken, each with the existing one: the same, or a given one that differs only in case. */
async function findTaken(sql: Queryable, links: Link[]): Promise<Map<Link, Link>> {
  if (links.length === 0) return new Map();
  const rows = await sql<{ short_code: string; folded: string | null }[]>`
    SELECT short_code, NULL AS folded FROM codes WHERE short_code = ANY(${links})
    UNION ALL
    SELECT short_code, folded_given_code(short_code, short_code_given) FROM codes
    WHERE folded_given_code(short_code, short_code_given) = ANY(${links.map(foldShortCode)})`;
  const exact = new Set(rows.flatMap(({ short_code, folded }) => (folded === null ? [short_code] : [])));
  const given = new Map(rows.flatMap(({ short_code, folded }) => (folded === null ? [] : [[folded, short_code]])));
  return new Map(
    links.flatMap((link) => {
      const holder = exact.has(link) ? link : given.get(foldShortCode(link));
      return holder === undefined ? [] : [[link, holder]];
    }),
  );
}

/** Throws if a concurrent request has created a code with one of these links in another case. */
async function refuseLost(tx: Transaction, given: Link[], own: string[]): Promise<void> {
  // Until the commit, so that the check sees every code that another transaction has created.
  await tx`SELECT pg_advisory_xact_lock(${locks.givenShortCodes})`;
  const rows = await tx<{ id: string }[]>`
    SELECT id FROM codes WHERE folded_given_code(short_code, short_code_given) = ANY(${given.map(foldShortCode)})`;
  const ids = new Set(own);
  if (rows.some(({ id }) => !ids.has(id))) throw new ShortCodeLost();
}
