import type { CodeEvent } from '../../events/code-events.ts';
import { linkOf } from '../../events/link.ts';
import type { Owner } from '../../events/owner.ts';
import type { Actor, Recorded } from '../../events/recorded.ts';
import { foldShortCode } from '../../events/short-code.ts';
import { refuseBlocked, urlsOf } from '../codes/blocked-hosts.ts';
import { lostShortCode, prepareCodes, takenShortCodes } from '../codes/create.ts';
import { refuseDomains } from '../codes/domains.ts';
import { type OperatorLimits, quotaChecker } from '../codes/quota.ts';
import { Refusal } from '../lib/errors.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { violates } from '../log/connect.ts';
import type { LinkPage, SourceLink } from './link.ts';
import { type Planned, type PlanOptions, planLink, type Refused } from './plan.ts';
import type { SourceName } from './source-names.ts';

/** Codes that are created in one transaction: their append holds the lock of the log for 8 ms (median; 4 to 7 ms for 50). */
const maxBatchSize = 100;

export interface ImportOptions extends PlanOptions {
  owner: Owner;
  source: SourceName;
  /** Who the codes are created by. */
  actor: Actor;
  /** Limits of the account besides the quota of its plan; undefined for the operator. */
  limits?: OperatorLimits | undefined;
  /** Checks everything and creates nothing. */
  isDryRun: boolean;
  clock(): Date;
  /** Awaited; called with the events of each batch of codes that is created. */
  onCreated?(events: Recorded<CodeEvent>[]): Promise<void>;
}

/** What became of a link. */
export type Outcome =
  /** `code`: its id; undefined in a dry run. */
  | ({ outcome: 'imported'; code: string | undefined } & Planned)
  /** An earlier run, or an earlier link with the same id, has imported it. */
  | { outcome: 'unchanged'; link: SourceLink; code: string | undefined }
  | ({ outcome: 'refused' } & Refused);

/**
 * Imports links in batches, and yields what became of each page. A link that an earlier run has imported stays as it is, so a
 * run that was interrupted is continued by another.
 */
export async function* importLinks(
  { sql, box }: { sql: Sql; box: SecretBox },
  pages: AsyncIterable<LinkPage>,
  options: ImportOptions,
): AsyncGenerator<{ outcomes: Outcome[]; total: number | undefined }> {
  const create = options.isDryRun ? await checker(sql, options) : creator(sql, box, options);
  const run: Run = { startedAt: options.clock(), checked: new Map() };
  for await (const { links, total } of pages)
    for (let i = 0; i < links.length; i += maxBatchSize) {
      const outcomes = await importBatch(sql, links.slice(i, i + maxBatchSize), run, create, options);
      for (const { outcome, link } of options.isDryRun ? outcomes : [])
        if (outcome === 'imported')
          run.checked.set(link.id, { code: undefined, destination: link.destination, isOfThisRun: true });
      yield { outcomes, total };
    }
}

interface Run {
  startedAt: Date;
  /** The links that a dry run would import, which are not in the database. */
  checked: Map<string, Known>;
}

/** A link that is imported already. */
interface Known {
  code: string | undefined;
  destination: string;
  /** Then the same link twice in one import must lead to the same place. */
  isOfThisRun: boolean;
}

/**
 * Creates all codes or none, and returns their ids, none for a dry run; throws a `Refusal` whose details name those that cannot be
 * created.
 */
type Create = (batch: Planned[]) => Promise<string[]>;

async function importBatch(
  sql: Sql,
  links: SourceLink[],
  run: Run,
  create: Create,
  options: ImportOptions,
): Promise<Outcome[]> {
  const attempt = async (): Promise<Outcome[]> => {
    const known = await knownLinks(sql, links, run, options);
    const first = new Map(links.toReversed().map((link) => [link.id, link]));
    const plans = [...first.values()].flatMap((link) => (known.has(link.id) ? [] : [planLink(link, options)]));
    const refused = plans.flatMap((plan): Outcome[] => ('reasons' in plan ? [{ outcome: 'refused', ...plan }] : []));
    const planned = plans.flatMap((plan) => ('reasons' in plan ? [] : [plan])).toReversed();
    const results = [...refused, ...(await createPossible(planned, create))];
    const outcomes = new Map(results.map((result) => [result.link.id, result]));
    return links.map((link) => {
      const outcome = outcomes.get(link.id);
      if (outcome?.link === link) return outcome;
      // Another row of the same link shares its fate.
      if (outcome?.outcome === 'refused') return { outcome: 'refused', link, reasons: outcome.reasons };
      const before = known.get(link.id);
      const destination = outcome?.link.destination ?? before?.destination;
      const isOfThisRun = outcome !== undefined || before?.isOfThisRun === true;
      if (!isOfThisRun || destination === link.destination)
        return { outcome: 'unchanged', link, code: outcome?.code ?? before?.code };
      return { outcome: 'refused', link, reasons: [`it is in this import twice, first with ${destination}`] };
    });
  };
  return attempt().catch((error) => {
    // Another request or another import has committed the same short code or the same link first.
    if (lostShortCode(error) || violates(error, 'imports_pkey')) return attempt();
    throw error;
  });
}

