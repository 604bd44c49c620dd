import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';

/** The limit on a webhook's requests in flight across all instances, including example events. */
export const maxInFlight = 8;

const pollMs = 100;
/** Longer than waiting and sending together. After it, the slot of a process that died is free again. */
export const slotMs = () => timeouts.exampleSlotMs + timeouts.webhookSendMs + 5_000;

/**
 * Calls `send` in one of the webhook's slots; returns undefined if none becomes free within `timeouts.exampleSlotMs`.
 *
 * The row in `endpoint_tests` is committed before the lease is read, and a worker reads that table in the transaction
 * that takes or renews the lease. So either the worker sees the row and reserves a slot for it, or this process sees the
 * lease and waits until its holder has granted a slot.
 */
export async function inTestSlot<T>(
  sql: Sql,
  key: EndpointKey,
  id: string,
  send: () => Promise<T>,
  timers: Timers = systemTimers,
): Promise<T | undefined> {
  const startedAt = timers.now();
  let isReserved = false;
  try {
    for (;;) {
      isReserved ||= await reserve(sql, key, id);
      if (isReserved && (await isGranted(sql, key, id))) return await send();
      if (timers.now() - startedAt > timeouts.exampleSlotMs) return undefined;
      await timers.sleep(pollMs);
    }
  } finally {
    // A row that cannot be deleted now expires.
    if (isReserved) await sql`DELETE FROM endpoint_tests WHERE id = ${id}`.catch(() => {});
  }
}

const reserve = (sql: Sql, key: EndpointKey, id: string): Promise<boolean> =>
  sql.begin(async (tx) => {
    // Locks before it counts: two concurrent counts would both find the last slot free.
    await tx`
      SELECT 1 FROM subscriptions WHERE account = ${key.account} AND webhook = ${key.webhook} FOR NO KEY UPDATE`;
    const [row] = await tx`
      INSERT INTO endpoint_tests (id, account, webhook, until)
      SELECT ${id}, ${key.account}, ${key.webhook}, now() + ${slotMs() / 1000} * interval '1 second'
      WHERE ${maxInFlight} > (
        SELECT count(*) FROM endpoint_tests
        WHERE account = ${key.account} AND webhook = ${key.webhook} AND until > now()
      )
      RETURNING 1`;
    return row !== undefined;
  });

/** Locks the endpoint only if no worker seems to have it: while one has, many callers would queue for the lock of its row. */
async function isGranted(sql: Sql, { account, webhook }: EndpointKey, id: string): Promise<boolean> {
  const isFree = (tx: Queryable) => tx<{ free: boolean }[]>`
    SELECT lease IS NULL OR lease_until < now() AS free FROM endpoints WHERE account = ${account} AND webhook = ${webhook}`;
  const [seen] = await isFree(sql);
  if (seen?.free !== false)
    return sql.begin(async (tx) => {
      // The lock waits for a worker that is taking the lease right now.
      const [endpoint] = await tx<{ free: boolean }[]>`${isFree(tx)} FOR UPDATE`;
      return endpoint?.free !== false;
    });
  const [test] = await sql<{ granted: boolean }[]>`SELECT granted FROM endpoint_tests WHERE id = ${id}`;
  return test?.granted === true;
}
