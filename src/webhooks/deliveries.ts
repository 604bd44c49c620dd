import type { Owner } from '../../events/owner.ts';
import type { Sql } from '../lib/sql.ts';
import type { ScanNotice } from './body.ts';
import type { Held } from './leases.ts';

/** A delivery that is to be sent now. */
export interface Due extends ScanNotice {
  tries: number;
  due_at: Date;
}

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One attempt, as it is kept. */
export interface KeptAttempt {
  at: string;
  ms: number;
  status: number | null;
  answer: string | null;
  error: string | null;
}

export interface Delivery extends ScanNotice {
  status: DeliveryStatus;
  due_at: Date;
  attempts: KeptAttempt[];
  error: string | null;
  created_at: Date;
}

interface Looking {
  now: Date;
  most: number;
  /** Only what comes behind this one. */
  after?: Due | undefined;
}

/** Those that are due the longest. */
export const dueDeliveries = (
  sql: Sql,
  { account, mode, generation }: Held,
  { now, most, after }: Looking,
): Promise<Due[]> =>
  sql<Due[]>`
    SELECT id, code, scanned_at, country, city, device, is_unique, tries, due_at FROM webhook_deliveries
    WHERE account = ${account} AND mode = ${mode} AND status = 'pending' AND generation = ${generation}
      AND due_at <= ${now} ${after === undefined ? sql`` : sql`AND (due_at, id) > (${after.due_at}, ${after.id})`}
    ORDER BY due_at, id LIMIT ${most}`;

/** One page of the deliveries of a webhook, newest first, and how many there are in all. */
export async function listDeliveries(
  sql: Sql,
  { account, mode }: Owner,
  { status, page, limit }: { status?: DeliveryStatus | undefined; page: number; limit: number },
): Promise<{ deliveries: Delivery[]; total: number }> {
  const wanted = status === undefined ? sql`` : sql`AND status = ${status}`;
  const [deliveries, [count]] = await Promise.all([
    sql<Delivery[]>`
      SELECT * FROM webhook_deliveries WHERE account = ${account} AND mode = ${mode} ${wanted}
      ORDER BY id DESC LIMIT ${limit} OFFSET ${(page - 1) * limit}`,
    sql<[{ total: number }]>`
      SELECT coalesce(sum(deliveries), 0)::bigint AS total FROM webhook_delivery_counts
      WHERE account = ${account} AND mode = ${mode} ${wanted}`,
  ]);
  return { deliveries, total: count.total };
}

/**
 * Lets a delivery be sent again now, with all retries before it, whatever became of it so far. Nothing when there is no
 * such delivery.
 */
export const resend = (sql: Sql, { account, mode }: Owner, id: string, now: Date): Promise<Delivery | undefined> =>
  sql.begin(async (tx) => {
    const [endpoint] = await tx<{ generation: number }[]>`
      SELECT generation FROM webhook_endpoints WHERE account = ${account} AND mode = ${mode} FOR UPDATE`;
    if (endpoint === undefined) return undefined;
    const [delivery] = await tx<Delivery[]>`
      UPDATE webhook_deliveries SET
        status = 'pending', due_at = ${now}, tries = 0, error = NULL, finished_at = NULL,
        generation = ${endpoint.generation}
      WHERE id = ${id} AND account = ${account} AND mode = ${mode}
      RETURNING *`;
    if (delivery === undefined) return undefined;
    await tx`
      UPDATE webhook_endpoints SET due_at = least(due_at, ${now}) WHERE account = ${account} AND mode = ${mode}`;
    return delivery;
  });
