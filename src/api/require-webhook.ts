import type { Static } from '@sinclair/typebox';
import { type EndpointKey, keyOfWebhook } from '../../events/endpoint.ts';
import type { Caller } from '../accounts/admission.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { findWebhook } from '../webhooks/commands.ts';
import { findSubscriptions } from '../webhooks/subscriptions.ts';
import { presentAccountWebhook, presentSubscription } from './present-webhook.ts';
import type { Service } from './service.ts';
import { requireWebhooks } from './webhook-actions.ts';
import type { Subscription } from './webhooks-schemas.ts';

export const webhookParam = { id: 'Identifier of the webhook, `wh_…`.' };

/** A webhook of the caller's mode, and its key in the tables. */
export interface FoundWebhook {
  key: EndpointKey;
  webhook: Static<typeof Subscription>;
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
    const [found] = await findSubscriptions(sql, webhooks.box, caller, { id, now });
    if (found !== undefined) return { key, webhook: presentSubscription(found) };
  }
  throw notFound('webhook');
}

/** Throws unless the webhook is enabled. */
export function requireEnabled(found: FoundWebhook, then: string): FoundWebhook {
  const { status } = found.webhook;
  if (status !== 'enabled')
    throw new Refusal('conflict', `The webhook is ${status}: set \`active\` to true with PATCH, then ${then}.`);
  return found;
}
