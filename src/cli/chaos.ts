import { setTimeout as sleep } from 'node:timers/promises';
import { type Reckoning, reckon } from '../chaos/accounting.ts';
import {
  withClickHouseStanding,
  withoutClickHouse,
  withoutNats,
  withoutPostgres,
  withoutService,
  withoutStreamStorage,
  withoutWarehouseStorage,
  withPostgresStanding,
  withServiceRestartedAlone,
  withServiceStanding,
} from '../chaos/faults.ts';
import { type Attempt, outcomesOf, startScanning } from '../chaos/scanner.ts';
import type { ServiceProcess } from '../chaos/service-process.ts';
import { startWorld, type World } from '../chaos/world.ts';
import { StartError } from '../lib/errors.ts';
import { replayAnalytics } from '../stream/replay-analytics.ts';
import { type Verification, verify } from '../stream/verify.ts';
import { untilAskedToStop } from './stopping.ts';
import { dim, say, table } from './terminal.ts';

interface Options {
  minutes: string;
}

/** One of the services has little room, so that its spool fills while Postgres is away. */
const smallSpool = 400_000;
const awayMs = 6_000;
const calmMs = { least: 500, most: 3_000 };
const settleWithinMs = 60_000;

const anyTime = (most: number) => () => sleep(Math.random() * most);

interface Fault {
  name: string;
  strike(world: World, service: ServiceProcess, attempts: Attempt[]): Promise<void>;
}

/** Long enough for the small spool; if that does not fill it, the table shows no 503. */
const fillWithinMs = 20_000;

async function untilRefused(attempts: Attempt[]): Promise<void> {
  const from = attempts.length;
  const deadline = performance.now() + fillWithinMs;
  const isRefused = ({ outcome }: Attempt) => outcome === 503;
  while (performance.now() < deadline && !attempts.slice(from).some(isRefused)) await sleep(50);
  await anyTime(1_000)();
}

const faults: Fault[] = [
  { name: 'kill -9 of a service', strike: (_, service) => withoutService(service, anyTime(2_000)) },
  { name: 'a service stands still', strike: (_, service) => withServiceStanding(service, anyTime(3_000)) },
  { name: 'kill -9 of Postgres, 6 s away', strike: (world) => withoutPostgres(world, () => sleep(awayMs)) },
  { name: 'Postgres stands still', strike: (world) => withPostgresStanding(world, anyTime(4_000)) },
  { name: 'kill -9 of NATS', strike: (world) => withoutNats(world, anyTime(2_000)) },
  { name: 'kill -9 of NATS, its storage deleted', strike: (world) => withoutStreamStorage(world, anyTime(2_000)) },
  { name: 'kill -9 of ClickHouse', strike: (world) => withoutClickHouse(world, anyTime(2_000)) },
  {
    name: 'kill -9 of ClickHouse, its data deleted',
    strike: (world) => withoutWarehouseStorage(world, anyTime(2_000)),
  },
  { name: 'ClickHouse stands still', strike: (world) => withClickHouseStanding(world, anyTime(4_000)) },
  { name: 'two replays of analytics at once', strike: replayTwice },
  {
    name: 'a spool full, Postgres away',
    strike: (world, _, attempts) => withoutPostgres(world, () => untilRefused(attempts)),
  },
  {
    name: 'a service restarted without Postgres',
    strike: (world, service) => withServiceRestartedAlone(world, service, anyTime(4_000)),
  },
];

/** One may refuse, or find the warehouse just being made anew; what counts is what is there at the end. */
async function replayTwice({ sql, clickhouse }: World): Promise<void> {
  if (clickhouse === undefined) return;
  const replays = [1, 2].map(() => replayAnalytics({ sql, warehouse: clickhouse.warehouse }));
  await Promise.allSettled(replays);
}

interface Tally {
  times: number;
  attempts: Attempt[];
}

/**
 * Breaks a stack and two services of its own, again and again and at random moments, while scans go on, and then looks for
 * every scan that was answered with a redirect: each must be in the log once, and counted once.
 */
