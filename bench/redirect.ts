import { join } from 'node:path';
import type { GivenRule } from '../events/targeting/rule-ids.ts';
import type { When } from '../events/targeting/targeting-schema.ts';
import { createCodes } from '../src/codes/create.ts';
import { connect } from '../src/log/connect.ts';
import { type BenchStack, type Load, load, startPeer } from './bench-stack.ts';
import { machineRows } from './machine.ts';
import { cpuSecondsOfTree } from './process.ts';
import { type BenchRow, boundedRow, median, ms, perSecond, unboundedRow } from './row.ts';

const connections = 256;
const latencyRates = [200, 1_000, 2_000];
/** Total rates, the second about half of what one edge can do on two cores: each edge gets a quarter of it. */
const scalingRates = [3_000, 8_000];
const maxEdges = 4;
/** How long projections and disk take to settle after full load. */
const settleMs = 2_000;

interface Rounds {
  repetitions: number;
  seconds: number;
  onStep(step: string): void;
}

interface Targets {
  bare: string;
  obvious: string;
  edge: string;
  /** The same edge, and a code with 20 rules, the last of which applies. */
  rules: string;
}

const lead = (when: When, path: string): GivenRule => ({ when, destination_url: `https://example.com/${path}` });
const timezone = 'Europe/Berlin';
/** Of every kind of condition, so that each scan evaluates all of them. */
const twentyRules: GivenRule[] = [
  ...Array.from({ length: 5 }, (_, i) => lead({ countries: ['FR', 'IT', 'ES'] }, `country-${i}`)),
  ...Array.from({ length: 5 }, (_, i) => lead({ languages: ['ja', 'ko'] }, `language-${i}`)),
  ...Array.from({ length: 5 }, (_, i) => lead({ until: `200${i}-01-01T00:00:00.000Z` }, `before-${i}`)),
  ...Array.from({ length: 4 }, (_, i) =>
    lead({ hours: { from: '07:00', to: '11:00' }, timezone, until: `200${i}-01-01T00:00:00.000Z` }, `hours-${i}`),
  ),
  { split: [1, 2, 3].map((weight) => ({ weight, destination_url: `https://example.com/variant-${weight}` })) },
];

/** Creates a code with 20 rules; returns its short code. */
async function createRuledCode({ sql, box, code: { account } }: BenchStack): Promise<string> {
  const request = {
    name: 'Rules',
    destination_url: 'https://example.com/menu',
    short_code: 'bench-rules',
    targeting: { rules: twentyRules },
  };
  const by = { actor: 'operator', now: new Date() };
  await sql.begin((tx) => createCodes(tx, box, { account, mode: 'live' }, [request], by));
  return request.short_code;
}

/**
 * Redirects with every scan durable before its 302 and the whole pipeline running, against the obvious implementation
 * (one INSERT for each redirect) and a bare Elysia 302.
 */
