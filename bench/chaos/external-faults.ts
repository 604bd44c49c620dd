import { setTimeout as sleep } from 'node:timers/promises';
import type { ExternalWorld } from './external-world.ts';
import { withoutService, withServiceFrozen } from './faults.ts';
import { brokenConnections, type Fault, type Pause, receiverFaults, replayTwice, upTo } from './stack-faults.ts';

const terminateForMs = 3_000;
const maxPauseMs = 600;

const labels = { postgres: 'Postgres', nats: 'NATS', clickhouse: 'ClickHouse' };

/** Faults of the services and their connections only: external servers are never broken. */
export const externalFaults = ({ proxied }: ExternalWorld, pause: Pause): Fault<ExternalWorld>[] => [
  ...proxied.flatMap((server) => brokenConnections(pause, labels[server], [server])),
  { name: 'kill -9 of a service', inject: (_, service) => withoutService(service, upTo(pause, 2_000)) },
  { name: 'a service frozen (SIGSTOP)', inject: (_, service) => withServiceFrozen(service, upTo(pause, 3_000)) },
  { name: 'Postgres terminates connections repeatedly', inject: (world) => terminateConnections(world, pause) },
  { name: 'two replays of analytics at once', inject: replayTwice },
  ...receiverFaults(pause),
];

/** Terminates only the services' connections: nothing else uses the database of this run. */
async function terminateConnections({ sql }: ExternalWorld, pause: Pause): Promise<void> {
  let isOver = false;
  const ended = pause(terminateForMs).then(() => {
    isOver = true;
  });
  while (!isOver) {
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> 'chaos'`;
    await sleep(Math.random() * maxPauseMs);
  }
  await ended;
}
