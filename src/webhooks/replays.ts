import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import type { WebhookFilter } from '../../events/webhooks/webhook.ts';
import { WebhookSpans } from '../../events/webhooks/webhook-spans.ts';
import { Refusal } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { violates } from '../log/connect.ts';
import { readStreamPart } from '../log/read.ts';
import { type ReplayChoice, type SelectionQuery, selectionOf } from './replay-selection.ts';
import { waitForWebhooksProjection } from './wait-for-projection.ts';

export const replayStatuses = ['running', 'done', 'canceled', 'stopped'] as const;
export type ReplayStatus = (typeof replayStatuses)[number];

/** A replay as stored. */
export interface Replay extends SelectionQuery {
  id: string;
  generation: number;
  to_position: number;
  counted_to: number;
  selected_to: number;
  status: ReplayStatus;
  /** Counted so far; of an ended replay, how many were selected. */
  total: number;
  selected: number;
  outstanding: string[];
  delivered: number;
  failed: number;
  paused_until: Date | null;
  created_at: Date;
  ended_at: Date | null;
}

interface ReplayRequest {
  from: Date;
  to: Date;
  choice: ReplayChoice;
}

/** Clocks of the processes that record events may differ by this much. */
const maxSkewMs = 60 * 60 * 1000;

/** Starts the replay of an enabled webhook; throws if one is running. */
export async function startReplay(
  sql: Sql,
  key: EndpointKey,
  { from, to, choice }: ReplayRequest,
  now: Date,
): Promise<Replay> {
  const { account, webhook } = key;
  await waitForWebhooksProjection(sql, account);
  return sql
    .begin(async (tx) => {
      const [endpoint] = await tx<Endpoint[]>`
        SELECT generation, is_set AND is_paid AS is_on, filter,
          (SELECT position FROM checkpoints WHERE projection = 'webhooks') AS to_position
        FROM endpoints WHERE account = ${account} AND webhook = ${webhook} FOR UPDATE`;
      if (endpoint === undefined || !endpoint.is_on)
        throw new Refusal('conflict', 'The webhook was turned off at the same time: enable it, then start the replay.');
      const { generation, filter, to_position } = endpoint;
      const spans = new WebhookSpans();
      for (let after = 0, isCut = true; isCut; ) {
        const part = await readStreamPart(tx, account, { after });
        for (const event of part.events) if (event.position <= to_position) spans.apply(event);
        after = part.events.at(-1)?.position ?? after;
        isCut = part.isCut;
      }
      const ofWebhook = spans.upTo(to_position).filter((span) => span.webhook === webhook);
      const selection = selectionOf(filter, ofWebhook);
      const start = Math.min(to_position, await startOf(tx, account, from));
      const [replay] = await tx<[Replay]>`
        INSERT INTO endpoint_replays (id, account, webhook, generation, choice, from_time, to_time, selection, to_position,
          counted_to, selected_to, created_at)
        VALUES (${newId('whr', now.getTime())}, ${account}, ${webhook}, ${generation}, ${choice}, ${from}, ${to},
          ${tx.json(JSON.parse(JSON.stringify(selection)))}, ${to_position}, ${start}, ${start}, ${now})
        RETURNING *`;
      return replay;
    })
    .catch((error) => {
      if (!violates(error, 'webhook_replays_running')) throw error;
      throw new Refusal(
        'replay_running',
        'A replay of this webhook is running: wait for it to end, or cancel it with DELETE.',
      );
    });
}

interface Endpoint {
  generation: number;
  is_on: boolean;
  filter: WebhookFilter;
  to_position: number;
}

/** A position before the first event of the account that can have happened since `from`. */
async function startOf(sql: Queryable, account: string, from: Date): Promise<number> {
  const [{ position }] = await sql<[{ position: number }]>`
    SELECT greatest(
      (SELECT position - 1 FROM events WHERE stream = ${account} ORDER BY version LIMIT 1),
      (SELECT max(position) FROM log_times WHERE at <= ${new Date(from.getTime() - maxSkewMs)}),
      0
    ) AS position`;
  return position;
}

export async function findReplay(
  sql: Queryable,
  { account, webhook }: EndpointKey,
  id: string,
): Promise<Replay | undefined> {
  const [replay] = await sql<Replay[]>`
    SELECT * FROM endpoint_replays WHERE id = ${id} AND account = ${account} AND webhook = ${webhook}`;
  return replay;
}

/** One page of a webhook's replays, newest first, and their total number. */
export async function listReplays(
  sql: Sql,
  { account, webhook }: EndpointKey,
  { page, limit }: { page: number; limit: number },
): Promise<{ replays: Replay[]; total: number }> {
  const [replays, [{ total }]] = await Promise.all([
    sql<Replay[]>`
      SELECT * FROM endpoint_replays WHERE account = ${account} AND webhook = ${webhook}
      ORDER BY id DESC LIMIT ${limit} OFFSET ${(page - 1) * limit}`,
    sql<[{ total: number }]>`
      SELECT count(*) AS total FROM endpoint_replays WHERE account = ${account} AND webhook = ${webhook}`,
  ]);
  return { replays, total };
}
