import { setTimeout as sleep } from 'node:timers/promises';
import { replayAnalytics } from '../stream/replay-analytics.ts';
import { type ServerName, withHalfClosed, withResets, withStalledConnections } from './broken-connections.ts';
import {
  withClickHouseInTrouble,
  withClickHouseStanding,
  withFailover,
  withoutClickHouse,
  withoutNats,
  withoutNatsLeader,
  withoutPostgres,
  withoutService,
  withoutStreamStorage,
  withoutWarehouseStorage,
  withPostgresStanding,
  withReceiver,
  withServiceRestartedAlone,
  withServiceStanding,
} from './faults.ts';
import type { Stage } from './given-world.ts';
import type { Which } from './proxy.ts';
import type { Mood } from './receiver.ts';
import type { Attempt } from './scanner.ts';
import type { ServiceProcess } from './service-process.ts';
import type { World } from './world.ts';

/** One fault, as it strikes at random. */
export interface Strike<W = World> {
  name: string;
  strike(world: W, service: ServiceProcess, attempts: Attempt[]): Promise<void>;
}

const awayMs = 6_000;
/** Long enough for the small spool; if that does not fill it, the table shows no 503. */
const fillWithinMs = 20_000;
export const anyTime = (most: number) => () => sleep(Math.random() * most);

const receiving = (name: string, mood: Mood): Strike<Pick<World, 'receiver'>> => ({
  name: `the webhook’s receiver ${name}`,
  strike: (world) => withReceiver(world, mood, anyTime(3_000)),
});

const breakForMs = 3_000;
const oneOrAll = (): Which => (Math.random() < 0.5 ? 'one' : 'all');

export const breakingConnections = (label: string, servers: ServerName[]): Strike<Pick<World, 'proxies'>>[] => [
  {
    name: `connections to ${label} reset one by one`,
    strike: (world) => withResets(world, servers, 'one', () => sleep(breakForMs)),
  },
  {
    name: `connections to ${label} reset all at once`,
    strike: (world) => withResets(world, servers, 'all', () => sleep(breakForMs)),
  },
  {
    name: `connections to ${label} half-closed`,
    strike: (world) => withHalfClosed(world, servers, oneOrAll(), anyTime(breakForMs)),
  },
  {
    name: `connections to ${label} stalled`,
    strike: (world) => withStalledConnections(world, servers, oneOrAll(), anyTime(breakForMs)),
  },
];

export const receiverStrikes = [
  receiving('hangs', 'hanging'),
  receiving('cuts connections', 'cutting'),
  receiving('answers 500', 'failing'),
  receiving('redirects', 'redirecting'),
  receiving('answers with 10 MB', 'flooding'),
];

export const strikes: Strike[] = [
  ...breakingConnections('Postgres', ['postgres']),
  ...breakingConnections('NATS', ['nats']),
  ...breakingConnections('ClickHouse', ['clickhouse']),
  ...breakingConnections('all servers', ['postgres', 'nats', 'clickhouse']),
  { name: 'kill -9 of a service', strike: (_, service) => withoutService(service, anyTime(2_000)) },
  { name: 'a service stands still', strike: (_, service) => withServiceStanding(service, anyTime(3_000)) },
  { name: 'kill -9 of Postgres, 6 s away', strike: (world) => withoutPostgres(world, () => sleep(awayMs)) },
  { name: 'Postgres stands still', strike: (world) => withPostgresStanding(world, anyTime(4_000)) },
  {
    name: 'Postgres primary killed, synchronous replica promoted',
    strike: (world) => withFailover(world, anyTime(2_000)),
  },
  { name: 'kill -9 of NATS', strike: (world) => withoutNats(world, anyTime(2_000)) },
  { name: 'kill -9 of NATS, its storage deleted', strike: (world) => withoutStreamStorage(world, anyTime(2_000)) },
  {
    name: 'leader of a three-node NATS cluster killed',
    strike: (world) => withoutNatsLeader(world, anyTime(4_000)),
  },
  { name: 'kill -9 of ClickHouse', strike: (world) => withoutClickHouse(world, anyTime(2_000)) },
  {
    name: 'kill -9 of ClickHouse, its data deleted',
    strike: (world) => withoutWarehouseStorage(world, anyTime(2_000)),
  },
  { name: 'ClickHouse stands still', strike: (world) => withClickHouseStanding(world, anyTime(4_000)) },
  {
    name: 'ClickHouse answers as a cluster in trouble',
    strike: (world) => withClickHouseInTrouble(world, anyTime(4_000)),
  },
  { name: 'two replays of analytics at once', strike: replayTwice },
  {
    name: 'a spool full, Postgres away',
    strike: (world, _, attempts) => withoutPostgres(world, () => untilRefused(attempts)),
  },
  {
    name: 'a service restarted without Postgres',
    strike: (world, service) => withServiceRestartedAlone(world, service, anyTime(4_000)),
  },
  ...receiverStrikes,
];

async function untilRefused(attempts: Attempt[]): Promise<void> {
  const from = attempts.length;
  const deadline = performance.now() + fillWithinMs;
  const isRefused = ({ outcome }: Attempt) => outcome === 503;
  while (performance.now() < deadline && !attempts.slice(from).some(isRefused)) await sleep(50);
  await anyTime(1_000)();
}

/** One may refuse, or find the warehouse just being made anew; what counts is what is there at the end. */
export async function replayTwice({ sql, clickhouse }: Pick<Stage, 'sql' | 'clickhouse'>): Promise<void> {
  if (clickhouse === undefined) return;
  const replays = [1, 2].map(() => replayAnalytics({ sql, warehouse: clickhouse.warehouse }));
  await Promise.allSettled(replays);
}
