import { connectWarehouse } from '../src/analytics/connect.ts';
import { warmUp } from '../src/analytics/warm-up.ts';
import { readConfig } from '../src/config/config.ts';
import { StartError } from '../src/lib/errors.ts';
import type { BenchStack } from './bench-stack.ts';
import { codeId, type SizedService, shortCode, smallAccountCodes, startSizedService } from './growth-world.ts';
import { medianTimesMs } from './median-times.ts';
import { cpuSeconds } from './process.ts';
import { loadRedirects } from './redirect-load.ts';
import { type BenchRow, type Bounds, boundedRow, median } from './row.ts';

const baseSize = 1_000;
const rate = 2_000;
/** One redirect in 20 is of a code that may not be in the edge's memory. */
const uncachedEvery = 20;
/** Reads take less than a millisecond and need many repetitions, but no more than the rate limit per minute allows. */
const repetitions = { read: 250, uncached: 400, search: 15, summary: 15, redirectRounds: 5 };

/** A lookup by key may get slower only by another level of an index. */
const byKey: Bounds = { target: 2, goal: 1.2, kind: 'max', unit: ' ×' };
/** A summary of 100 or 10,000 times as many scans may grow with its hours and days, not with its scans. */
const byGroups: Bounds = { target: 5, goal: 2, kind: 'max', unit: ' ×' };

interface Options {
  codes?: number;
  scans?: number;
  onStep?(step: string): void;
}

/** The cost in seconds of one kind of request at each size, and the bounds of its growth. */
interface Comparison {
  what: string;
  costs: Map<SizedService, number>;
  boundsOf(service: SizedService, smallest: SizedService): Bounds;
}

/** What redirects and reads cost with a thousand codes and scans, and with up to 10,000 times as many. */
export async function benchGrowth(
  stack: BenchStack,
  {
    codes = sizeIn('SCANLOG_BENCH_CODES', 1_000_000),
    scans = sizeIn('SCANLOG_BENCH_SCANS', 10_000_000),
    onStep = () => {},
  }: Options = {},
): Promise<BenchRow[]> {
  const hundredth = Math.round(scans / 100);
  const sizes = [
    { name: `${short(baseSize)} codes and scans`, codes: baseSize, scans: baseSize },
    // A hundredth of few scans would be the size that all others are compared with.
    ...(hundredth > baseSize ? [{ name: `${short(hundredth)} scans`, codes: baseSize, scans: hundredth }] : []),
    { name: `${short(scans)} scans`, codes: baseSize, scans },
    { name: `${short(codes)} codes`, codes, scans: baseSize },
  ];
  const warehouse = connectWarehouse({ ...readConfig({}), clickhouseUrl: stack.clickhouseUrl });
  await warmUp(warehouse);
  await warehouse.client.close();
  const services: SizedService[] = [];
  try {
    for (const size of sizes) services.push(await startSizedService(stack, size, onStep));
    const comparisons = [
      ...(await compareRedirects(stack, services, onStep)),
      ...(await compareReads(services, onStep)),
      ...(await compareSearches(services, onStep)),
      await compareSummaries(services, onStep),
    ];
    return comparisons.flatMap((comparison) => rowsOf(comparison, services));
  } finally {
    for (const service of services) await service.stop();
  }
}

function sizeIn(variable: string, fallback: number): number {
  const size = Number(process.env[variable] ?? fallback);
  if (Number.isInteger(size) && size > baseSize) return size;
  throw new StartError(`${variable} must be a whole number above ${baseSize.toLocaleString('en')}.`);
}

function rowsOf({ what, costs, boundsOf }: Comparison, services: SizedService[]): BenchRow[] {
  const [smallest, ...larger] = services as [SizedService, ...SizedService[]];
  const costOf = (service: SizedService) => costs.get(service) ?? Number.NaN;
  return larger.map((service) =>
    boundedRow(
      {
        what: `${what}, ${service.name}`,
        figure: duration(costOf(service)),
        against: `${smallest.name}: ${duration(costOf(smallest))}`,
        ratio: costOf(service) / costOf(smallest),
      },
      boundsOf(service, smallest),
    ),
  );
}

type OnStep = (step: string) => void;

async function compareRedirects(stack: BenchStack, services: SizedService[], onStep: OnStep): Promise<Comparison[]> {
  onStep('redirects of codes that are not in memory');
  return [
    {
      what: 'redirect, code not in memory',
      costs: await medianSeconds(services, repetitions.uncached, (service, n) =>
        redirect(service, uncachedCode(service, n)),
      ),
      boundsOf: () => byKey,
    },
    {
      what: 'redirect: CPU of edge and Postgres',
      costs: await redirectCpuSeconds(stack, services, onStep),
      boundsOf: () => byKey,
    },
  ];
}

