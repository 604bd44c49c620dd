import { type Notification, notificationId } from '../../../events/webhooks/notification.ts';
import { notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { WebhookBody } from '../../webhooks/body.ts';
import { listDeliveries } from '../../webhooks/deliveries.ts';
import { slotMs } from '../../webhooks/test-slots.ts';
import { type Operation, operation } from '../http/operation.ts';
import { json } from '../http/responses.ts';
import { pageOf } from '../http/schemas.ts';
import { presentPage } from '../qrcodes/present.ts';
import type { Service } from '../service.ts';
import { requireEnabled, requireWebhook, webhookParam } from './require-webhook.ts';
import { exampleScan, presentDelivery, resendDeliveryOf, sendExample } from './webhook-actions.ts';
import { pendingRules, resendRules, testRules } from './webhook-rules.ts';
import { deliveriesQuery } from './webhook-schemas.ts';
import { SubscriptionDelivery, SubscriptionTest } from './webhooks-schemas.ts';

const tag = 'Webhooks';

/** Operations that send to one webhook of `/v1/webhooks`, and show what was sent. */
export const subscriptionDeliveryOperations = (service: Service): Operation[] => [
  sendTest(service),
  listWebhookDeliveries(service),
  resendDelivery(service),
];

const sendTest = (service: Service): Operation =>
  operation({
    operationId: 'testWebhook',
    method: 'POST',
    path: '/v1/webhooks/:id/test',
    tag,
    summary: 'Send an example event to a webhook',
    description: `Sends one example now, of the first of its types of events, signed like any other, even if the webhook is paused or disabled, and returns the response of the receiver. ${testRules}`,
    params: webhookParam,
    success: { status: 200, description: 'The response of the receiver.', schema: SubscriptionTest },
    errors: ['plan_required', 'not_found'],
    answerWithinMs: slotMs(),
    async handle({ caller, params: { id = '' } }) {
      const webhook = await requireWebhook(service, caller, id);
      const example = webhook.body === 'contract' ? exampleScan : exampleEvent(webhook.events);
      const result = await sendExample<WebhookBody>(service, webhook, example);
      if (result === undefined) throw notFound('webhook');
      return json(200, result);
    },
  });

/** An example of the first of these types, with the same data as in the event feed. */
const exampleEvent =
  (types: string[]) =>
  (at: Date): Notification => {
    const [type = 'scan.created'] = types;
    const { id, code, data } = exampleScan(at);
    if (type === 'alert.raised' || type === 'alert.cleared') {
      const found = exampleAlert(code, at);
      return { id: notificationId(newId('evt', at.getTime())), type, code, timestamp: at, data: found };
    }
    if (type !== 'scan.created') {
      const change = { qr_id: code, field: 'name', from: 'Spring menu', to: 'Summer menu' };
      return { id: notificationId(newId('evt', at.getTime())), type, code, timestamp: at, data: change };
    }
    const { scan_id, ...scan } = data as { scan_id: string };
    const record = {
      qr_id: code,
      id: scan_id,
      timestamp: at.toISOString(),
      country: 'DE',
      region: 'Land Berlin',
      city: 'Berlin',
      device: 'ios',
      browser: 'safari',
      is_unique: true,
      is_bot: false,
      rule: null,
      variant: null,
    };
    return { id, type, code, timestamp: at, data: { ...scan, ...record } };
  };

const exampleAlert = (code: string, at: Date) => ({
  alert_id: newId('alr', at.getTime()),
  mode: 'live',
  kind: 'silent',
  name: 'Menu links',
  qr_id: code,
  domain_id: null,
  title: '“Spring menu” is not scanned any more',
  message: '“Spring menu” has had no scan for 6 hours. In the same hours of 8 earlier weeks it had 21 on average.',
  url: `https://example.com/console/codes/${code}`,
  raised_at: at.toISOString(),
});

const listWebhookDeliveries = (service: Service): Operation =>
  operation({
    operationId: 'listDeliveriesOfWebhook',
    method: 'GET',
    path: '/v1/webhooks/:id/deliveries',
    tag,
    summary: 'List deliveries of a webhook',
    description: `Newest event first, each delivery with its attempts. Successful deliveries are kept for 7 days, failed ones for 30 days.\n\n${pendingRules}`,
    params: webhookParam,
    query: deliveriesQuery,
    success: { status: 200, description: 'One page of deliveries.', schema: pageOf(SubscriptionDelivery) },
    errors: ['invalid_request', 'plan_required', 'not_found'],
    async handle({ caller, params: { id = '' }, query: { page = 1, limit = 20, status } }) {
      const webhook = await requireWebhook(service, caller, id);
      const { deliveries, total } = await listDeliveries(service.sql, webhook, { page, limit, status });
      const presented = deliveries.map((delivery) => presentDelivery(delivery, webhook.body));
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
    description: resendRules,
    params: { ...webhookParam, delivery_id: 'Identifier of the delivery, `whd_…`.' },
    success: { status: 200, description: 'The delivery, now pending.', schema: SubscriptionDelivery },
    errors: ['plan_required', 'not_found', 'conflict'],
    async handle({ caller, params: { id = '', delivery_id = '' } }) {
      const webhook = requireEnabled(await requireWebhook(service, caller, id), 'resend the delivery');
      return json(200, presentDelivery(await resendDeliveryOf(service, webhook, delivery_id), webhook.body));
    },
  });
