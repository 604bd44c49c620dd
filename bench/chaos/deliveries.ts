import type { Sql } from '../../src/lib/sql.ts';
import type { Receiver } from './receiver.ts';

/** How the webhook's deliveries compare with the scans in the log. */
export interface WebhookAccounting {
  /** Scans in the log, each of which must be delivered. */
  scans: number;
  undelivered: number;
  /** Scans sent under more than one `webhook-id`: a receiver could not recognize them as duplicates. */
  inconsistentIds: number;
  /** Replays of the scans so far, replays that have not ended, and the deliveries that they sent. */
  replays: number;
  unfinishedReplays: number;
  replayed: number;
}

export async function accountForDeliveries(sql: Sql, receiver: Receiver): Promise<WebhookAccounting> {
  const scans = await sql<{ id: string }[]>`SELECT id FROM scans`;
  const [replays] = await sql<[Pick<WebhookAccounting, 'replays' | 'unfinishedReplays' | 'replayed'>]>`
    SELECT count(*) AS replays, count(*) FILTER (WHERE status <> 'done') AS "unfinishedReplays",
      coalesce(sum(delivered + failed), 0)::bigint AS replayed
    FROM endpoint_replays`;
  return {
    ...replays,
    scans: scans.length,
    undelivered: scans.filter(({ id }) => !receiver.accepted.has(id)).length,
    inconsistentIds: receiver.inconsistentIds(),
  };
}

/** Makes every pending delivery due now. Locks endpoints first, as the service does, so that the two cannot deadlock. */
export async function makeDeliveriesDue(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SELECT 1 FROM endpoints ORDER BY account, webhook FOR UPDATE`;
    await tx`UPDATE deliveries SET due_at = now() WHERE status = 'pending' AND due_at > now()`;
    await tx`UPDATE endpoints SET due_at = now()`;
  });
}
