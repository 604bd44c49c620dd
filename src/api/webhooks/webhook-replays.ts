import { Type as t } from '@sinclair/typebox';
import { readTimestamp, timestampProblem } from '../../../events/timestamp.ts';
import { type FieldError, invalid, notFound } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import type { Sql } from '../../lib/sql.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { cancelReplay } from '../../webhooks/cancel-replay.ts';
import { countFor } from '../../webhooks/replay-steps.ts';
import { findReplay, listReplays, type Replay as StoredReplay, startReplay } from '../../webhooks/replays.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { pageOf, pageQuery } from '../http/schemas.ts';
import { presentPage } from '../qrcodes/present.ts';
import type { Service } from '../service.ts';
import { presentReplay } from './present-webhook.ts';
import { requireEnabled, requireWebhook, webhookParam } from './require-webhook.ts';
import { NewReplay, Replay } from './webhooks-schemas.ts';

const tag = 'Webhooks';
const replayParams = { ...webhookParam, replay_id: 'Identifier of the replay, `whr_…`.' };
const dayMs = 24 * 60 * 60 * 1000;

export const replayOperations = (service: Service): Operation[] => [
  createReplay(service),
  listWebhookReplays(service),
  readReplay(service),
  removeReplay(service),
];

/** Accounts whose new replay is being counted. Another one of the account is counted in its steps. */
const counting = new Set<string>();

const createReplay = (service: Service): Operation =>
  operation({
    operationId: 'startReplay',
    method: 'POST',
    path: '/v1/webhooks/:id/replay',
    tag,
    summary: 'Replay events to a webhook',
    description: [
      'Sends events of the past to the webhook, from the log: back to the beginning of the account, as far as the operator keeps scans. The events are those that pass the filters which the webhook has now.',
      'Each has the same `webhook-id` and body as the first time, so that the receiver can recognize what it has already. New events are sent first. While the receiver fails, the replay sends only 8 events every 30 s. Events that have just happened, and are about to be sent anyway, are not replayed.',
      'A webhook can have one replay at a time. It goes on after a restart of the service; it stops when the webhook is paused, disabled or removed. Replays are listed for 30 days.',
      'An event that was delivered by a replay only, and whose delivery has left the delivery log after 7 days, counts as `missing` again.',
    ].join('\n\n'),
    params: webhookParam,
    body: NewReplay,
    success: { status: 202, description: 'The replay is running.', schema: Replay },
    errors: ['invalid_request', 'plan_required', 'not_found', 'conflict', 'replay_running'],
    async handle({ caller, params: { id = '' }, body }) {
      const { sql, clock } = service;
      const now = clock();
      const period = periodOf(body, now);
      const webhook = requireEnabled(await requireWebhook(service, caller, id), 'start the replay');
      const replay = await startReplay(sql, webhook, { ...period, choice: body.only }, now);
      return json(202, presentReplay(await countAtOnce(sql, replay), id));
    },
  });

/** A log that takes longer is counted in the steps of the replay. */
async function countAtOnce(sql: Sql, replay: StoredReplay): Promise<StoredReplay> {
  const { account } = replay;
  if (counting.has(account)) return replay;
  counting.add(account);
  try {
    return await countFor(sql, replay, timeouts.replayCountMs);
  } finally {
    counting.delete(account);
  }
}

const listWebhookReplays = (service: Service): Operation =>
  operation({
    operationId: 'listReplays',
    method: 'GET',
    path: '/v1/webhooks/:id/replays',
    tag,
    summary: 'List replays of a webhook',
    description: 'Newest first. Replays are listed for 30 days after their end.',
    params: webhookParam,
    query: t.Object(pageQuery({ default: 20, maximum: 100 })),
    success: { status: 200, description: 'One page of replays.', schema: pageOf(Replay) },
    errors: ['invalid_request', 'plan_required', 'not_found'],
    async handle({ caller, params: { id = '' }, query: { page = 1, limit = 20 } }) {
      const webhook = await requireWebhook(service, caller, id);
      const { replays, total } = await listReplays(service.sql, webhook, { page, limit });
      const presented = replays.map((replay) => presentReplay(replay, id));
      return json(200, presentPage(presented, { page, limit }, total));
    },
  });

const readReplay = (service: Service): Operation =>
  operation({
    operationId: 'getReplay',
    method: 'GET',
    path: '/v1/webhooks/:id/replays/:replay_id',
    tag,
    summary: 'Get a replay',
    description: 'The progress of a replay: how many of its events were sent, and with which outcome.',
    params: replayParams,
    success: { status: 200, description: 'The replay.', schema: Replay },
    errors: ['plan_required', 'not_found'],
    async handle({ caller, params: { id = '', replay_id = '' } }) {
      const webhook = await requireWebhook(service, caller, id);
      const replay = isId('whr', replay_id) ? await findReplay(service.sql, webhook, replay_id) : undefined;
      if (replay === undefined) throw notFound('replay');
      return json(200, presentReplay(replay, id));
    },
  });

const removeReplay = (service: Service): Operation =>
  operation({
    operationId: 'cancelReplay',
    method: 'DELETE',
    path: '/v1/webhooks/:id/replays/:replay_id',
    tag,
    summary: 'Cancel a replay',
    description:
      'Sends no more of its events; requests that are on their way are not stopped. What was sent stays in the delivery log, and failed deliveries are retried. A replay that has ended stays as it is.',
    params: replayParams,
    success: { status: 200, description: 'The replay.', schema: Replay },
    errors: ['plan_required', 'not_found'],
    async handle({ caller, params: { id = '', replay_id = '' } }) {
      const { sql, clock } = service;
      const webhook = await requireWebhook(service, caller, id);
      const replay = isId('whr', replay_id) ? await cancelReplay(sql, webhook, replay_id, clock()) : undefined;
      if (replay === undefined) throw notFound('replay');
      return json(200, presentReplay(replay, id));
    },
  });

/** The period of a replay: `to` is exclusive, and not after `now`. */
function periodOf(given: { from: string; to?: string }, now: Date): { from: Date; to: Date } {
  const from = timeOf(given.from, 0);
  const end = given.to === undefined ? now : timeOf(given.to, dayMs);
  const errors: FieldError[] = [];
  const refuse = (field: string, problem: string) => errors.push({ field, message: `${field} ${problem}.` });
  if (from === undefined) refuse('from', `${timestampProblem}, or a date such as 2026-12-01`);
  if (end === undefined) refuse('to', `${timestampProblem}, or a date such as 2026-12-01`);
  const to = end !== undefined && end < now ? end : now;
  if (from !== undefined && errors.length === 0 && from >= to)
    refuse('from', given.to === undefined ? 'must be in the past' : 'must be before to, and in the past');
  const [first] = errors;
  if (first !== undefined || from === undefined) throw invalid([first as FieldError, ...errors.slice(1)]);
  return { from, to };
}

/** A timestamp; or a date, to whose beginning `afterDateMs` is added. */
function timeOf(text: string, afterDateMs: number): Date | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return readTimestamp(text);
  const day = readTimestamp(`${text}T00:00:00Z`);
  return day && new Date(day.getTime() + afterDateMs);
}