async function knownLinks(
  sql: Sql,
  links: SourceLink[],
  { startedAt, checked }: Run,
  { owner, source }: ImportOptions,
): Promise<Map<string, Known>> {
  const rows = await sql<({ id: string } & Known)[]>`
    SELECT i.source_id AS id, i.code, c.destination_url AS destination, c.created_at >= ${startedAt} AS "isOfThisRun"
    FROM imports i JOIN codes c ON c.id = i.code
    WHERE i.account = ${owner.account} AND i.source = ${source} AND i.source_id = ANY(${links.map(({ id }) => id)})`;
  const known = new Map(rows.map(({ id, ...link }) => [id, link]));
  for (const { id } of links) {
    const link = checked.get(id);
    if (link !== undefined) known.set(id, link);
  }
  return known;
}

/** Creates a batch without the codes that are refused. */
async function createPossible(planned: Planned[], create: Create): Promise<Outcome[]> {
  const { distinct, refused } = withoutRepeated(planned);
  for (let rest = distinct; ; ) {
    if (rest.length === 0) return refused;
    const { ids, reasons } = await tryCreate(rest, create);
    if (reasons === undefined)
      return [...refused, ...rest.map((plan, i): Outcome => ({ outcome: 'imported', code: ids[i], ...plan }))];
    rest.forEach(({ link }, i) => {
      const found = reasons.get(i);
      if (found !== undefined) refused.push({ outcome: 'refused', link, reasons: found });
    });
    rest = rest.filter((_, i) => !reasons.has(i));
  }
}

/** The ids of new codes, or the reasons for which items of the batch are refused, by index. */
async function tryCreate(
  batch: Planned[],
  create: Create,
): Promise<{ ids: string[]; reasons?: undefined } | { ids?: undefined; reasons: Map<number, string[]> }> {
  try {
    return { ids: await create(batch) };
  } catch (error) {
    const named = error instanceof Refusal ? (error.details ?? []).filter(({ index }) => index !== undefined) : [];
    if (!(error instanceof Refusal) || named.length === 0) throw error;
    const reasons = new Map<number, string[]>();
    for (const { index = 0, message } of named) {
      const text = error.code === 'quota_exceeded' ? error.message : message;
      reasons.set(index, [...(reasons.get(index) ?? []), text.replace(/\.$/, '')]);
    }
    return { reasons };
  }
}

const keyOf = ({ request: { domain, short_code } }: Planned): string | undefined =>
  short_code === undefined ? undefined : foldShortCode(linkOf(domain, short_code));

/** Short codes of one batch that differ at most in case: the first keeps it. */
function withoutRepeated(planned: Planned[]): { distinct: Planned[]; refused: Outcome[] } {
  const first = new Map<string, Planned>();
  const refused: Outcome[] = [];
  const distinct = planned.filter((plan) => {
    const key = keyOf(plan);
    const holder = key === undefined ? undefined : first.get(key);
    if (key !== undefined && holder === undefined) first.set(key, plan);
    if (holder !== undefined)
      refused.push({ outcome: 'refused', link: plan.link, reasons: [takenBy(plan, holder.link.id)] });
    return holder === undefined;
  });
  return { distinct, refused };
}

const takenBy = ({ request: { short_code } }: Planned, holder: string) =>
  `short_code "${short_code}" is taken by ${holder} of this import`;

const creator =
  (sql: Sql, box: SecretBox, { owner, source, actor, limits, clock, onCreated }: ImportOptions): Create =>
  async (batch) => {
    const by = { actor, now: clock() };
    const requests = batch.map(({ request }) => request);
    const { ids, events } = await sql.begin(async (tx) => {
      const { codes, commit } = await prepareCodes(tx, box, owner, requests, by, limits);
      const rows = codes.map(({ id }, i) => ({ source_id: batch[i]?.link.id ?? '', code: id }));
      await tx`
        INSERT INTO imports
        SELECT ${owner.account}, ${source}, source_id, code
        FROM jsonb_to_recordset(${tx.json(rows)}) AS r (source_id text, code text)
        ORDER BY source_id`;
      return { ids: codes.map(({ id }) => id), events: await commit() };
    });
    await onCreated?.(events);
    return ids;
  };

/** Makes the checks of `prepareCodes`, which would write. Keeps the links that it accepted, which are not in the database. */
async function checker(sql: Sql, { owner, limits, clock }: ImportOptions): Promise<Create> {
  const checkQuota = await quotaChecker(sql, owner, { limits, now: clock() });
  const accepted = new Map<string | undefined, string>();
  return async (batch) => {
    const requests = batch.map(({ request }) => request);
    const repeated = batch.flatMap((plan, index) => {
      const holder = accepted.get(keyOf(plan));
      return holder === undefined ? [] : [{ index, field: 'short_code', message: takenBy(plan, holder) }];
    });
    const errors = [...repeated, ...(await takenShortCodes(sql, requests))];
    if (errors.length > 0) throw new Refusal('short_code_taken', 'Short codes are taken.', errors);
    await refuseDomains(sql, owner.account, requests);
    await refuseBlocked(
      sql,
      requests.flatMap((request, index) =>
        urlsOf({ ...request, ...request.optional }).map((url) => ({ index, ...url })),
      ),
    );
    checkQuota(requests);
    for (const plan of batch) if (keyOf(plan) !== undefined) accepted.set(keyOf(plan), plan.link.id);
    return [];
  };
}
