import type { Static } from '@sinclair/typebox';
import { hasWebhooks } from '../../../events/plans.ts';
import type { EndpointKey } from '../../../events/webhooks/endpoint.ts';
import { type ContractScan, type Notification, notificationId } from '../../../events/webhooks/notification.ts';
import type { BodyFormat } from '../../../events/webhooks/webhook.ts';
import { notificationIn } from '../../../projections/delivery-columns.ts';
import type { Caller } from '../../accounts/admission.ts';
import { invalid, notFound, retryLater } from '../../lib/errors.ts';
import { isId, newId } from '../../lib/ids.ts';
import { bodyOf, type WebhookBody } from '../../webhooks/body.ts';
import { planRequired } from '../../webhooks/commands.ts';
import { resend, type Delivery as Stored } from '../../webhooks/deliveries.ts';
import {
  allowedAddresses,
  Forbidden,
  faultOfUrl,
  type Policy,
  resolveBySystem,
  vettedAddresses,
} from '../../webhooks/destination.ts';
import { signedHeaders } from '../../webhooks/signature.ts';
import { findTarget } from '../../webhooks/target.ts';
import { inTestSlot, maxInFlight } from '../../webhooks/test-slots.ts';
import { waitForWebhooksProjection } from '../../webhooks/wait-for-projection.ts';
import type { Service } from '../service.ts';
import type { Delivery, WebhookTest } from './webhook-schemas.ts';

/** What can be done with any webhook, of `/v1/account/webhook` and of `/v1/webhooks`. */

export function requireWebhooks({ plan }: Caller): void {
  if (!hasWebhooks(plan)) throw planRequired();
}

export async function checkUrl(url: string, policy: Policy): Promise<void> {
  const problem = faultOfUrl(url, policy);
  if (problem !== undefined) throw invalid([{ field: 'url', message: `url ${problem}.` }]);
  // A host that does not resolve is accepted, since it may exist later; one that resolves to a private address is refused.
  await vettedAddresses(new URL(url), policy, resolveBySystem).catch((error) => {
    if (error instanceof Forbidden)
      throw invalid([{ field: 'url', message: `url must resolve to ${allowedAddresses}.` }]);
  });
}

/** Sends an example event now, and returns the response of the receiver; undefined if there is no such webhook. */
export async function sendExample<B extends WebhookBody>(
  { sql, clock, webhooks: { box, send } }: Pick<Service, 'sql' | 'clock' | 'webhooks'>,
  key: EndpointKey,
  example: (at: Date) => Notification,
): Promise<(Omit<Static<typeof WebhookTest>, 'body'> & { body: B }) | undefined> {
  const at = clock();
  const target = await findTarget(sql, box, key, at, { onlyWhenOn: false });
  if (target === undefined) return undefined;
  const notification = example(at);
  const { id } = notification;
  const body = bodyOf({ ...notification, qr_name: 'Example' }, target.body) as B;
  const text = JSON.stringify(body);
  const headers = signedHeaders({ id, at, body: text, secrets: target.secrets });
  const attempt = await inTestSlot(sql, key, id, () => send({ url: target.url, body: text, headers }));
  if (attempt === undefined) throw webhookBusy();
  const { outcome, status, ms, answer, error } = attempt;
  return {
    delivered: outcome === 'delivered',
    webhook_id: id,
    body,
    status_code: status,
    duration_ms: ms,
    response: answer,
    error,
  };
}

const webhookBusy = () =>
  retryLater(
    `All ${maxInFlight} concurrent requests of this webhook are in use, since its receiver is slow: try again in a few seconds.`,
  );

/** An example of what `/v1/account/webhook` sends for a scan. */
export function exampleScan(at: Date): Notification {
  const [code, scan_id] = [newId('qr', at.getTime()), newId('scan', at.getTime())];
  const data: ContractScan = { qr_id: code, scan_id, country: 'DE', city: 'Berlin', device: 'ios', is_unique: true };
  return { id: notificationId(scan_id), type: 'scan.created', code, timestamp: at, data };
}

/** Makes a delivery of an enabled webhook due now. */
export async function resendDeliveryOf({ sql, clock }: Service, key: EndpointKey, id: string): Promise<Stored> {
  await waitForWebhooksProjection(sql, key.account);
  const delivery = isId('whd', id) ? await resend(sql, key, id, clock()) : undefined;
  if (delivery === undefined) throw notFound('delivery');
  return delivery;
}

export const presentDelivery = <B extends WebhookBody>(
  delivery: Stored,
  format: BodyFormat,
): Omit<Static<typeof Delivery>, 'body'> & { body: B } => ({
  id: delivery.id,
  status: delivery.status,
  body: bodyOf({ ...notificationIn(delivery), qr_name: delivery.qr_name }, format) as B,
  created_at: delivery.created_at.toISOString(),
  next_attempt_at: delivery.status === 'pending' ? delivery.due_at.toISOString() : null,
  error: delivery.error,
  attempts: delivery.attempts.map(({ at, ms, status, answer, error }) => ({
    timestamp: at,
    duration_ms: ms,
    status_code: status,
    response: answer,
    error,
  })),
});