async function compareReads(services: SizedService[], onStep: OnStep): Promise<Comparison[]> {
  onStep('reads of single codes and lists');
  return [
    {
      what: 'GET /v1/qrcodes/:id',
      costs: await medianSeconds(services, repetitions.read, (service) =>
        read(service, `/v1/qrcodes/${codeId(anyCode(service))}`),
      ),
      boundsOf: () => byKey,
    },
    {
      what: 'first page of the list',
      costs: await medianSeconds(services, repetitions.read, (service) => read(service, '/v1/qrcodes')),
      boundsOf: () => byKey,
    },
  ];
}

/** A search reads an index of trigrams: its cost depends on its matches, not on the codes of its account or of others. */
async function compareSearches(services: SizedService[], onStep: OnStep): Promise<Comparison[]> {
  onStep('searches');
  const search = (service: SizedService, account: SizedService['largeAccount']) =>
    read(service, `/v1/qrcodes?q=${encodeURIComponent(account.uniqueName)}`, account);
  return [
    {
      what: 'list with q',
      costs: await medianSeconds(services, repetitions.search, (service) => search(service, service.largeAccount)),
      boundsOf: () => byKey,
    },
    {
      what: `list with q, account with ${short(smallAccountCodes)} codes`,
      costs: await medianSeconds(services, repetitions.search * 4, (service) => search(service, service.smallAccount)),
      boundsOf: () => byKey,
    },
  ];
}

async function compareSummaries(services: SizedService[], onStep: OnStep): Promise<Comparison> {
  onStep('summaries');
  return {
    what: 'summary of one code',
    costs: await medianSeconds(services, repetitions.summary, (service) =>
      read(service, `/v1/qrcodes/${codeId(scannedCode(service))}/analytics`),
    ),
    boundsOf: (service, smallest) => (service.scans > smallest.scans ? byGroups : byKey),
  };
}

const short = (count: number) =>
  count >= 1e6 ? `${count / 1e6} M` : count >= 1e3 ? `${count / 1e3} k` : count.toLocaleString('en');

const duration = (seconds: number) =>
  seconds < 0.001 ? `${Math.round(seconds * 1e6)} µs` : `${(seconds * 1e3).toFixed(seconds < 0.01 ? 2 : 0)} ms`;

/** The edge's snapshot has at most the first half of the codes, so the last ones are not in memory. */
const uncachedCode = (service: SizedService, n: number) => shortCode(service.codes - n);
const anyCode = (service: SizedService) => 1 + Math.floor(Math.random() * service.codes);
/** If there are more codes than scans, only the first codes have scans. */
const scannedCode = (service: SizedService) => 1 + Math.floor(Math.random() * Math.min(service.codes, service.scans));

/** The median duration of `work` at each size; the sizes alternate. */
async function medianSeconds(
  services: SizedService[],
  count: number,
  work: (service: SizedService, n: number) => Promise<unknown>,
): Promise<Map<SizedService, number>> {
  for (const { sql } of services) await sql`UPDATE rate_windows SET used = 0`;
  const numbered = services.map((service): [string, () => Promise<unknown>] => {
    let n = 0;
    return [service.name, () => work(service, n++)];
  });
  const times = await medianTimesMs(count, Object.fromEntries(numbered));
  return new Map(services.map((service) => [service, (times[service.name] ?? Number.NaN) / 1000]));
}

async function redirect({ url }: SizedService, code: string): Promise<void> {
  const { status } = await fetch(`${url}/${code}`, { redirect: 'manual' });
  if (status !== 302) throw new Error(`a redirect was answered with ${status} instead of 302`);
}

async function read({ url, largeAccount }: SizedService, path: string, { key } = largeAccount): Promise<void> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`);
}

/**
 * The CPU time per redirect at a steady rate. Most redirects are of codes in the edge's memory; every one is by a new
 * visitor, which adds a row to the index of visitors.
 */
async function redirectCpuSeconds(stack: BenchStack, services: SizedService[], onStep: OnStep) {
  const costs = new Map(services.map((service) => [service, [] as number[]]));
  // Round 0 warms up.
  for (let round = 0; round <= repetitions.redirectRounds; round++) {
    onStep(`redirects at ${rate.toLocaleString('en')}/s, round ${round} of ${repetitions.redirectRounds}`);
    for (const service of services) {
      const targets = targetsOf(service);
      const before = await cpuSecondsOf(service);
      const count = await loadRedirects(stack, service.url, targets, { seconds: 3, rate });
      const after = await cpuSecondsOf(service);
      if (round > 0) costs.get(service)?.push((after - before) / count);
    }
  }
  return new Map([...costs].map(([service, values]) => [service, median(values)]));
}

function targetsOf(service: SizedService): string[] {
  const cached = Math.min(service.codes / 2, 100_000);
  return Array.from({ length: cached }, (_, n) =>
    shortCode(n % uncachedEvery === 0 ? anyCode(service) : 1 + Math.floor(Math.random() * cached)),
  );
}

/** The CPU time so far of the edge and of its connections' Postgres backends. */
async function cpuSecondsOf({ sql, pid }: SizedService): Promise<number> {
  const backends = await sql<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'scanlog%'`;
  return [pid, ...backends.map((backend) => backend.pid)].reduce((sum, one) => sum + cpuSeconds(one), 0);
}
