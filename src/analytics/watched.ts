import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { pingWarehouse, type Warehouse } from './connect.ts';

const pingIntervalMs = 2_000;
const maxFailedPings = 2;

/**
 * Waits for a request that may take long, and pings the warehouse meanwhile; rejects when the pings fail. A request whose
 * server dies may stay open without a response or an error.
 */
export async function whileAlive<T>(warehouse: Warehouse, work: Promise<T>): Promise<T> {
  const failed = Promise.withResolvers<never>();
  let failedPings = 0;
  const pinging = setInterval(async () => {
    failedPings = (await isAlive(warehouse)) ? 0 : failedPings + 1;
    if (failedPings >= maxFailedPings) failed.reject(new Error('ClickHouse has stopped responding to pings'));
  }, pingIntervalMs);
  try {
    return await Promise.race([work, failed.promise]);
  } finally {
    clearInterval(pinging);
    // A rejection of the one that did not win the race must not count as unhandled.
    work.catch(() => {});
    failed.promise.catch(() => {});
  }
}

async function isAlive(warehouse: Warehouse): Promise<boolean> {
  const ping = pingWarehouse(warehouse).then(
    () => true,
    () => false,
  );
  return withTimeout(ping, timeouts.warehousePingMs, () => false);
}