export async function benchRedirect(
  stack: BenchStack,
  { repetitions = 3, seconds = 4, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const rounds = { repetitions, seconds, onStep };
  const { id, account, short_code } = stack.code;
  const ruledCode = await createRuledCode(stack);
  const bare = await startPeer('bare-elysia.ts');
  const obvious = await startPeer('obvious.ts', { DATABASE_URL: stack.databaseUrl, CODE: id, ACCOUNT: account });
  // As with `up`: spool and Postgres share a disk.
  const service = await stack.serve({ settings: { EDGE_DURABILITY: 'disk' } });
  const committing = await stack.serve({
    roles: 'api,edge',
    settings: { EDGE_DURABILITY: 'log', EDGE_DIR: join(stack.folder, 'edges-log') },
  });
  const url = (port: number) => `http://127.0.0.1:${port}/${short_code}`;
  const rules = `http://127.0.0.1:${service.port}/${ruledCode}`;
  const targets = { bare: url(bare.port), obvious: url(obvious.port), edge: url(service.port), rules };
  const log = url(committing.port);
  try {
    const rows = await throughputRows(targets, rounds);
    await reuseWal(stack);
    rows.push(...(await machineRows(stack.folder)));
    for (const rate of latencyRates) rows.push(...(await latencyRows({ ...targets, log }, rate, rounds)));
    await Promise.all([service.stop(), committing.stop()]);
    return [...rows, ...(await scalingRows(stack, rounds))];
  } finally {
    await Promise.all([bare, obvious, service, committing].map(({ stop }) => stop()));
  }
}

/** Loads the targets in turn, so that whatever else the machine does affects all of them. */
async function alternate<Name extends string>(
  targets: Record<Name, string>,
  { repetitions, seconds, onStep }: Rounds,
  { what, ...options }: { what: string; connections: number; rate?: number },
): Promise<Record<Name, Load[]>> {
  const names = Object.keys(targets) as Name[];
  const loads = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Load[]>;
  for (const name of names) await load(targets[name], { ...options, seconds: 2 });
  for (let round = 1; round <= repetitions; round++) {
    onStep(`${what}, round ${round} of ${repetitions}`);
    for (const name of names) loads[name].push(await load(targets[name], { ...options, seconds }));
  }
  return loads;
}

const medianOf = (loads: Load[], figure: 'perSecond' | 'p50' | 'p90' | 'p99') =>
  median(loads.map((one) => one[figure]));

async function throughputRows(targets: Targets, rounds: Rounds): Promise<BenchRow[]> {
  const loads = await alternate({ ...targets }, rounds, { what: 'redirects', connections });
  const [bare, obvious, edge] = [loads.bare, loads.obvious, loads.edge].map((one) => medianOf(one, 'perSecond')) as [
    number,
    number,
    number,
  ];
  const ruled = medianOf(loads.rules, 'perSecond');
  const what = 'redirects/s, every scan durable first, one edge';
  return [
    boundedRow(
      {
        what,
        figure: perSecond(edge),
        against: `one INSERT each: ${perSecond(obvious)}`,
        ratio: edge / obvious,
      },
      { target: 2.5, goal: 4, kind: 'min', unit: ' ×' },
    ),
    boundedRow(
      { what, figure: perSecond(edge), against: `bare Elysia 302: ${perSecond(bare)}`, ratio: edge / bare },
      { target: 0.3, goal: 0.5, kind: 'min' },
    ),
    boundedRow(
      {
        what: 'redirects/s of a code with 20 rules, the last of which applies',
        figure: perSecond(ruled),
        against: `without rules: ${perSecond(edge)}`,
        ratio: ruled / edge,
      },
      { target: 0.9, goal: 0.95, kind: 'min' },
    ),
  ];
}

async function latencyRows(
  { obvious, edge, log }: Targets & { log: string },
  rate: number,
  rounds: Rounds,
): Promise<BenchRow[]> {
  const what = `redirect latency at ${perSecond(rate)}`;
  const loads = await alternate({ obvious, edge, log }, rounds, { what, connections: 64, rate });
  const shown = (one: Load[]) =>
    `${ms(medianOf(one, 'p50'))}, ${ms(medianOf(one, 'p90'))}, ${ms(medianOf(one, 'p99'))}`;
  const compared = (figure: 'p50' | 'p99') => ({
    what: `redirect ${figure} at ${perSecond(rate)} (p50, p90, p99)`,
    figure: shown(loads.edge),
    against: `one INSERT each: ${shown(loads.obvious)}`,
    ratio: medianOf(loads.edge, figure) / medianOf(loads.obvious, figure),
  });
  return [
    boundedRow(compared('p50'), { target: 1, goal: 0.7, kind: 'max', unit: ' ×' }),
    boundedRow(compared('p99'), { target: 1, goal: 0.7, kind: 'max', unit: ' ×' }),
    unboundedRow({
      what: `redirect p50 at ${perSecond(rate)} with EDGE_DURABILITY=log (p50, p90, p99)`,
      figure: shown(loads.log),
      against: `one INSERT each: ${shown(loads.obvious)}`,
      ratio: medianOf(loads.log, 'p50') / medianOf(loads.obvious, 'p50'),
    }),
  ];
}

/**
 * Lets Postgres reuse the WAL files that it has filled so far, as it does once a database has run for a while. Until then, all
 * commits wait about 27 ms for each new file of 16 MB to be filled with zeros, every 2 s at 2,000/s.
 */
async function reuseWal({ adminDatabaseUrl }: BenchStack): Promise<void> {
  const admin = connect(adminDatabaseUrl, { max: 1, name: 'bench-admin', responseTimeoutMs: 'none' });
  await admin`CHECKPOINT`;
  await admin.end();
  await Bun.sleep(settleMs);
}

/** Two cores that are full cannot show that more edges redirect more; that a scan costs the same with each can be seen. */
async function scalingRows(stack: BenchStack, { repetitions, seconds, onStep }: Rounds): Promise<BenchRow[]> {
  const costs = new Map<string, number[]>();
  const costsOf = (edges: number, rate: number) => costs.getOrInsertComputed(`${edges} ${rate}`, () => []);
  for (let round = 1; round <= repetitions; round++) {
    for (const edges of [1, maxEdges]) {
      onStep(`CPU per scan with ${edges} ${edges === 1 ? 'edge' : 'edges'}, round ${round} of ${repetitions}`);
      const service = await stack.serve({ edges, settings: { EDGE_DURABILITY: 'disk' } });
      const url = `http://127.0.0.1:${service.port}/${stack.code.short_code}`;
      // At full load, so that the code of every edge is compiled.
      await load(url, { connections, seconds });
      for (const rate of scalingRates) {
        await Bun.sleep(settleMs);
        costsOf(edges, rate).push(await cpuPerScan(stack, service.pid, url, { rate, seconds: seconds * 2 }));
      }
      await service.stop();
    }
  }
  const micros = (cpuSeconds: number) => `${Math.round(cpuSeconds * 1e6)} µs`;
  return scalingRates.map((rate) => {
    const [one, many] = [median(costsOf(1, rate)), median(costsOf(maxEdges, rate))];
    return boundedRow(
      {
        what: `CPU per scan with ${maxEdges} edges at ${perSecond(rate)}, service and Postgres`,
        figure: micros(many),
        against: `one edge: ${micros(one)}`,
        ratio: many / one,
      },
      { target: 1.1, goal: 1, kind: 'max', unit: ' ×' },
    );
  });
}

async function cpuPerScan(
  { parts }: BenchStack,
  service: number,
  url: string,
  { rate, seconds }: { rate: number; seconds: number },
): Promise<number> {
  const postgres = parts.find(({ name }) => name === 'postgres')?.pid() ?? 0;
  const used = () => cpuSecondsOfTree(service) + cpuSecondsOfTree(postgres);
  const before = used();
  const { perSecond: reached } = await load(url, { connections, rate, seconds });
  return (used() - before) / (reached * seconds);
}
