import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import { stopErrors } from '../../projections/webhook-endpoints.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { every, type Loop } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Sql } from '../lib/sql.ts';

const intervalMs = 2_000;
/** Pause while there are more rows to process. */
const shortPauseMs = 10;
const pruneEveryMs = 60_000;
/** Bounds how long one transaction holds its locks. */
const maxBatchSize = 1_000;
const dayMs = 24 * 60 * 60 * 1000;
const retentionMs = { delivered: 7 * dayMs, failed: 30 * dayMs };

/**
 * Marks deliveries that were pending when their webhook stopped as failed, deliveries of replays included, one batch of one
 * webhook at a time. Returns
 * the size of the batch; undefined if no stopped webhook is left to process.
 */
export async function dropStopped(sql: Sql, now: Date): Promise<number | undefined> {
  // Without a transaction: usually there is none, and this runs every two seconds.
  const stopped = await sql`SELECT 1 FROM endpoints WHERE dropping LIMIT 1`;
  if (stopped.length === 0) return undefined;
  return sql.begin(async (tx) => {
    const [endpoint] = await tx<(EndpointKey & { generation: number; stopped_by: string })[]>`
      SELECT account, webhook, generation, stopped_by FROM endpoints WHERE dropping
      LIMIT 1 FOR UPDATE SKIP LOCKED`;
    if (endpoint === undefined) return undefined;
    const { account, webhook, generation, stopped_by } = endpoint;
    const dropped = await tx`
      UPDATE deliveries SET status = 'failed', error = ${stopErrors[stopped_by] ?? stopped_by}, finished_at = ${now}
      WHERE account = ${account} AND webhook = ${webhook} AND id IN (
        SELECT id FROM deliveries
        WHERE account = ${account} AND webhook = ${webhook} AND status = 'pending' AND generation < ${generation}
        LIMIT ${maxBatchSize}
      )`;
    if (dropped.count === maxBatchSize) return dropped.count;
    if (stopped_by === 'deleted') await tx`DELETE FROM endpoints WHERE account = ${account} AND webhook = ${webhook}`;
    else await tx`UPDATE endpoints SET dropping = false WHERE account = ${account} AND webhook = ${webhook}`;
    return dropped.count;
  });
}

/** Deletes a batch of the oldest deliveries whose retention has ended; returns how many. */
export async function pruneDeliveries(sql: Sql, now: Date): Promise<number> {
  let pruned = 0;
  for (const [status, ms] of Object.entries(retentionMs)) {
    const { count } = await sql`
      DELETE FROM deliveries WHERE (account, webhook, id) IN (
        SELECT account, webhook, id FROM deliveries
        WHERE status = ${status} AND finished_at < ${new Date(now.getTime() - ms)}
        ORDER BY finished_at LIMIT ${maxBatchSize}
        FOR UPDATE SKIP LOCKED
      )`;
    pruned += count;
  }
  return pruned;
}

const replayRetentionMs = 30 * dayMs;
const noteTimeEveryMs = 10 * 60 * 1000;

/** Deletes what is left of deleted webhooks and of old replays. */
async function pruneOthers(sql: Sql, now: Date): Promise<void> {
  await sql`DELETE FROM endpoint_replays WHERE ended_at < ${new Date(now.getTime() - replayRetentionMs)}`;
  await sql`
    DELETE FROM delivery_counts c WHERE deliveries = 0
      AND NOT EXISTS (SELECT 1 FROM endpoints e WHERE e.account = c.account AND e.webhook = c.webhook)`;
}

/** Notes every 10 minutes which position the log has reached, for replays that begin then. */
export async function noteLogTime(sql: Sql, now: Date): Promise<void> {
  await sql`
    INSERT INTO log_times (at, position)
    SELECT ${now}, position FROM checkpoints
    WHERE projection = 'webhooks' AND position > 0
      AND NOT EXISTS (SELECT 1 FROM log_times WHERE at > ${new Date(now.getTime() - noteTimeEveryMs)})
    ON CONFLICT DO NOTHING`;
}

async function measure(sql: Sql, now: Date, { webhooksWaiting, webhooksDelay }: Metrics): Promise<void> {
  const [{ waiting, due_at }] = await sql<[{ waiting: number; due_at: Date | null }]>`
    SELECT (SELECT coalesce(sum(deliveries), 0)::bigint FROM delivery_counts WHERE status = 'pending') AS waiting,
      (SELECT min(first.due_at)
       FROM endpoints e, LATERAL (
         SELECT min(d.due_at) AS due_at FROM deliveries d
         WHERE d.account = e.account AND d.webhook = e.webhook AND d.status = 'pending' AND d.generation = e.generation
           AND NOT d.low_priority
       ) AS first
       WHERE e.is_set AND e.is_paid AND e.due_at <= ${now}) AS due_at`;
  webhooksWaiting.set(waiting);
  webhooksDelay.set(due_at === null ? 0 : Math.max(0, (now.getTime() - due_at.getTime()) / 1000));
}

/** Measures the backlog, and drops and prunes deliveries in small batches. Safe to run on several instances at once. */
export function startUpkeep(options: { sql: Sql; clock: Clock; log: Logger; metrics: Metrics }): Loop {
  const { sql, clock, log, metrics } = options;
  let prunedAt = Number.NEGATIVE_INFINITY;

  async function once(): Promise<number> {
    await measure(sql, clock(), metrics);
    let hasMore = (await dropStopped(sql, clock())) !== undefined;
    if (performance.now() - prunedAt > pruneEveryMs) {
      if ((await pruneDeliveries(sql, clock())) > 0) hasMore = true;
      else {
        await pruneOthers(sql, clock());
        await noteLogTime(sql, clock());
        prunedAt = performance.now();
      }
    }
    return hasMore ? shortPauseMs : intervalMs;
  }

  return every(intervalMs, once, {
    onError: (error) => log.warn({ error: messageOf(error) }, 'upkeep of webhook deliveries failed: retrying in 2 s'),
  });
}
