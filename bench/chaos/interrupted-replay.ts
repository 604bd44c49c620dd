import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { startReplay } from '../../src/webhooks/replays.ts';
import type { BaseWorld } from './base-world.ts';
import { withReceiverMode } from './faults.ts';
import type { ServiceProcess } from './service-process.ts';

const waitTimeoutMs = 240_000;

/**
 * Starts a replay of all scans so far and kills all services with `kill -9` while its deliveries wait, then restarts them.
 * Returns whether a replay was interrupted: always, unless an earlier fault still delays deliveries.
 */
export async function interruptReplay(world: BaseWorld, services: ServiceProcess[]): Promise<boolean> {
  const { sql } = world;
  await until(() => exists(sql`SELECT 1 FROM deliveries WHERE status = 'delivered' LIMIT 1`));
  let isInterrupted = false;
  // The receiver does not answer, so the replay cannot end before the services are killed.
  await withReceiverMode(world, 'hanging', async () => {
    // Refused while a replay is running, which then is the one to interrupt.
    await replayAll(sql).catch(() => {});
    await until(() => isReplaying(sql));
    await Promise.all(services.map((service) => service.kill()));
    isInterrupted = await isReplaying(sql);
  });
  await Promise.all(services.map((service) => service.start()));
  return isInterrupted;
}

async function replayAll(sql: Sql): Promise<void> {
  const [endpoint] = await sql<[EndpointKey]>`SELECT account, webhook FROM endpoints LIMIT 1`;
  const now = new Date();
  await startReplay(sql, endpoint, { from: new Date(0), to: now, choice: 'all' }, now);
}

const isReplaying = (sql: Sql) =>
  exists(sql`SELECT 1 FROM endpoint_replays WHERE status = 'running' AND outstanding <> '{}'`);

/** A query that fails, because an earlier fault broke its connection, counts as none. */
const exists = (query: Promise<readonly unknown[]>): Promise<boolean> =>
  query.then(
    (rows) => rows.length > 0,
    () => false,
  );

/** Waits for a condition, at most `waitTimeoutMs`. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + waitTimeoutMs;
  while (!(await isTrue()) && performance.now() < deadline) await sleep(50);
}
