import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Alert, AlertOutcome, Finding } from '../../events/alert.ts';
import { limitsOf, type Plan } from '../../events/plans.ts';
import { countCodes, totalOf } from '../codes/codes.ts';
import { countGivenShortCodes, givenShortCodesOf, type OperatorLimits } from '../codes/quota.ts';
import { countDomains } from '../domains/domains.ts';
import type { Queryable } from '../lib/sql.ts';
import { maxDestinations, problemsOf } from './destinations.ts';
import { codesNearLimit, eachUrls, watchedCodes } from './watched.ts';
import { AlertWriter, type DownDestination, type UsedLimit } from './words.ts';

/** What checks need besides the database. */
export interface CheckOptions {
  publicUrl: string;
  limits: OperatorLimits;
  /** The folder whose disk `limit_near` watches for the first account, which is the operator's. */
  folder: string;
  /** Measures a disk; replaced by tests. */
  statDisk?: (folder: string) => Promise<DiskStats>;
}

type DiskStats = Pick<StatsFs, 'bsize' | 'bavail' | 'bfree' | 'blocks'>;

/** What is found now is raised, and everything else is over. */
const outcomeOf = (findings: Finding[], over: string): AlertOutcome => {
  const found = new Set(findings.map(({ subject }) => subject));
  return { findings, overBecause: ({ subject }) => (found.has(subject) ? undefined : over) };
};

/** A paused alert has nothing raised. */
export const pausedOutcome = (alert: Alert, { publicUrl }: CheckOptions): AlertOutcome => ({
  findings: [],
  overBecause: () => new AlertWriter(alert, publicUrl).texts.paused,
});

export async function checkDestinations(
  sql: Queryable,
  alert: Alert,
  { publicUrl }: CheckOptions,
  now: Date,
): Promise<AlertOutcome> {
  const codes = await watchedCodes(sql, alert, now);
  const watched = new Set<string>();
  await eachUrls(sql, codes, (_, urls) => {
    for (const url of urls) watched.add(url);
    return watched.size < maxDestinations;
  });
  const problems = await problemsOf(sql, alert.account, [...watched], now);
  const writer = new AlertWriter(alert, publicUrl);
  const findings: Finding[] = [];
  // Most of the time nothing is down, and the rules are not read again.
  const withProblems = problems.size === 0 ? [] : codes;
  await eachUrls(sql, withProblems, (code, urls) => {
    const down = urls.flatMap((url): Omit<DownDestination, 'others'>[] => {
      const found = problems.get(url);
      return found === undefined ? [] : [{ url, problem: found.problem }];
    });
    const [first, ...others] = down;
    if (first !== undefined) findings.push(writer.down(code, { ...first, others: others.length }));
    return true;
  });
  return outcomeOf(findings, writer.texts.down.over);
}

export async function checkDomains(sql: Queryable, alert: Alert, { publicUrl }: CheckOptions): Promise<AlertOutcome> {
  const failing = await sql<{ id: string; name: string; found: string | null }[]>`
    SELECT d.id, d.name, c.problems -> 0 ->> 'found' AS found
    FROM domains d LEFT JOIN domain_checks c ON c.domain = d.id
    WHERE d.account = ${alert.account} AND d.status = 'failing' ORDER BY d.id`;
  const writer = new AlertWriter(alert, publicUrl);
  return outcomeOf(
    failing.map((domain) => writer.domain(domain)),
    writer.texts.domain.over,
  );
}

export async function checkLimits(
  sql: Queryable,
  alert: Alert,
  options: CheckOptions,
  now: Date,
): Promise<AlertOutcome> {
  const writer = new AlertWriter(alert, options.publicUrl);
  const codes = await codesNearLimit(sql, alert, now);
  // An alert about some codes is about nothing else.
  const isOfAccount = alert.codes === null && alert.tags === null && alert.mode === 'live';
  const limits = isOfAccount ? await limitsOfAccount(sql, alert, options, now) : [];
  const near = limits.filter(({ used, limit }) => used * 100 >= limit * alert.percent);
  return outcomeOf(
    [...near.map((limit) => writer.limit(limit)), ...codes.map((code) => writer.scans(code))],
    writer.texts.limitOver,
  );
}

async function limitsOfAccount(
  sql: Queryable,
  { account, mode }: Alert,
  { limits, folder, statDisk = statfs }: CheckOptions,
  now: Date,
): Promise<UsedLimit[]> {
  // The first account is a customer's once the operator's is deleted.
  const [row] = await sql<{ plan: Plan; is_operators: boolean }[]>`
    SELECT plan, id = (SELECT id FROM accounts ORDER BY created_at, id LIMIT 1) AND (
      NOT EXISTS (SELECT FROM users WHERE is_operator)
      OR EXISTS (SELECT FROM members m JOIN users u ON u.id = m.user_id AND u.is_operator WHERE m.account = a.id)
    ) AS is_operators
    FROM accounts a WHERE id = ${account}`;
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
    ...(row.is_operators ? await diskOf(statDisk, folder) : []),
  ];
}

const bytesPerMB = 1_000_000;

/** Nothing in a process without the folder, which only edges have. */
async function diskOf(statDisk: (folder: string) => Promise<DiskStats>, folder: string): Promise<UsedLimit[]> {
  const disk = await statDisk(folder).catch(() => undefined);
  if (disk === undefined) return [];
  const { bsize, bavail, bfree, blocks } = disk;
  // What is reserved for the system counts as used by no one, as `df` shows it.
  const used = blocks - bfree;
  const inMB = (count: number) => (count * bsize) / bytesPerMB;
  return [{ subject: 'disk', used: inMB(used), limit: inMB(used + bavail) }];
}
