import { accountWebhookKey } from '../../../events/webhooks/endpoint.ts';
import type { Caller } from '../../accounts/admission.ts';
import { Refusal } from '../../lib/errors.ts';
import type { ContractBody } from '../../webhooks/body.ts';
import { findWebhooks, remove, rotate, set, type WebhookDetails } from '../../webhooks/commands.ts';
import { listDeliveries } from '../../webhooks/deliveries.ts';
import { slotMs } from '../../webhooks/test-slots.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { pageOf } from '../http/schemas.ts';
import { presentPage } from '../qrcodes/present.ts';
import type { Service } from '../service.ts';
import { presentWebhook } from './present-webhook.ts';
import {
  checkUrl,
  exampleScan,
  presentDelivery,
  requireWebhooks,
  resendDeliveryOf,
  sendExample,
} from './webhook-actions.ts';
import { deliveryRules, pendingRules, resendRules, rotationRules, testRules } from './webhook-rules.ts';
import { DeletedWebhook, Delivery, deliveriesQuery, NewWebhook, Webhook, WebhookTest } from './webhook-schemas.ts';

const tag = 'Webhook';

/** Operations on the webhook of the key's mode and on its deliveries. */
export const webhookOperations = (service: Service): Operation[] => [
  getWebhook(service),
  setWebhook(service),
  deleteWebhook(service),
  rotateSecret(service),
  sendTest(service),
  listWebhookDeliveries(service),
  resendDelivery(service),
];

const find = async ({ sql, clock, webhooks }: Service, caller: Caller): Promise<WebhookDetails | undefined> =>
  (await findWebhooks(sql, webhooks.box, caller, { webhook: caller.mode, now: clock() }))[0];

const noWebhook = () =>
  new Refusal('not_found', 'No webhook is set in the mode of this key: set one with PUT /v1/account/webhook.');

/** Finds the webhook of the caller's mode; throws if the plan has none or none is set. */
async function requireWebhook(service: Service, caller: Caller): Promise<WebhookDetails> {
  requireWebhooks(caller);
  const webhook = await find(service, caller);
  if (webhook === undefined) throw noWebhook();
  return webhook;
}

const getWebhook = (service: Service): Operation =>
  operation({
    operationId: 'getWebhook',
    method: 'GET',
    path: '/v1/account/webhook',
    tag,
    summary: 'Get the webhook',
    description: `${deliveryRules}\n\nEach mode has its own webhook; the mode of the key selects it.`,
    mayBeUnset: true,
    success: { status: 200, description: 'The webhook, with its signing secret.', schema: Webhook },
    errors: ['plan_required', 'not_found'],
    async handle({ caller }) {
      return json(200, presentWebhook(await requireWebhook(service, caller)));
    },
  });

const setWebhook = (service: Service): Operation =>
  operation({
    operationId: 'setWebhook',
    method: 'PUT',
    path: '/v1/account/webhook',
    tag,
    summary: 'Set the webhook',
    description: `Sends all scans from now on to this URL. The first call creates the secret; it stays the same when the URL changes. A disabled webhook is enabled again.\n\n${pendingRules}`,
    body: NewWebhook,
    success: { status: 200, description: 'The webhook, with its signing secret.', schema: Webhook },
    errors: ['invalid_request', 'plan_required', 'conflict'],
    async handle({ caller, body: { url } }) {
      requireWebhooks(caller);
      const { sql, clock, webhooks } = service;
      await checkUrl(url, webhooks.policy);
      await set(sql, webhooks.box, caller, url, { actor: caller.actor, now: clock() });
      const webhook = await find(service, caller);
      if (webhook === undefined)
        throw new Refusal('conflict', 'Another request removed the webhook at the same time: set it again.');
      return json(200, presentWebhook(webhook));
    },
  });

