import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../src/config.ts';
import { connectWarehouse } from '../src/warehouse/connect.ts';
import { warmUp } from '../src/warehouse/warm-up.ts';
import { type Ground, load } from './ground.ts';
import { codeId, makeWorld, modestCodes, shortCode, type World } from './growth-world.ts';
import { cpuSeconds } from './process.ts';
import { type BenchRow, type Bounds, median, rowOf } from './row.ts';
import { takeTurns } from './turns.ts';

const rate = 2_000;
/** Among redirects of codes that the edge knows, one in so many is of any code at all. */
const anyEvery = 20;
/** What a read takes is some hundred microseconds: many turns, though no more than an account may ask for in a minute. */
const turns = { read: 250, cold: 400, search: 15, summary: 15 };

/** What is found by its key must not notice what else there is, except for a level more of an index now and then. */
const byKey: Bounds = { target: 2, goal: 1.2, kind: 'most', unit: ' ×' };
/** A summary of all a code's scans: 100 or 10,000 times as many, in more hours and days. It follows these, not scans. */
const byGroups: Bounds = { target: 5, goal: 2, kind: 'most', unit: ' ×' };

interface Options {
  codes?: number;
  scans?: number;
  onStep?(step: string): void;
}

/** What redirects and reads cost with a thousand scans and codes, and with thousands of times as many. */
export async function benchGrowth(
  ground: Ground,
  {
    codes = Number(process.env['SCANLOG_BENCH_CODES'] ?? 1_000_000),
    scans = Number(process.env['SCANLOG_BENCH_SCANS'] ?? 10_000_000),
    onStep = () => {},
  }: Options = {},
): Promise<BenchRow[]> {
  const few = 1_000;
  const sizes = [
    { name: `${name(few)} of both`, codes: few, scans: few },
    { name: `${name(scans / 100)} scans`, codes: few, scans: Math.max(few, Math.round(scans / 100)) },
    { name: `${name(scans)} scans`, codes: few, scans },
    { name: `${name(codes)} codes`, codes, scans: few },
  ];
  const warehouse = connectWarehouse({ ...readConfig({}), clickhouseUrl: ground.clickhouseUrl });
  await warmUp(warehouse);
  await warehouse.client.close();
  const worlds: World[] = [];
  try {
    for (const size of sizes) worlds.push(await makeWorld(ground, size, onStep));
    const [smallest] = worlds as [World, ...World[]];
    const rows: BenchRow[] = [];
    const compare = (what: string, figures: Map<World, number>, boundsOf: (world: World) => Bounds) => {
      const least = figures.get(smallest) ?? Number.NaN;
      for (const [world, value] of figures)
        if (world !== smallest)
          rows.push(
            rowOf(
              {
                what: `${what}, ${world.name}`,
                figure: written(value),
                against: `${smallest.name}: ${written(least)}`,
                ratio: value / least,
                value: value / least,
              },
              boundsOf(world),
            ),
          );
    };

    onStep('redirects of codes asked for the first time');
    compare(
      'redirect, code not in memory',
      await inTurn(worlds, turns.cold, (world, turn) => redirect(world, coldCode(world, turn))),
      () => byKey,
    );
    compare('redirect: CPU of edge and Postgres', await redirectCosts(ground, worlds, onStep), () => byKey);
    onStep('reads of codes');
    compare(
      'GET /v1/qrcodes/:id',
      await inTurn(worlds, turns.read, (world) => read(world, `/v1/qrcodes/${codeId(any(world))}`)),
      () => byKey,
    );
    onStep('lists');
    compare(
      'first page of the list',
      await inTurn(worlds, turns.read, (world) => read(world, '/v1/qrcodes')),
      () => byKey,
    );
    // A search looks at each code of its owner: no index of ours knows pieces of words. So it may grow as they do, and
    // no faster; who has as few as before must not notice the others.
    const search = (world: World, who: World['owner']) =>
      read(world, `/v1/qrcodes?q=${encodeURIComponent(who.rareWord)}`, who);
    compare('list with q', await inTurn(worlds, turns.search, (world) => search(world, world.owner)), (world) => ({
      ...byKey,
      ...(world.codes > smallest.codes ? { target: world.codes / few, goal: world.codes / few / 4 } : {}),
    }));
    compare(
      `list with q by somebody with ${name(modestCodes)} codes`,
      await inTurn(worlds, turns.search * 4, (world) => search(world, world.modest)),
      () => byKey,
    );
    onStep('summaries');
    compare(
      'summary of one code',
      await inTurn(worlds, turns.summary, (world) => read(world, `/v1/qrcodes/${codeId(scanned(world))}/analytics`)),
      (world) => (world.scans > smallest.scans ? byGroups : byKey),
    );
    return rows;
  } finally {
    for (const world of worlds) await world.stop();
  }
}

