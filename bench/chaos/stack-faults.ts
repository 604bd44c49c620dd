import { setTimeout as sleep } from 'node:timers/promises';
import { replayAnalytics } from '../../src/maintenance/replay-analytics.ts';
import type { BaseWorld } from './base-world.ts';
import { type ServerName, withHalfClosed, withResets, withStalledConnections } from './broken-connections.ts';
import {
  withClickHouseErrors,
  withClickHouseFrozen,
  withFailover,
  withoutClickHouse,
  withoutNats,
  withoutNatsLeader,
  withoutPostgres,
  withoutService,
  withoutStreamStorage,
  withoutWarehouseStorage,
  withPostgresFrozen,
  withReceiverMode,
  withServiceFrozen,
  withServiceRestartedWithoutPostgres,
} from './faults.ts';
import type { Which } from './proxy.ts';
import type { ReceiverMode } from './receiver.ts';
import { type Attempt, startScanning } from './scanner.ts';
import type { ServiceProcess } from './service-process.ts';
import type { World } from './world.ts';

/** One kind of fault; `inject` resolves when it is over. */
export interface Fault<W = World> {
  name: string;
  inject(world: W, service: ServiceProcess, attempts: Attempt[]): Promise<void>;
}

const outageMs = 6_000;
/** Enough for the small spool to fill; if it does not, the result shows no 503. */
const fillTimeoutMs = 20_000;
export const upTo = (maxMs: number) => () => sleep(Math.random() * maxMs);

const receiverFault = (name: string, mode: ReceiverMode): Fault<Pick<World, 'receiver'>> => ({
  name: `the webhook’s receiver ${name}`,
  inject: (world) => withReceiverMode(world, mode, upTo(3_000)),
});

const brokenForMs = 3_000;
const oneOrAll = (): Which => (Math.random() < 0.5 ? 'one' : 'all');

export const brokenConnections = (label: string, servers: ServerName[]): Fault<Pick<World, 'proxies'>>[] => [
  {
    name: `connections to ${label} reset one by one`,
    inject: (world) => withResets(world, servers, 'one', () => sleep(brokenForMs)),
  },
  {
    name: `connections to ${label} reset all at once`,
    inject: (world) => withResets(world, servers, 'all', () => sleep(brokenForMs)),
  },
  {
    name: `connections to ${label} half-closed`,
    inject: (world) => withHalfClosed(world, servers, oneOrAll(), upTo(brokenForMs)),
  },
  {
    name: `connections to ${label} stalled`,
    inject: (world) => withStalledConnections(world, servers, oneOrAll(), upTo(brokenForMs)),
  },
];

export const receiverFaults = [
  receiverFault('hangs', 'hanging'),
  receiverFault('cuts connections', 'cutting'),
  receiverFault('answers 500', 'failing'),
  receiverFault('redirects', 'redirecting'),
  receiverFault('answers with 10 MB', 'flooding'),
];

export const stackFaults: Fault[] = [
  ...brokenConnections('Postgres', ['postgres']),
  ...brokenConnections('NATS', ['nats']),
  ...brokenConnections('ClickHouse', ['clickhouse']),
  ...brokenConnections('all servers', ['postgres', 'nats', 'clickhouse']),
  { name: 'kill -9 of a service', inject: (_, service) => withoutService(service, upTo(2_000)) },
  { name: 'a service frozen (SIGSTOP)', inject: (_, service) => withServiceFrozen(service, upTo(3_000)) },
  { name: 'kill -9 of Postgres, down for 6 s', inject: (world) => withoutPostgres(world, () => sleep(outageMs)) },
  { name: 'Postgres frozen (SIGSTOP)', inject: (world) => withPostgresFrozen(world, upTo(4_000)) },
  {
    name: 'Postgres primary killed, synchronous replica promoted',
    inject: (world) => withFailover(world, upTo(2_000)),
  },
  { name: 'kill -9 of NATS', inject: (world) => withoutNats(world, upTo(2_000)) },
  { name: 'kill -9 of NATS, its storage deleted', inject: (world) => withoutStreamStorage(world, upTo(2_000)) },
  {
    name: 'leader of a three-node NATS cluster killed',
    inject: (world) => withoutNatsLeader(world, upTo(4_000)),
  },
  { name: 'kill -9 of ClickHouse', inject: (world) => withoutClickHouse(world, upTo(2_000)) },
  {
    name: 'kill -9 of ClickHouse, its data deleted',
    inject: (world) => withoutWarehouseStorage(world, upTo(2_000)),
  },
  { name: 'ClickHouse frozen (SIGSTOP)', inject: (world) => withClickHouseFrozen(world, upTo(4_000)) },
  {
    name: 'errors of a ClickHouse cluster',
    inject: (world) => withClickHouseErrors(world, upTo(4_000)),
  },
  { name: 'two replays of analytics at once', inject: replayTwice },
  {
    name: 'a spool full, Postgres down',
    inject: (world, _, attempts) => withoutPostgres(world, () => untilRefused(attempts)),
  },
  {
    name: 'a service restarted without Postgres',
    inject: (world, service) => withServiceRestartedWithoutPostgres(world, service, upTo(4_000)),
  },
  ...receiverFaults,
];

const frozenMs = 10_000;
const recoveryMs = 5_000;

/** The load goes on for some seconds after Postgres continues. */
async function freezeUnderLoad(world: World, { port }: ServiceProcess, attempts: Attempt[]): Promise<void> {
  const codes = [...new Map(attempts.map(({ code }) => [code.id, code])).values()];
  const scanner = startScanning({ ports: [port], codes, connections: 64, pauseMs: 15 });
  try {
    await withPostgresFrozen(world, () => sleep(frozenMs));
    await sleep(recoveryMs);
  } finally {
    await scanner.stop();
    attempts.push(...scanner.attempts);
  }
}

/** Takes 15 s, a quarter of a run of one minute. */
export const longFault: Fault = {
  name: 'Postgres frozen for 10 s at up to 4,000 scans/s, the load going on',
  inject: freezeUnderLoad,
};

async function untilRefused(attempts: Attempt[]): Promise<void> {
  const from = attempts.length;
  const deadline = performance.now() + fillTimeoutMs;
  const isRefused = ({ outcome }: Attempt) => outcome === 503;
  while (performance.now() < deadline && !attempts.slice(from).some(isRefused)) await sleep(50);
  await upTo(1_000)();
}

/** Either replay may fail, for instance during a rebuild; only the final contents of the warehouse matter. */
export async function replayTwice({ sql, clickhouse }: Pick<BaseWorld, 'sql' | 'clickhouse'>): Promise<void> {
  if (clickhouse === undefined) return;
  const replays = [1, 2].map(() => replayAnalytics({ sql, warehouse: clickhouse.warehouse }));
  await Promise.allSettled(replays);
}
