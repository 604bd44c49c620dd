import { setTimeout as sleep } from 'node:timers/promises';
import { withoutService, withServiceStanding } from './faults.ts';
import type { GivenWorld } from './given-world.ts';
import { anyTime, breakingConnections, receiverStrikes, replayTwice, type Strike } from './strikes.ts';

const endForMs = 3_000;

const labels = { postgres: 'Postgres', nats: 'NATS', clickhouse: 'ClickHouse' };

/** Faults of our own services and connections only: given servers stay as they are. */
export const givenStrikes = ({ proxied }: GivenWorld): Strike<GivenWorld>[] => [
  ...proxied.flatMap((server) => breakingConnections(labels[server], [server])),
  { name: 'kill -9 of a service', strike: (_, service) => withoutService(service, anyTime(2_000)) },
  { name: 'a service stands still', strike: (_, service) => withServiceStanding(service, anyTime(3_000)) },
  { name: 'Postgres ends connections again and again', strike: endConnections },
  { name: 'two replays of analytics at once', strike: replayTwice },
  ...receiverStrikes,
];

/** Only of the services of this run: they alone use its database. */
async function endConnections({ sql }: GivenWorld): Promise<void> {
  for (const end = performance.now() + endForMs; performance.now() < end; await sleep(Math.random() * 600))
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> 'chaos'`;
}
