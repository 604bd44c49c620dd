import { type Static, Type as t } from '@sinclair/typebox';
import { type EndpointKey, keyOfWebhook } from '../../events/endpoint.ts';
import { type Notification, notificationId } from '../../events/notification.ts';
import { oneOf } from '../../events/one-of.ts';
import { maxSubscriptions } from '../../events/subscription.ts';
import { webhookEventTypes } from '../../events/webhook-events.ts';
import type { Caller } from '../accounts/admission.ts';
import { invalid, notFound, Refusal } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { WebhookBody } from '../webhooks/body.ts';
import { findWebhook, remove, rotate, set } from '../webhooks/commands.ts';
import { deliveryStatuses, listDeliveries } from '../webhooks/deliveries.ts';
import { sendTimeoutMs } from '../webhooks/send.ts';
import * as subscriptions from '../webhooks/subscriptions.ts';
import { testWaitMs } from '../webhooks/test-slots.ts';
import { json } from './answers.ts';
import { type Operation, operation } from './operation.ts';
import { presentPage } from './present.ts';
import { presentAccountWebhook, presentSubscription } from './present-webhook.ts';
import { pageOf, pageQuery } from './schemas.ts';
import type { Service } from './service.ts';
import {
  checkUrl,
  exampleScan,
  presentDelivery,
  requireWebhooks,
  resendDeliveryOf,
  sendExample,
} from './webhook-actions.ts';
import { eventRules, pendingRules } from './webhook-rules.ts';
import { readSettings } from './webhook-settings.ts';
import {
  DeletedSubscription,
  NewSubscription,
  Subscription,
  SubscriptionChange,
  SubscriptionDelivery,
  SubscriptionTest,
} from './webhooks-schemas.ts';

const tag = 'Webhooks';
export const webhookParam = { id: 'Identifier of the webhook, `wh_…`.' };
type Answered = Static<typeof Subscription>;

/** Operations on all webhooks of the key's mode and on their deliveries. */
export const subscriptionOperations = (service: Service): Operation[] => [
  listWebhooks(service),
  createWebhook(service),
  readWebhook(service),
  updateWebhook(service),
  removeWebhook(service),
  rotateSecret(service),
  sendTest(service),
  listWebhookDeliveries(service),
  resendDelivery(service),
];

/** A webhook of the caller's mode, and its key in the tables. */
export interface FoundWebhook {
  key: EndpointKey;
  webhook: Answered;
}

/** Finds a webhook by its id; throws if the plan has none or there is no such webhook. */
export async function requireWebhook(service: Service, caller: Caller, id: string): Promise<FoundWebhook> {
  requireWebhooks(caller);
  const { sql, clock, webhooks } = service;
  const key = keyOfWebhook(caller, id);
  const now = clock();
  if (key.mode === caller.mode) {
    const account = await findWebhook(sql, webhooks.box, caller, now);
    if (account !== undefined) return { key, webhook: presentAccountWebhook(account) };
  } else if (isId('wh', id)) {
    const [found] = await subscriptions.findSubscriptions(sql, webhooks.box, caller, { id, now });
    if (found !== undefined) return { key, webhook: presentSubscription(found) };
  }
  throw notFound('webhook');
}

const listWebhooks = ({ sql, clock, webhooks: { box } }: Service): Operation =>
  operation({
    operationId: 'listWebhooks',
    method: 'GET',
    path: '/v1/webhooks',
    tag,
    summary: 'List webhooks',
    description: `All webhooks of the mode of the key, oldest first. If the webhook of \`/v1/account/webhook\` is set, it is the first, with \`account_webhook: true\`.\n\n${eventRules}`,
    success: {
      status: 200,
      description: 'The webhooks, with their signing secrets.',
      schema: t.Object({ data: t.Array(Subscription) }, { additionalProperties: false }),
    },
    errors: ['plan_required'],
    async handle({ caller }) {
      requireWebhooks(caller);
      const now = clock();
      const [account, others] = await Promise.all([
        findWebhook(sql, box, caller, now),
        subscriptions.findSubscriptions(sql, box, caller, { now }),
      ]);
      const first = account === undefined ? [] : [presentAccountWebhook(account)];
      return json(200, { data: [...first, ...others.map(presentSubscription)] });
    },
  });

