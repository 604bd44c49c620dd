import { setTimeout as sleep } from 'node:timers/promises';
import type { ExternalWorld } from './external-world.ts';
import { withoutService, withServiceFrozen } from './faults.ts';
import { brokenConnections, type Fault, receiverFaults, replayTwice, upTo } from './stack-faults.ts';

const terminateForMs = 3_000;
const maxPauseMs = 600;

const labels = { postgres: 'Postgres', nats: 'NATS', clickhouse: 'ClickHouse' };

/** Faults of the services and their connections only: external servers are never broken. */
export const externalFaults = ({ proxied }: ExternalWorld): Fault<ExternalWorld>[] => [
  ...proxied.flatMap((server) => brokenConnections(labels[server], [server])),
  { name: 'kill -9 of a service', inject: (_, service) => withoutService(service, upTo(2_000)) },
  { name: 'a service frozen (SIGSTOP)', inject: (_, service) => withServiceFrozen(service, upTo(3_000)) },
  { name: 'Postgres terminates connections repeatedly', inject: terminateConnections },
  { name: 'two replays of analytics at once', inject: replayTwice },
  ...receiverFaults,
];

/** Terminates only the services' connections: nothing else uses the database of this run. */
async function terminateConnections({ sql }: ExternalWorld): Promise<void> {
  const deadline = performance.now() + terminateForMs;
  while (performance.now() < deadline) {
    await sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> 'chaos'`;
    await sleep(Math.random() * maxPauseMs);
  }
}
