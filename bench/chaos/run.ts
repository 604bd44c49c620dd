import { setTimeout as sleep } from 'node:timers/promises';
import type { Durability } from '../../src/edge/spool/held-responses.ts';
import { type Verification, verify } from '../../src/maintenance/verify.ts';
import { accountForScans, type ScanAccounting } from './accounting.ts';
import type { BaseWorld } from './base-world.ts';
import { accountForDeliveries, makeDeliveriesDue, type WebhookAccounting } from './deliveries.ts';
import { type EmptiedMonth, emptyMonth } from './empty-month.ts';
import { accountForFeed, type EventReader, type FeedAccounting, startEventReader } from './event-reader.ts';
import { externalFaults } from './external-faults.ts';
import { type ExternalServers, startExternalWorld } from './external-world.ts';
import { interruptReplay } from './interrupted-replay.ts';
import { type Maintenance, type MaintenanceResult, startMaintenance } from './maintenance.ts';
import { type Attempt, outcomesOf, startScanning } from './scanner.ts';
import type { ServiceProcess } from './service-process.ts';
import { type Fault, type Pause, stackFaults } from './stack-faults.ts';
import { startWorld } from './world.ts';

/** The limit of one service's spool, small enough to fill while Postgres is down. */
const smallSpoolBytes = 400_000;
const minPauseMs = 500;
const maxPauseMs = 3_000;
const settleTimeoutMs = 240_000;

/** What happened during one kind of fault. */
export interface FaultResult {
  fault: string;
  times: number;
  redirected: number;
  refused: number;
  unanswered: number;
  lost: number;
  duplicated: number;
}

export interface ChaosResult {
  faults: FaultResult[];
  total: ScanAccounting;
  webhook: WebhookAccounting;
  /** Replays of the webhook under way when all services were killed. */
  interruptedReplays: number;
  feed: FeedAccounting;
  month: EmptiedMonth;
  /** Undefined without `maintenance`. */
  maintenance: MaintenanceResult | undefined;
  verification: Verification;
  /** Whether every redirect is exactly one scan in the log, the counters, the warehouse, the webhook and the feed. */
  isClean: boolean;
}

/** What a run has done so far. */
export interface Progress {
  /** Kinds of faults. */
  faults: number;
  redirected: number;
  interruptedReplays: number;
}

interface Options {
  /** Called before each fault. */
  isOver(progress: Progress): boolean;
  onStep?(step: string): void;
  /** Multiplies how long faults and the pauses between them last. */
  pace?: number;
  /** The number of concurrent clients. */
  clients?: number;
  /** The pause of a client between two scans. */
  scanPauseMs?: number;
  /** Of both services; by default the first has `disk` and the second `log`. */
  durability?: Durability | undefined;
  /** Runs backups and verifications all the time, with a new partition every minute; on an embedded stack only. */
  maintenance?: boolean;
  /** Runs on these servers, without breaking them, instead of on an embedded stack. */
  servers?: ExternalServers | undefined;
}

interface FaultRun {
  times: number;
  attempts: Attempt[];
}

/**
 * Injects faults at random into an embedded stack and two services under load, then accounts for every redirect: each
 * must be in the log once, counted once, in the warehouse once, delivered to the webhook under one id, also by a replay, and
 * received once, in order, by a reader of the event feed. With external servers only the services and their connections are
 * broken.
 */
export async function runChaos({ servers, onStep = () => {}, pace = 1, ...options }: Options): Promise<ChaosResult> {
  const pause = (ms: number) => sleep(ms * pace);
  const run = { onStep, pause, ...options };
  onStep(servers === undefined ? 'starting a stack and two services' : 'starting two services');
  if (servers !== undefined) {
    const world = await startExternalWorld(servers);
    return runOn(world, externalFaults(world, pause), run);
  }
  const world = await startWorld({ withWarehouse: true, withWebhook: true, withNatsCluster: true });
  return runOn(world, stackFaults(pause), run, options.maintenance ? () => startMaintenance(world) : undefined);
}

interface Run extends Pick<Options, 'isOver' | 'clients' | 'scanPauseMs' | 'durability'> {
  onStep(step: string): void;
  pause: Pause;
}

async function runOn<W extends BaseWorld>(
  world: W,
  faults: Fault<W>[],
  run: Run,
  maintain?: () => Maintenance,
): Promise<ChaosResult> {
  const { onStep, durability } = run;
  let running: Maintenance | undefined;
  let reader: EventReader | undefined;
  try {
    const services = [
      await world.service({ EDGE_DURABILITY: durability ?? 'disk' }),
      await world.service({ EDGE_DURABILITY: durability ?? 'log', SPOOL_MAX_BYTES: String(smallSpoolBytes) }),
    ];
    await Promise.all(services.map((service) => service.start()));
    reader = startEventReader(
      services.map(({ port }) => port),
      world.key,
    );
    running = maintain?.();
    const { faultRuns, attempts, interruptedReplays } = await injectFaults(world, services, faults, run);
    const maintenance = await running?.stop();
    onStep('waiting until every scan is stored, counted, delivered and in the feed');
    const { total, webhook, feed } = await settle(world, attempts, reader);
    await reader.stop();
    const results = await Promise.all([...faultRuns].map(([fault, faultRun]) => resultOf(world, fault, faultRun)));
    onStep('deleting the only code scanned in a month');
    const month = await emptyMonth(world, settleTimeoutMs);
    const verification = await verifyAll(world);
    const isClean =
      isExact(total) &&
      isDelivered(webhook) &&
      isFed(feed) &&
      Object.values(month).every(Boolean) &&
      isMaintained(maintenance) &&
      verification.differences.length === 0;
    return { faults: results, total, webhook, interruptedReplays, feed, month, maintenance, verification, isClean };
  } finally {
    await running?.stop();
    await reader?.stop();
    await world.stop();
  }
}

