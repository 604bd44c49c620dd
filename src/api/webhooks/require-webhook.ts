import { keyOfWebhook } from '../../../events/webhooks/endpoint.ts';
import type { Caller } from '../../accounts/admission.ts';
import { notFound, Refusal } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { findWebhooks, type WebhookDetails } from '../../webhooks/commands.ts';
import type { Service } from '../service.ts';
import { requireWebhooks } from './webhook-actions.ts';

export const webhookParam = { id: 'Identifier of the webhook, `wh_…`.' };

/** Finds a webhook of the caller's mode by its id; throws if the plan has none or there is no such webhook. */
export async function requireWebhook(service: Service, caller: Caller, id: string): Promise<WebhookDetails> {
  requireWebhooks(caller);
  const { sql, clock, webhooks } = service;
  const { webhook } = keyOfWebhook(caller, id);
  const isValid = webhook !== id || isId('wh', id);
  const [found] = isValid ? await findWebhooks(sql, webhooks.box, caller, { webhook, now: clock() }) : [];
  if (found === undefined) throw notFound('webhook');
  return found;
}

/** Throws unless the webhook is enabled. */
export function requireEnabled(webhook: WebhookDetails, then: string): WebhookDetails {
  const { status } = webhook;
  if (status !== 'enabled')
    throw new Refusal('conflict', `The webhook is ${status}: set \`active\` to true with PATCH, then ${then}.`);
  return webhook;
}