const name = (count: number) =>
  count >= 1e6 ? `${count / 1e6} M` : count >= 1e3 ? `${count / 1e3} k` : count.toLocaleString('en');

/** In seconds; shown in what reads best. */
const written = (seconds: number) =>
  seconds < 0.001 ? `${Math.round(seconds * 1e6)} µs` : `${(seconds * 1e3).toFixed(seconds < 0.01 ? 2 : 0)} ms`;

/** The edge begins with half of the codes, if they are not too many. The others are asked for once. */
const coldCode = (world: World, turn: number) => shortCode(world.codes - turn);
const any = (world: World) => 1 + Math.floor(Math.random() * world.codes);
/** One that has scans: where there are many codes, most have none. */
const scanned = (world: World) => 1 + Math.floor(Math.random() * Math.min(world.codes, world.scans));

/** The median of how long it takes in each world, one after the other. */
async function inTurn(
  worlds: World[],
  repetitions: number,
  work: (world: World, turn: number) => Promise<unknown>,
): Promise<Map<World, number>> {
  for (const { sql } of worlds) await sql`UPDATE rate_windows SET used = 0`;
  const counted = worlds.map((world): [string, () => Promise<unknown>] => {
    let turn = 0;
    return [world.name, () => work(world, turn++)];
  });
  const took = await takeTurns(repetitions, Object.fromEntries(counted));
  return new Map(worlds.map((world) => [world, (took[world.name] ?? Number.NaN) / 1000]));
}

async function redirect({ url }: World, code: string): Promise<void> {
  const { status } = await fetch(`${url}/${code}`, { redirect: 'manual' });
  if (status !== 302) throw new Error(`a redirect was answered with ${status}`);
}

async function read({ url, owner }: World, path: string, { key } = owner): Promise<void> {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${text}`);
}

/**
 * At a steady rate, over codes that the edge began with, and now and then any other; each by somebody new, whom the
 * index of visitors takes.
 */
async function redirectCosts(ground: Ground, worlds: World[], onStep: (step: string) => void) {
  const [repetitions, seconds] = [5, 3];
  const costs = new Map(worlds.map((world) => [world, [] as number[]]));
  for (let round = 0; round <= repetitions; round++) {
    onStep(`redirects at ${rate.toLocaleString('en')}/s, round ${round} of ${repetitions}`);
    for (const world of worlds) {
      const known = Math.min(world.codes / 2, 100_000);
      const paths = Array.from(
        { length: known },
        (_, n) => `/${shortCode(n % anyEvery === 0 ? any(world) : 1 + Math.floor(Math.random() * known))}`,
      );
      const targets = join(ground.folder, 'targets.json');
      writeFileSync(targets, JSON.stringify(paths.map((path) => ({ path, authorization: 'none' }))));
      const before = await spent(world);
      const { statuses } = await load(`${world.url}/`, { connections: 64, seconds, rate, targets });
      const after = await spent(world);
      const others = Object.keys(statuses).filter((status) => status !== '302');
      if (others.length > 0) throw new Error(`redirects were answered with ${others.join(', ')}, too`);
      // The first round is for warming up.
      if (round > 0) costs.get(world)?.push((after - before) / (statuses['302'] ?? 0));
    }
  }
  return new Map([...costs].map(([world, values]) => [world, median(values)]));
}

/** What the edge and its connections to Postgres have taken so far. */
async function spent({ sql, pid }: World): Promise<number> {
  const backends = await sql<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'scanlog%'`;
  return [pid, ...backends.map((backend) => backend.pid)].reduce((sum, one) => sum + cpuSeconds(one), 0);
}