const deleteWebhook = (service: Service): Operation =>
  operation({
    operationId: 'deleteWebhook',
    method: 'DELETE',
    path: '/v1/account/webhook',
    tag,
    summary: 'Remove the webhook',
    description: `Stops all deliveries and destroys the secret. The delivery log is kept.\n\n${pendingRules}`,
    success: { status: 200, description: 'The webhook is removed.', schema: DeletedWebhook },
    errors: ['plan_required', 'not_found', 'conflict'],
    async handle({ caller }) {
      const { webhook } = await requireWebhook(service, caller);
      await remove(service.sql, caller, webhook, { actor: caller.actor, now: service.clock() });
      return json(200, { deleted: true, mode: caller.mode });
    },
  });

const rotateSecret = (service: Service): Operation =>
  operation({
    operationId: 'rotateWebhookSecret',
    method: 'POST',
    path: '/v1/account/webhook/rotate',
    tag,
    summary: 'Rotate the signing secret',
    description: rotationRules,
    success: { status: 200, description: 'The webhook, with its new secret.', schema: Webhook },
    errors: ['plan_required', 'not_found', 'conflict'],
    async handle({ caller }) {
      const { sql, clock, webhooks } = service;
      const { webhook } = await requireWebhook(service, caller);
      await rotate(sql, webhooks.box, caller, webhook, { actor: caller.actor, now: clock() });
      return json(200, presentWebhook(await requireWebhook(service, caller)));
    },
  });

const sendTest = (service: Service): Operation =>
  operation({
    operationId: 'sendTestEvent',
    method: 'POST',
    path: '/v1/account/webhook/test',
    tag,
    summary: 'Send an example event',
    description: `Sends one example scan now, signed like any other, even if the webhook is disabled, and returns the response of the receiver. ${testRules}`,
    success: { status: 200, description: 'The response of the receiver.', schema: WebhookTest },
    errors: ['plan_required', 'not_found'],
    answerWithinMs: slotMs(),
    async handle({ caller }) {
      const webhook = await requireWebhook(service, caller);
      const result = await sendExample<ContractBody>(service, webhook, exampleScan);
      if (result === undefined) throw noWebhook();
      return json(200, result);
    },
  });

const listWebhookDeliveries = ({ sql }: Service): Operation =>
  operation({
    operationId: 'listDeliveries',
    method: 'GET',
    path: '/v1/account/webhook/deliveries',
    tag,
    summary: 'List deliveries',
    description: `Newest scan first, each delivery with its attempts. Successful deliveries are kept for 7 days, failed ones for 30 days.\n\n${pendingRules}`,
    query: deliveriesQuery,
    success: { status: 200, description: 'One page of deliveries.', schema: pageOf(Delivery) },
    errors: ['invalid_request', 'plan_required'],
    async handle({ caller, query: { page = 1, limit = 20, status } }) {
      requireWebhooks(caller);
      const { deliveries, total } = await listDeliveries(sql, accountWebhookKey(caller), { page, limit, status });
      return json(
        200,
        presentPage(
          deliveries.map((delivery) => presentDelivery<ContractBody>(delivery, 'contract')),
          { page, limit },
          total,
        ),
      );
    },
  });

const resendDelivery = (service: Service): Operation =>
  operation({
    operationId: 'resendDelivery',
    method: 'POST',
    path: '/v1/account/webhook/deliveries/:id/resend',
    tag,
    summary: 'Resend a delivery',
    description: resendRules,
    params: { id: 'Identifier of the delivery, `whd_…`.' },
    success: { status: 200, description: 'The delivery, now pending.', schema: Delivery },
    errors: ['plan_required', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '' } }) {
      const webhook = await requireWebhook(service, caller);
      if (webhook.status === 'disabled')
        throw new Refusal(
          'conflict',
          'The webhook is disabled: enable it with PUT /v1/account/webhook, then resend the delivery.',
        );
      const delivery = await resendDeliveryOf(service, webhook, id);
      return json(200, presentDelivery<ContractBody>(delivery, webhook.body));
    },
  });
