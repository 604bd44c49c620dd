import { type Static, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../events/one-of.ts';
import { hasWebhooks } from '../../events/plans.ts';
import {
  findWebhook,
  noWebhook,
  type OwnWebhook,
  planRequired,
  remove,
  rotate,
  set,
  untilFollowed,
} from '../accounts/webhooks.ts';
import { invalid, notFound, Refusal } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import { bodyOf, eventOf } from '../webhooks/body.ts';
import { deliveryStatuses, listDeliveries, resend, type Delivery as Stored } from '../webhooks/deliveries.ts';
import { Forbidden, faultOfUrl, type Policy, resolveBySystem, vettedAddresses } from '../webhooks/destination.ts';
import { sendTimeoutMs } from '../webhooks/send.ts';
import { signedHeaders } from '../webhooks/signature.ts';
import { findTarget } from '../webhooks/target.ts';
import { inTestSlot, maxInFlight, testWaitMs } from '../webhooks/test-slots.ts';
import type { Caller } from './admission.ts';
import { json } from './answers.ts';
import { type Operation, operation } from './operation.ts';
import { presentPage } from './present.ts';
import { pageOf, pageQuery } from './schemas.ts';
import type { Service } from './service.ts';
import { DeletedWebhook, Delivery, NewWebhook, Webhook, WebhookTest } from './webhook-schemas.ts';

const tag = 'Webhook';
const sending = [
  'Every scan is POSTed as the interface’s `scan.created`, signed as [Standard Webhooks](https://www.standardwebhooks.com) says: `webhook-id`, `webhook-timestamp`, `webhook-signature`.',
  'At least once: the same `webhook-id` may come again. Success is a 2xx within 15 s; redirects are not followed. A failure is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each ±20 %; a longer `Retry-After` is honoured up to twice that.',
  'An answer of 410, or 5 days of nothing but failures, disables the webhook; PUT it again to enable it.',
].join('\n\n');

const stops =
  'What waits when a webhook is removed or disabled, or its account goes to the Free plan, is not sent: it becomes `failed`, with the reason, and can be sent again by hand for 30 days. What waits when the URL changes goes to the new one. Scans of a code that is deleted meanwhile are still sent: they happened.';

/** The webhook of the key's mode, and its deliveries. */
export function webhookOperations({ sql, clock, webhooks: { box, policy, send } }: Service): Operation[] {
  const own = async (caller: Caller): Promise<OwnWebhook> => {
    if (!hasWebhooks(caller.plan)) throw planRequired();
    const webhook = await findWebhook(sql, box, caller, clock());
    if (webhook === undefined) throw noWebhook();
    return webhook;
  };
  const by = ({ key }: Caller) => ({ actor: key, now: clock() });

  return [
    operation({
      method: 'GET',
      path: '/v1/account/webhook',
      tag,
      summary: 'Get the webhook',
      description: `${sending}\n\nEach mode has a webhook of its own; the key decides which.`,
      success: { status: 200, description: 'The webhook, with its signing secret.', schema: Webhook },
      errors: ['plan_required', 'not_found'],
      async handle({ caller }) {
        return json(200, presentWebhook(await own(caller)));
      },
    }),

    operation({
      method: 'PUT',
      path: '/v1/account/webhook',
      tag,
      summary: 'Set the webhook',
      description: `Scans from now on are sent there. The secret is made the first time and stays when the URL changes. A webhook that was disabled is enabled again.\n\n${stops}`,
      body: NewWebhook,
      success: { status: 200, description: 'The webhook, with its signing secret.', schema: Webhook },
      errors: ['invalid_request', 'plan_required', 'conflict', 'payload_too_large', 'unsupported_media_type'],
      async handle({ caller, body: { url } }) {
        if (!hasWebhooks(caller.plan)) throw planRequired();
        await checkUrl(url, policy);
        await set(sql, box, caller, url, by(caller));
        const webhook = await findWebhook(sql, box, caller, clock());
        if (webhook === undefined)
          throw new Refusal('conflict', 'Somebody else removed the webhook at the same moment: set it again.');
        return json(200, presentWebhook(webhook));
      },
    }),

    operation({
      method: 'DELETE',
      path: '/v1/account/webhook',
      tag,
      summary: 'Remove the webhook',
      description: `Nothing more is sent, and its secret is destroyed. The log of deliveries stays.\n\n${stops}`,
      success: { status: 200, description: 'The webhook is removed.', schema: DeletedWebhook },
      errors: ['plan_required', 'not_found', 'conflict'],
      async handle({ caller }) {
        await remove(sql, caller, by(caller));
        return json(200, { deleted: true, mode: caller.mode });
      },
    }),

    operation({
      method: 'POST',
      path: '/v1/account/webhook/rotate',
      tag,
      summary: 'Make a new signing secret',
      description:
        'For 24 hours deliveries carry two signatures, by the new secret and by the one before it, so that receivers can change over at any moment. Rotating again within that time ends the older one at once.',
      success: { status: 200, description: 'The webhook, with its new secret.', schema: Webhook },
      errors: ['plan_required', 'not_found', 'conflict'],
      async handle({ caller }) {
        await rotate(sql, box, caller, by(caller));
        return json(200, presentWebhook(await own(caller)));
      },
    }),

    operation({
      method: 'POST',
      path: '/v1/account/webhook/test',
      tag,
      summary: 'Send an example event',
      description:
        'Sends one made-up scan now, signed like any other, also when the webhook is disabled, and answers with what came back. Takes as long as the receiver does, up to 15 s. It is not tried again, and not in the log of deliveries. It counts as one of the 8 requests that a webhook may have in flight: while all of them are busy, it waits up to 5 s, then answers 503 `unavailable`.',
      success: { status: 200, description: 'What came back.', schema: WebhookTest },
      errors: ['plan_required', 'not_found'],
      answerWithinMs: testWaitMs + sendTimeoutMs + 5_000,
      async handle({ caller }) {
        await own(caller);
        const at = clock();
        const target = await findTarget(sql, box, caller, at, { onlyWhenOn: false });
        if (target === undefined) throw noWebhook();
        const notice = exampleNotice(at);
        const body = bodyOf(notice);
        const headers = signedHeaders({ id: notice.id, at, body, secrets: target.secrets });
        const attempt = await inTestSlot(sql, caller, notice.id, () => send({ url: target.url, body, headers }));
        if (attempt === undefined) throw webhookBusy();
        const { outcome, status, ms, answer, error } = attempt;
        const result: Static<typeof WebhookTest> = {
          delivered: outcome === 'delivered',
          webhook_id: notice.id,
          body: eventOf(notice),
          ...{ status_code: status, duration_ms: ms, response: answer, error },
        };
        return json(200, result);
      },
    }),

    operation({
      method: 'GET',
      path: '/v1/account/webhook/deliveries',
      tag,
      summary: 'List deliveries',
      description: `Newest scan first, each with its attempts. Delivered ones are kept for 7 days, failed ones for 30.\n\n${stops}`,
      query: t.Object({
        ...pageQuery({ default: 20, maximum: 100 }),
        status: t.Optional(oneOf(deliveryStatuses, { description: 'Only deliveries in this state.' })),
      }),
      success: { status: 200, description: 'One page of deliveries.', schema: pageOf(Delivery) },
      errors: ['invalid_request', 'plan_required'],
      async handle({ caller, query: { page = 1, limit = 20, status } }) {
        if (!hasWebhooks(caller.plan)) throw planRequired();
        const { deliveries, total } = await listDeliveries(sql, caller, { page, limit, status });
        return json(200, presentPage(deliveries.map(presentDelivery), { page, limit }, total));
      },
    }),

    operation({
      method: 'POST',
      path: '/v1/account/webhook/deliveries/:id/resend',
      tag,
      summary: 'Send a delivery again',
      description:
        'Whatever became of it: at once, under the same `webhook-id`, to the URL that is set now, and with all retries before it again.',
      params: { id: 'Identifier of the delivery, `whd_…`.' },
      success: { status: 200, description: 'The delivery, which is pending now.', schema: Delivery },
      errors: ['plan_required', 'not_found', 'conflict'],
      async handle({ caller, params: { id = '' } }) {
        const webhook = await own(caller);
        if (webhook.status === 'disabled')
          throw new Refusal('conflict', 'The webhook is disabled: PUT it again to enable it, then send this again.');
        await untilFollowed(sql, caller.account);
        const delivery = isId('whd', id) ? await resend(sql, caller, id, clock()) : undefined;
        if (delivery === undefined) throw notFound('delivery');
        return json(200, presentDelivery(delivery));
      },
    }),
  ];
}

const webhookBusy = () =>
  new Refusal(
    'unavailable',
    `All ${maxInFlight} requests that this webhook may have in flight are busy: its receiver answers slowly. Try again in a few seconds.`,
    undefined,
    { 'retry-after': '5' },
  );

async function checkUrl(url: string, policy: Policy): Promise<void> {
  const fault = faultOfUrl(url, policy);
  if (fault !== undefined) throw invalid([{ field: 'url', message: `url ${fault}.` }]);
  // A name that cannot be resolved yet may be one that is about to exist; one that leads inside is refused at once.
  await vettedAddresses(new URL(url), policy, resolveBySystem).catch((error) => {
    if (error instanceof Forbidden)
      throw invalid([{ field: 'url', message: `url must lead to a public address: ${error.message}` }]);
  });
}

const exampleNotice = (at: Date) => ({
  id: newId('whd', at.getTime()),
  code: newId('qr', at.getTime()),
  scanned_at: at,
  ...{ country: 'DE', city: 'Berlin', device: 'ios', is_unique: true },
});

const presentWebhook = (webhook: OwnWebhook): Static<typeof Webhook> => ({
  url: webhook.url,
  mode: webhook.mode,
  status: webhook.status,
  disabled_reason: webhook.reason,
  status_since: webhook.since.toISOString(),
  failing_since: webhook.failing_since?.toISOString() ?? null,
  secret: webhook.secret,
  old_secret_valid_until: webhook.previous_until?.toISOString() ?? null,
  created_at: webhook.created_at.toISOString(),
});

const presentDelivery = (delivery: Stored): Static<typeof Delivery> => ({
  id: delivery.id,
  status: delivery.status,
  body: eventOf(delivery),
  created_at: delivery.created_at.toISOString(),
  next_attempt_at: delivery.status === 'pending' ? delivery.due_at.toISOString() : null,
  error: delivery.error,
  attempts: delivery.attempts.map(({ at, ms, status, answer, error }) => ({
    ...{ timestamp: at, duration_ms: ms, status_code: status, response: answer, error },
  })),
});
