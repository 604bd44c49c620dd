import { statfs } from 'node:fs/promises';
import type { Alert, AlertOutcome, Finding } from '../../events/alert.ts';
import { limitsOf, type Plan } from '../../events/plans.ts';
import { urlsOfRules } from '../../events/targeting/rule-ids.ts';
import { countCodes, totalOf } from '../codes/codes.ts';
import { countGivenShortCodes, givenShortCodesOf, type OperatorLimits } from '../codes/quota.ts';
import { countDomains } from '../domains/domains.ts';
import type { Queryable } from '../lib/sql.ts';
import { problemsOf } from './destinations.ts';
import { codesNearLimit, type WatchedCode, watchedCodes } from './watched.ts';
import { domainFinding, downFinding, limitFinding, type Problem, scansFinding, type UsedLimit } from './words.ts';

/** What checks need besides the database. */
export interface CheckOptions {
  publicUrl: string;
  limits: OperatorLimits;
  /** The folder whose disk `limit_near` watches for the first account, which is the operator's. */
  folder: string;
}

/** What is found now is raised, and everything else is over. */
const outcomeOf = (findings: Finding[], over: string): AlertOutcome => {
  const found = new Set(findings.map(({ subject }) => subject));
  return { findings, overBecause: ({ subject }) => (found.has(subject) ? undefined : over) };
};

/** A paused alert has nothing raised. */
export const pausedOutcome: AlertOutcome = { findings: [], overBecause: () => 'The alert was paused.' };

export async function checkDestinations(
  sql: Queryable,
  alert: Alert,
  { publicUrl }: CheckOptions,
  now: Date,
): Promise<AlertOutcome> {
  const codes = await watchedCodes(sql, alert, now);
  const urls = [...new Set(codes.flatMap(urlsOf))];
  const problems = await problemsOf(sql, alert.account, urls, now);
  const findings = codes.flatMap((code): Finding[] => {
    const down = urlsOf(code).flatMap((url): Omit<Problem, 'others'>[] => {
      const found = problems.get(url);
      return found === undefined ? [] : [{ url, ...found }];
    });
    const [first, ...others] = down;
    const to = { publicUrl, mode: alert.mode };
    return first === undefined ? [] : [downFinding(to, code, { ...first, others: others.length })];
  });
  return outcomeOf(findings, 'The website answers again, or the code no longer leads there.');
}

/** Everywhere that a code can lead, each once. */
const urlsOf = ({ destination_url, rules }: WatchedCode): string[] => [
  ...new Set([destination_url, ...urlsOfRules(rules ?? []).map(({ url }) => url)]),
];

export async function checkDomains(sql: Queryable, alert: Alert, { publicUrl }: CheckOptions): Promise<AlertOutcome> {
  const failing = await sql<{ id: string; name: string; found: string | null }[]>`
    SELECT d.id, d.name, c.problems -> 0 ->> 'found' AS found
    FROM domains d LEFT JOIN domain_checks c ON c.domain = d.id
    WHERE d.account = ${alert.account} AND d.status = 'failing' ORDER BY d.id`;
  const to = { publicUrl, mode: alert.mode };
  return outcomeOf(
    failing.map((domain) => domainFinding(to, domain)),
    'The domain passes all checks again, or was removed.',
  );
}

export async function checkLimits(
  sql: Queryable,
  alert: Alert,
  options: CheckOptions,
  now: Date,
): Promise<AlertOutcome> {
  const to = { publicUrl: options.publicUrl, mode: alert.mode };
  const codes = await codesNearLimit(sql, alert, now);
  // An alert about some codes is about nothing else.
  const isOfAccount = alert.codes === null && alert.tags === null && alert.mode === 'live';
  const limits = isOfAccount ? await limitsOfAccount(sql, alert, options, now) : [];
  const near = limits.filter(({ used, limit }) => used * 100 >= limit * alert.percent);
  return outcomeOf(
    [...near.map((limit) => limitFinding(to, limit)), ...codes.map((code) => scansFinding(to, code))],
    'There is enough left again.',
  );
}

async function limitsOfAccount(
  sql: Queryable,
  { account, mode }: Alert,
  { limits, folder }: CheckOptions,
  now: Date,
): Promise<UsedLimit[]> {
  const [row] = await sql<{ plan: Plan; is_first: boolean }[]>`
    SELECT plan, id = (SELECT id FROM accounts ORDER BY created_at, id LIMIT 1) AS is_first
    FROM accounts WHERE id = ${account}`;
  if (row === undefined) return [];
  const [codes, domains, shortCodes] = await Promise.all([
    countCodes(sql, { account, mode }),
    countDomains(sql, account),
    countGivenShortCodes(sql, { account, mode }, now),
  ]);
  const { codes: maxCodes, domains: maxDomains } = limitsOf[row.plan];
  return [
    { subject: 'codes', used: totalOf(codes), limit: maxCodes },
    // A plan with one domain has no "nearly".
    ...(maxDomains > 1 ? [{ subject: 'domains' as const, used: domains, limit: maxDomains }] : []),
    { subject: 'short_codes', used: shortCodes, limit: givenShortCodesOf(row.plan, limits) },
    ...(row.is_first ? await diskOf(folder) : []),
  ];
}

const bytesPerMB = 1_000_000;

/** Nothing in a process without the folder, which only edges have. */
async function diskOf(folder: string): Promise<UsedLimit[]> {
  const disk = await statfs(folder).catch(() => undefined);
  if (disk === undefined) return [];
  const { bsize, bavail, bfree, blocks } = disk;
  // What is reserved for the system counts as used by no one, as `df` shows it.
  const used = blocks - bfree;
  const inMB = (count: number) => (count * bsize) / bytesPerMB;
  return [{ subject: 'disk', used: inMB(used), limit: inMB(used + bavail) }];
}
