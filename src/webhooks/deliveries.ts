import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import { type DeliveryColumns, deliveryColumns } from '../../projections/delivery-columns.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import type { LeasedEndpoint } from './leases.ts';

interface Named {
  /** The present name of its code; null if the code was erased. */
  qr_name: string | null;
}

/** A delivery that is due to be sent. */
export interface Due extends DeliveryColumns, Named {
  tries: number;
  due_at: Date;
  /** Of its data, as JSON. */
  bytes: number;
}

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One attempt, as stored in `deliveries.attempts`. */
export interface StoredAttempt {
  at: string;
  ms: number;
  status: number | null;
  answer: string | null;
  error: string | null;
}

export interface Delivery extends DeliveryColumns, Named {
  status: DeliveryStatus;
  due_at: Date;
  attempts: StoredAttempt[];
  error: string | null;
  created_at: Date;
}

interface DueQuery {
  now: Date;
  limit: number;
  /** No more than the first that reach this size: a change of rules can have 130 kB. */
  maxBytes: number;
  /** Only deliveries after this one. */
  after?: Due | undefined;
  /** Deliveries of a replay instead of all others. */
  replayed?: boolean;
}

/** SQL for the name of the code of a delivery. An erased code has none. */
const nameOfCode = (sql: Queryable, code: string) =>
  sql`(SELECT nullif(c.name, '') FROM codes c WHERE c.id = ${sql(code)}) AS qr_name`;

const dueColumns = (sql: Queryable) => sql([...deliveryColumns, 'tries', 'due_at']);
const listedColumns = (sql: Queryable) =>
  sql([...deliveryColumns, 'status', 'due_at', 'attempts', 'error', 'created_at']);

/** Reads due deliveries of an endpoint, those due the longest first, and whether there may be more. */
export async function dueDeliveries(
  sql: Sql,
  { account, webhook, generation }: Pick<LeasedEndpoint, 'account' | 'webhook' | 'generation'>,
  { now, limit, maxBytes, after, replayed = false }: DueQuery,
): Promise<{ due: Due[]; mayHaveMore: boolean }> {
  const first = sql`
    SELECT ${dueColumns(sql)}, coalesce(octet_length(data::text), 0) AS bytes FROM deliveries
    WHERE account = ${account} AND webhook = ${webhook} AND status = 'pending'
      AND generation = ${generation} AND ${replayed ? sql`low_priority` : sql`NOT low_priority`} AND due_at <= ${now}
      ${after === undefined ? sql`` : sql`AND (due_at, id) > (${after.due_at}, ${after.id})`}
    ORDER BY due_at, id LIMIT ${limit}`;
  const due = await sql<Due[]>`
    SELECT ${dueColumns(sql)}, bytes, ${nameOfCode(sql, 'summed.code')} FROM (
      SELECT *, sum(bytes) OVER (ORDER BY due_at, id) - bytes AS before FROM (${first}) AS first
    ) AS summed
    WHERE before < ${maxBytes} ORDER BY due_at, id`;
  const isCut = due.reduce((sum, { bytes }) => sum + bytes, 0) >= maxBytes;
  return { due, mayHaveMore: due.length === limit || isCut };
}

/** Reads one page of a webhook's deliveries, newest first, and their total number. */
export async function listDeliveries(
  sql: Sql,
  { account, webhook }: EndpointKey,
  { status, page, limit }: { status?: DeliveryStatus | undefined; page: number; limit: number },
): Promise<{ deliveries: Delivery[]; total: number }> {
  const ofStatus = status === undefined ? sql`` : sql`AND status = ${status}`;
  const [deliveries, [count]] = await Promise.all([
    sql<Delivery[]>`
      SELECT ${listedColumns(sql)}, ${nameOfCode(sql, 'deliveries.code')} FROM deliveries
      WHERE account = ${account} AND webhook = ${webhook} ${ofStatus}
      ORDER BY id DESC LIMIT ${limit} OFFSET ${(page - 1) * limit}`,
    sql<[{ total: number }]>`
      SELECT coalesce(sum(deliveries), 0)::bigint AS total FROM delivery_counts
      WHERE account = ${account} AND webhook = ${webhook} ${ofStatus}`,
  ]);
  return { deliveries, total: count.total };
}

/**
 * Makes a delivery due now, with a new series of retries, whatever its status. Returns undefined if there is no such
 * delivery.
 */
export const resend = (
  sql: Sql,
  { account, webhook }: EndpointKey,
  id: string,
  now: Date,
): Promise<Delivery | undefined> =>
  sql.begin(async (tx) => {
    const [endpoint] = await tx<{ generation: number }[]>`
      SELECT generation FROM endpoints WHERE account = ${account} AND webhook = ${webhook} FOR UPDATE`;
    if (endpoint === undefined) return undefined;
    const [delivery] = await tx<Delivery[]>`
      UPDATE deliveries SET
        status = 'pending', due_at = ${now}, tries = 0, error = NULL, finished_at = NULL,
        generation = ${endpoint.generation}, low_priority = false
      WHERE id = ${id} AND account = ${account} AND webhook = ${webhook}
      RETURNING ${listedColumns(tx)}, ${nameOfCode(tx, 'deliveries.code')}`;
    if (delivery === undefined) return undefined;
    await tx`
      UPDATE endpoints SET due_at = least(due_at, ${now}) WHERE account = ${account} AND webhook = ${webhook}`;
    return delivery;
  });