const createWebhook = (service: Service): Operation =>
  operation({
    operationId: 'createWebhook',
    method: 'POST',
    path: '/v1/webhooks',
    tag,
    summary: 'Create a webhook',
    description: `Sends all events from now on that pass the filters. Each mode can have ${maxSubscriptions} webhooks, besides that of \`/v1/account/webhook\`.\n\n${eventRules}`,
    body: NewSubscription,
    success: { status: 201, description: 'The webhook, with its signing secret.', schema: Subscription },
    errors: [
      ...(['invalid_request', 'plan_required', 'quota_exceeded', 'conflict'] as const),
      ...(['payload_too_large', 'unsupported_media_type'] as const),
    ],
    async handle({ caller, body }) {
      requireWebhooks(caller);
      const { sql, clock, webhooks } = service;
      const defaults = { events: [...webhookEventTypes], qr_ids: null, tags: null, description: '', active: true };
      const settings = { ...defaults, url: body.url, ...(await readSettings(sql, caller, body)) };
      await checkUrl(settings.url, webhooks.policy);
      const by = { actor: caller.key, now: clock() };
      const id = await subscriptions.create(sql, webhooks.box, caller, settings, by);
      return json(201, (await requireWebhook(service, caller, id)).webhook);
    },
  });

const readWebhook = (service: Service): Operation =>
  operation({
    operationId: 'readWebhook',
    method: 'GET',
    path: '/v1/webhooks/:id',
    tag,
    summary: 'Get a webhook',
    description: eventRules,
    params: webhookParam,
    success: { status: 200, description: 'The webhook, with its signing secret.', schema: Subscription },
    errors: ['plan_required', 'not_found'],
    async handle({ caller, params: { id = '' } }) {
      return json(200, (await requireWebhook(service, caller, id)).webhook);
    },
  });

const updateWebhook = (service: Service): Operation =>
  operation({
    operationId: 'updateWebhook',
    method: 'PATCH',
    path: '/v1/webhooks/:id',
    tag,
    summary: 'Change a webhook',
    description: `Changes only the fields given. \`active: false\` pauses the webhook: events that happen meanwhile are not sent, and can be replayed with \`only: "missing"\`. New filters apply to events from now on. Of the webhook of \`/v1/account/webhook\`, only \`url\` can be changed, and \`active: true\` enables it again.\n\n${pendingRules}`,
    params: webhookParam,
    body: SubscriptionChange,
    success: { status: 200, description: 'The webhook.', schema: Subscription },
    errors: [
      ...(['invalid_request', 'plan_required', 'not_found', 'conflict'] as const),
      ...(['payload_too_large', 'unsupported_media_type'] as const),
    ],
    async handle({ caller, params: { id = '' }, body }) {
      const { sql, clock, webhooks } = service;
      const { webhook } = await requireWebhook(service, caller, id);
      if (body.url !== undefined) await checkUrl(body.url, webhooks.policy);
      const by = { actor: caller.key, now: clock() };
      if (webhook.account_webhook) {
        refuseFixedSettings(webhook, body);
        if (body.url !== undefined || body.active) await set(sql, webhooks.box, caller, body.url ?? webhook.url, by);
      } else {
        await subscriptions.change(sql, caller, id, await readSettings(sql, caller, body), by);
      }
      return json(200, (await requireWebhook(service, caller, id)).webhook);
    },
  });

/** The webhook of `/v1/account/webhook` has only a URL, which enables it. */
function refuseFixedSettings(webhook: Answered, change: Static<typeof SubscriptionChange>): void {
  for (const field of ['events', 'qr_ids', 'tags', 'description', 'active'] as const) {
    const isSame = JSON.stringify(change[field]) === JSON.stringify(webhook[field]);
    if (change[field] === undefined || isSame || (field === 'active' && change.active)) continue;
    const message = `${field} of the webhook of /v1/account/webhook cannot be changed: create another webhook for that, with POST /v1/webhooks.`;
    throw invalid([{ field, message }]);
  }
}

const removeWebhook = (service: Service): Operation =>
  operation({
    operationId: 'removeWebhook',
    method: 'DELETE',
    path: '/v1/webhooks/:id',
    tag,
    summary: 'Remove a webhook',
    description: 'Stops all deliveries, destroys the secret, and removes the webhook with its delivery log.',
    params: webhookParam,
    success: { status: 200, description: 'The webhook is removed.', schema: DeletedSubscription },
    errors: ['plan_required', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      const { sql, clock } = service;
      const { webhook } = await requireWebhook(service, caller, id);
      const by = { actor: caller.key, now: clock() };
      if (webhook.account_webhook) await remove(sql, caller, by);
      else await subscriptions.remove(sql, caller, id, by);
      return json(200, { deleted: true, id });
    },
  });

const rotateSecret = (service: Service): Operation =>
  operation({
    operationId: 'rotateSecretOfWebhook',
    method: 'POST',
    path: '/v1/webhooks/:id/rotate',
    tag,
    summary: 'Rotate the signing secret of a webhook',
    description:
      'Creates a new secret. For 24 hours deliveries carry two signatures, by the new and by the previous secret, so that receivers can switch at any time. Rotating again within that time invalidates the oldest secret at once.',
    params: webhookParam,
    success: { status: 200, description: 'The webhook, with its new secret.', schema: Subscription },
    errors: ['plan_required', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      const { sql, clock, webhooks } = service;
      const { webhook } = await requireWebhook(service, caller, id);
      const by = { actor: caller.key, now: clock() };
      if (webhook.account_webhook) await rotate(sql, webhooks.box, caller, by);
      else await subscriptions.rotate(sql, webhooks.box, caller, id, by);
      return json(200, (await requireWebhook(service, caller, id)).webhook);
    },
  });

