import { type Static, Type as t } from '@sinclair/typebox';
import { maxWebhooks } from '../../../events/webhooks/webhook.ts';
import { webhookEventTypes } from '../../../events/webhooks/webhook-events.ts';
import { invalid } from '../../lib/errors.ts';
import { change, create, findWebhooks, remove, rotate, type WebhookDetails } from '../../webhooks/commands.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { exact } from '../http/schemas.ts';
import type { Service } from '../service.ts';
import { presentSubscription } from './present-webhook.ts';
import { requireWebhook, webhookParam } from './require-webhook.ts';
import { checkUrl, requireWebhooks } from './webhook-actions.ts';
import { eventRules, pendingRules, rotationRules } from './webhook-rules.ts';
import { readSettings } from './webhook-settings.ts';
import { subscriptionDeliveryOperations } from './webhooks-deliveries.ts';
import { DeletedSubscription, NewSubscription, Subscription, SubscriptionChange } from './webhooks-schemas.ts';

const tag = 'Webhooks';

/** Operations on all webhooks of the key's mode and on their deliveries. */
export const subscriptionOperations = (service: Service): Operation[] => [
  listWebhooks(service),
  createWebhook(service),
  readWebhook(service),
  updateWebhook(service),
  removeWebhook(service),
  rotateSecret(service),
  ...subscriptionDeliveryOperations(service),
];

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
      schema: t.Object({ data: t.Array(Subscription) }, exact),
    },
    errors: ['plan_required'],
    async handle({ caller }) {
      requireWebhooks(caller);
      const found = await findWebhooks(sql, box, caller, { now: clock() });
      return json(200, { data: found.map(presentSubscription) });
    },
  });

const createWebhook = (service: Service): Operation =>
  operation({
    operationId: 'createWebhook',
    method: 'POST',
    path: '/v1/webhooks',
    tag,
    summary: 'Create a webhook',
    description: `Sends all events from now on that pass the filters. Each mode can have ${maxWebhooks} webhooks, besides the webhook of \`/v1/account/webhook\`.\n\n${eventRules}`,
    body: NewSubscription,
    success: { status: 201, description: 'The webhook, with its signing secret.', schema: Subscription },
    errors: ['invalid_request', 'plan_required', 'quota_exceeded', 'conflict'],
    async handle({ caller, body }) {
      requireWebhooks(caller);
      const { sql, clock, webhooks } = service;
      const defaults = { events: [...webhookEventTypes], qr_ids: null, tags: null, description: '', active: true };
      const settings = { ...defaults, url: body.url, ...(await readSettings(sql, caller, body)) };
      await checkUrl(settings.url, webhooks.policy);
      const by = { actor: caller.actor, now: clock() };
      const id = await create(sql, webhooks.box, caller, settings, by);
      return json(201, presentSubscription(await requireWebhook(service, caller, id)));
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
      return json(200, presentSubscription(await requireWebhook(service, caller, id)));
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
    errors: ['invalid_request', 'plan_required', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' }, body }) {
      const { sql, clock, webhooks } = service;
      const found = await requireWebhook(service, caller, id);
      if (body.url !== undefined) await checkUrl(body.url, webhooks.policy);
      if (found.body === 'contract') refuseFixedSettings(found, body);
      const by = { actor: caller.actor, now: clock() };
      await change(sql, caller, found.webhook, await readSettings(sql, caller, body), by);
      return json(200, presentSubscription(await requireWebhook(service, caller, id)));
    },
  });

/** The webhook of `/v1/account/webhook` has only a URL, which enables it. */
function refuseFixedSettings(found: WebhookDetails, change: Static<typeof SubscriptionChange>): void {
  const webhook = presentSubscription(found);
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
      await remove(sql, caller, webhook, { actor: caller.actor, now: clock() });
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
    description: rotationRules,
    params: webhookParam,
    success: { status: 200, description: 'The webhook, with its new secret.', schema: Subscription },
    errors: ['plan_required', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      const { sql, clock, webhooks } = service;
      const { webhook } = await requireWebhook(service, caller, id);
      await rotate(sql, webhooks.box, caller, webhook, { actor: caller.actor, now: clock() });
      return json(200, presentSubscription(await requireWebhook(service, caller, id)));
    },
  });
