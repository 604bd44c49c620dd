import { setTimeout as sleep } from 'node:timers/promises';
import { type Verification, verify } from '../stream/verify.ts';
import { type Reckoning, reckon } from './accounting.ts';
import { hurryDeliveries, type Told, tellingOf } from './deliveries.ts';
import { type EmptiedMonth, emptyMonth } from './empty-month.ts';
import { givenStrikes } from './given-strikes.ts';
import { type GivenServers, type Stage, startGivenWorld } from './given-world.ts';
import { type Attempt, outcomesOf, startScanning } from './scanner.ts';
import type { ServiceProcess } from './service-process.ts';
import { type Strike, strikes } from './strikes.ts';
import { startWorld } from './world.ts';

/** One of the services has little room, so that its spool fills while Postgres is away. */
const smallSpool = 400_000;
const calmMs = { least: 500, most: 3_000 };
const settleWithinMs = 240_000;

/** What happened under one kind of fault. */
export interface Survived {
  fault: string;
  times: number;
  redirected: number;
  refused: number;
  unanswered: number;
  lost: number;
  doubled: number;
}

export interface ChaosResult {
  faults: Survived[];
  total: Reckoning;
  told: Told;
  month: EmptiedMonth;
  verification: Verification;
  /** Whether every redirect is exactly one scan, everywhere. */
  isClean: boolean;
}

interface Options {
  isOver(): boolean;
  onStep?(step: string): void;
  /** Clients that scan at the same time. */
  clients?: number;
  /** Servers to run on, which stay as they are, instead of a stack to break. */
  servers?: GivenServers | undefined;
}

interface Tally {
  times: number;
  attempts: Attempt[];
}

/**
 * Breaks a stack and two services of its own, or with given servers only the services and their connections, again and again and at random moments, while scans go on, and then looks for
 * every scan that was answered with a redirect: each must be in the log once, counted once, in the warehouse once, and
 * told to the webhook under one id.
 */
export async function runChaos({ servers, onStep = () => {}, ...options }: Options): Promise<ChaosResult> {
  onStep(`starting ${servers === undefined ? 'a stack and ' : ''}two services of their own`);
  if (servers !== undefined) {
    const world = await startGivenWorld(servers);
    return runOn(world, givenStrikes(world), { onStep, ...options });
  }
  const world = await startWorld({ withWarehouse: true, withWebhook: true, withNatsCluster: true });
  return runOn(world, strikes, { onStep, ...options });
}

interface Run extends Pick<Options, 'isOver' | 'clients'> {
  onStep(step: string): void;
}

async function runOn<W extends Stage>(world: W, faults: Strike<W>[], run: Run): Promise<ChaosResult> {
  const { onStep } = run;
  try {
    const services = [await world.service(), await world.service({ SPOOL_MAX_BYTES: String(smallSpool) })];
    await Promise.all(services.map((service) => service.start()));
    const { tallies, attempts } = await breakAll(world, services, faults, run);
    onStep('waiting until everything is sent, counted and told');
    const { total, told } = await settle(world, attempts);
    const survivals = await Promise.all([...tallies].map(([fault, tally]) => survived(world, fault, tally)));
    onStep('deleting the only code of a month');
    const month = await emptyMonth(world, settleWithinMs);
    const verification = await verifyAll(world);
    const isClean =
      isExact(total) && isTold(told) && Object.values(month).every(Boolean) && verification.differences.length === 0;
    return { faults: survivals, total, told, month, verification, isClean };
  } finally {
    await world.stop();
  }
}

/** Strikes with one fault after another, in random order, all of them once before any is twice. */
async function breakAll<W extends Stage>(
  world: W,
  services: ServiceProcess[],
  faults: Strike<W>[],
  { isOver, onStep, clients = 32 }: Run,
): Promise<{ tallies: Map<string, Tally>; attempts: Attempt[] }> {
  const ports = services.map(({ port }) => port);
  const scanner = startScanning({ ports, codes: await world.codes(10), connections: clients, pauseMs: 20 });
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
        onStep(name);
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
const isTold = ({ untold, renamed }: Told) => untold === 0 && renamed === 0;

async function settle({ sql, box, receiver }: Stage, attempts: Attempt[]): Promise<{ total: Reckoning; told: Told }> {
  if (receiver === undefined) throw new Error('this world has no webhook');
  const deadline = performance.now() + settleWithinMs;
  for (;;) {
    const started = performance.now();
    await hurryDeliveries(sql);
    const total = await reckon({ sql, box }, attempts);
    const told = await tellingOf(sql, receiver);
    if ((isExact(total) && isTold(told)) || performance.now() > deadline) return { total, told };
    // The proxies and the webhook's receiver need this process too.
    await sleep(Math.max(1_000, 3 * (performance.now() - started)));
  }
}

async function survived(stage: Stage, fault: string, { times, attempts }: Tally): Promise<Survived> {
  const outcomes = outcomesOf(attempts);
  const { lost, doubled } = await reckon(stage, attempts);
  const count = (outcome: Attempt['outcome']) => outcomes.get(outcome) ?? 0;
  return {
    ...{ fault, times, redirected: count(302), refused: count(503), unanswered: count('no answer') },
    ...{ lost, doubled },
  };
}

/** The warehouse may have to be made anew first. */
const verifyAll = ({ sql, clickhouse }: Stage): Promise<Verification> => {
  if (clickhouse === undefined) throw new Error('there is no warehouse to verify');
  return verify({ sql, warehouse: clickhouse.warehouse, patienceMs: settleWithinMs });
};