const sendTest = (service: Service): Operation =>
  operation({
    operationId: 'testWebhook',
    method: 'POST',
    path: '/v1/webhooks/:id/test',
    tag,
    summary: 'Send an example event to a webhook',
    description:
      'Sends one example now, of the first of its types of events, signed like any other, even if the webhook is paused or disabled, and returns the response of the receiver. Takes as long as the receiver, up to 15 s. It is not retried and not listed in the delivery log. It counts as one of the 8 concurrent requests of a webhook: if all 8 are in use, it waits up to 5 s, then answers 503 `unavailable`.',
    params: webhookParam,
    success: { status: 200, description: 'The response of the receiver.', schema: SubscriptionTest },
    errors: ['plan_required', 'not_found'],
    answerWithinMs: testWaitMs + sendTimeoutMs + 5_000,
    async handle({ caller, params: { id = '' } }) {
      const { key, webhook } = await requireWebhook(service, caller, id);
      const example = webhook.account_webhook ? exampleScan : exampleEvent(webhook.events);
      const result = await sendExample<WebhookBody>(service, key, example);
      if (result === undefined) throw notFound('webhook');
      return json(200, result);
    },
  });

/** An example of the first of these types, with the same data as in the event feed. */
const exampleEvent =
  (types: Answered['events']) =>
  (at: Date): Notification => {
    const [type = 'scan.created'] = types;
    const { id, code, data } = exampleScan(at);
    if (type !== 'scan.created') {
      const change = { qr_id: code, field: 'name', from: 'Spring menu', to: 'Summer menu' };
      return { id: notificationId(newId('evt', at.getTime())), type, code, timestamp: at, data: change };
    }
    const { scan_id, ...scan } = data as { scan_id: string };
    const record = {
      qr_id: code,
      id: scan_id,
      timestamp: at.toISOString(),
      ...{ country: 'DE', region: 'Land Berlin', city: 'Berlin', device: 'ios', browser: 'safari' },
      ...{ is_unique: true, is_bot: false, rule: null, variant: null },
    };
    return { id, type, code, timestamp: at, data: { ...scan, ...record } };
  };

const listWebhookDeliveries = (service: Service): Operation =>
  operation({
    operationId: 'listDeliveriesOfWebhook',
    method: 'GET',
    path: '/v1/webhooks/:id/deliveries',
    tag,
    summary: 'List deliveries of a webhook',
    description: `Newest event first, each delivery with its attempts. Successful deliveries are kept for 7 days, failed ones for 30 days.\n\n${pendingRules}`,
    params: webhookParam,
    query: t.Object({
      ...pageQuery({ default: 20, maximum: 100 }),
      status: t.Optional(oneOf(deliveryStatuses, { description: 'Only deliveries with this status.' })),
    }),
    success: { status: 200, description: 'One page of deliveries.', schema: pageOf(SubscriptionDelivery) },
    errors: ['invalid_request', 'plan_required', 'not_found'],
    async handle({ caller, params: { id = '' }, query: { page = 1, limit = 20, status } }) {
      const { key } = await requireWebhook(service, caller, id);
      const { deliveries, total } = await listDeliveries(service.sql, key, { page, limit, status });
      const presented = deliveries.map((delivery) => presentDelivery(delivery, key));
      return json(200, presentPage(presented, { page, limit }, total));
    },
  });

const resendDelivery = (service: Service): Operation =>
  operation({
    operationId: 'resendDeliveryOfWebhook',
    method: 'POST',
    path: '/v1/webhooks/:id/deliveries/:delivery_id/resend',
    tag,
    summary: 'Resend a delivery of a webhook',
    description:
      'Sends the delivery again, whatever its status: now, with the same `webhook-id`, to the current URL, and with the full series of retries.',
    params: { ...webhookParam, delivery_id: 'Identifier of the delivery, `whd_…`.' },
    success: { status: 200, description: 'The delivery, now pending.', schema: SubscriptionDelivery },
    errors: ['plan_required', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '', delivery_id = '' } }) {
      const { key } = requireEnabled(await requireWebhook(service, caller, id), 'resend the delivery');
      return json(200, presentDelivery(await resendDeliveryOf(service, key, delivery_id), key));
    },
  });

/** Throws unless the webhook is enabled. */
export function requireEnabled(found: FoundWebhook, then: string): FoundWebhook {
  const { status } = found.webhook;
  if (status !== 'enabled')
    throw new Refusal('conflict', `The webhook is ${status}: set \`active\` to true with PATCH, then ${then}.`);
  return found;
}