export async function chaos({ minutes }: Options): Promise<void> {
  if (!/^\d{1,3}(\.\d+)?$/.test(minutes) || Number(minutes) === 0 || Number(minutes) > 120)
    throw new StartError('--minutes must be a number up to 120.');
  const deadline = performance.now() + Number(minutes) * 60_000;
  let asked = false;
  untilAskedToStop().then(() => {
    asked = true;
  });
  say('Starting a stack and two services of their own …');
  const world = await startWorld({ withWarehouse: true });
  try {
    const services = [await world.service(), await world.service({ SPOOL_MAX_BYTES: String(smallSpool) })];
    await Promise.all(services.map((service) => service.start()));
    const { tallies, attempts } = await breakAll(world, services, () => asked || performance.now() > deadline);
    say(dim('Waiting until everything is sent and counted …'));
    const settled = await settle(world, attempts);
    await report(world, tallies, settled);
    reportVerified(await verifyAll(world));
  } finally {
    await world.stop();
  }
}

/** Strikes with one fault after another, in random order, all of them once before any is twice. */
async function breakAll(
  world: World,
  services: ServiceProcess[],
  isOver: () => boolean,
): Promise<{ tallies: Map<string, Tally>; attempts: Attempt[] }> {
  const ports = services.map(({ port }) => port);
  const scanner = startScanning({ ports, codes: await world.codes(10), connections: 32, pauseMs: 20 });
  const tallies = new Map<string, Tally>();
  const count = async (name: string, work: () => Promise<unknown>) => {
    const from = scanner.attempts.length;
    await work();
    const tally = tallies.get(name) ?? { times: 0, attempts: [] };
    tallies.set(name, { times: tally.times + 1, attempts: [...tally.attempts, ...scanner.attempts.slice(from)] });
  };
  try {
    const calm = () => sleep(calmMs.least + Math.random() * (calmMs.most - calmMs.least));
    await count('nothing', calm);
    while (!isOver()) {
      for (const { name, strike } of shuffled(faults)) {
        if (isOver()) break;
        const service = services[Math.floor(Math.random() * services.length)] as ServiceProcess;
        say(dim(`  ${new Date().toISOString().slice(11, 19)}  ${name}`));
        await count(name, () => strike(world, service, scanner.attempts));
        await count('nothing', calm);
      }
    }
  } finally {
    await scanner.stop();
  }
  return { tallies, attempts: scanner.attempts };
}

const shuffled = <T>(items: T[]): T[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

const isExact = ({ lost, doubled, logged, counted, unique }: Reckoning) =>
  lost === 0 && doubled === 0 && counted === logged && unique === logged;

async function settle(world: World, attempts: Attempt[]): Promise<Reckoning> {
  const deadline = performance.now() + settleWithinMs;
  for (;;) {
    const reckoning = await reckon(world.sql, attempts);
    if (isExact(reckoning) || performance.now() > deadline) return reckoning;
    await sleep(500);
  }
}

async function report(world: World, tallies: Map<string, Tally>, total: Reckoning): Promise<void> {
  const rows = [['fault', 'times', '302', '503', 'no answer', 'lost', 'doubled']];
  for (const [name, { times, attempts }] of tallies) {
    const outcomes = outcomesOf(attempts);
    const { lost, doubled } = await reckon(world.sql, attempts);
    const counts = [times, outcomes.get(302), outcomes.get(503), outcomes.get('no answer'), lost, doubled];
    rows.push([name, ...counts.map((count) => String(count ?? 0))]);
  }
  say(`\n${table(rows)}\n`);
  say(
    `${total.redirected} redirects; ${total.logged} scans in the log, ${total.counted} in total_scans, ` +
      `${total.unanswered} of them with no redirect seen; ${total.lost} lost, ${total.doubled} doubled.`,
  );
  if (isExact(total)) return;
  process.exitCode = 1;
  say('This must not be: every redirect has to be exactly one scan.');
}

/** The warehouse may have to be made anew first. */
const verifyAll = ({ sql, clickhouse }: World): Promise<Verification> => {
  if (clickhouse === undefined) throw new Error('there is no warehouse to verify');
  return verify({ sql, warehouse: clickhouse.warehouse, patienceMs: settleWithinMs });
};

function reportVerified({ differences, scans }: Verification): void {
  if (differences.length === 0) {
    say(`${scans} scans: the log, the counters and the warehouse agree.`);
    return;
  }
  process.exitCode = 1;
  say(`${differences.length} differences, such as ${JSON.stringify(differences[0])}.`);
}