/**
 * Injects one fault after another in random order, each once before any is repeated. Each turn begins with the fault that
 * every run must have: a replay that is interrupted, and a reader of the feed that loses its connection. The faults that
 * follow hit the rest of the replay.
 */
async function injectFaults<W extends BaseWorld>(
  world: W,
  services: ServiceProcess[],
  faults: Fault<W>[],
  { isOver, onStep, pause, clients = 32, scanPauseMs = 20 }: Run,
): Promise<{ faultRuns: Map<string, FaultRun>; attempts: Attempt[]; interruptedReplays: number }> {
  const ports = services.map(({ port }) => port);
  const scanner = startScanning({ ports, codes: await world.codes(10), connections: clients, pauseMs: scanPauseMs });
  const faultRuns = new Map<string, FaultRun>();
  let interruptedReplays = 0;
  const first: Fault<W> = {
    name: 'kill -9 of all services during a replay',
    inject: async () => {
      if (await interruptReplay(world, services)) interruptedReplays++;
    },
  };
  const recordRun = async (name: string, work: () => Promise<unknown>) => {
    const from = scanner.attempts.length;
    await work();
    const faultRun = faultRuns.get(name) ?? { times: 0, attempts: [] };
    faultRuns.set(name, {
      times: faultRun.times + 1,
      attempts: [...faultRun.attempts, ...scanner.attempts.slice(from)],
    });
  };
  const progress = (): Progress => ({
    faults: [...faultRuns.keys()].filter((name) => name !== 'none').length,
    redirected: outcomesOf(scanner.attempts).get(302) ?? 0,
    interruptedReplays,
  });
  try {
    const rest = () => pause(minPauseMs + Math.random() * (maxPauseMs - minPauseMs));
    await recordRun('none', rest);
    while (!isOver(progress())) {
      for (const { name, inject } of [first, ...shuffled(faults)]) {
        if (isOver(progress())) break;
        const service = services[Math.floor(Math.random() * services.length)] as ServiceProcess;
        onStep(name);
        await recordRun(name, () => inject(world, service, scanner.attempts));
        await recordRun('none', rest);
      }
    }
  } finally {
    await scanner.stop();
  }
  return { faultRuns, attempts: scanner.attempts, interruptedReplays };
}

const shuffled = <T>(items: T[]): T[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);

const isExact = ({ lost, duplicated, logged, counted, unique }: ScanAccounting) =>
  lost === 0 && duplicated === 0 && counted === logged && unique === logged;
const isDelivered = ({ undelivered, inconsistentIds, unfinishedReplays }: WebhookAccounting) =>
  undelivered === 0 && inconsistentIds === 0 && unfinishedReplays === 0;
/** Faults end some commands, but not all of them. */
const isMaintained = (result: MaintenanceResult | undefined) =>
  result === undefined || (result.backups > 0 && result.verifications > 0);
const isFed = ({ missing, repeated, inOrder }: FeedAccounting) => missing === 0 && repeated === 0 && inOrder;

async function settle(
  { sql, box, receiver }: BaseWorld,
  attempts: Attempt[],
  reader: EventReader,
): Promise<{ total: ScanAccounting; webhook: WebhookAccounting; feed: FeedAccounting }> {
  if (receiver === undefined) throw new Error('this world has no webhook');
  let fewestLeft = Number.POSITIVE_INFINITY;
  let deadline = performance.now() + settleTimeoutMs;
  for (;;) {
    const started = performance.now();
    await makeDeliveriesDue(sql);
    const total = await accountForScans({ sql, box }, attempts);
    const webhook = await accountForDeliveries(sql, receiver);
    const feed = await accountForFeed(sql, reader);
    const isSettled = isExact(total) && isDelivered(webhook) && isFed(feed);
    // A slow machine may take longer, as long as it gets on.
    const left = total.lost + total.logged - total.counted + webhook.undelivered + feed.missing - webhook.replayed;
    if (left < fewestLeft) deadline = started + settleTimeoutMs;
    fewestLeft = Math.min(fewestLeft, left);
    if (isSettled || performance.now() > deadline) return { total, webhook, feed };
    // The proxies and the webhook's receiver share this event loop.
    await sleep(Math.max(1_000, 3 * (performance.now() - started)));
  }
}

async function resultOf(world: BaseWorld, fault: string, { times, attempts }: FaultRun): Promise<FaultResult> {
  const outcomes = outcomesOf(attempts);
  const { lost, duplicated } = await accountForScans(world, attempts);
  const count = (outcome: Attempt['outcome']) => outcomes.get(outcome) ?? 0;
  return {
    fault,
    times,
    redirected: count(302),
    refused: count(503),
    unanswered: count('no response'),
    lost,
    duplicated,
  };
}

/** Waits up to `settleTimeoutMs`, because the warehouse may have to be rebuilt first. */
const verifyAll = ({ sql, clickhouse }: BaseWorld): Promise<Verification> => {
  if (clickhouse === undefined) throw new Error('this world has no warehouse');
  return verify({ sql, warehouse: clickhouse.warehouse, catchUpTimeoutMs: settleTimeoutMs });
};
