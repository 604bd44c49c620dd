import { Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes } from './plans.ts';
import type { Pending } from './recorded.ts';

const mode = oneOf(modes);

export const disabledReasons = ['gone', 'failing'] as const;
/** Why a webhook was disabled: its receiver answered 410, or every delivery failed for 5 days. */
export type DisabledReason = (typeof disabledReasons)[number];

/**
 * Events of the webhook of an account and mode, in the account's stream. They contain no secret, not even an encrypted
 * one: the log is permanent and published to NATS, and it must be possible to destroy a secret.
 */
export const webhookEvents = {
  /** Set for the first time, changed to another URL, or enabled again. */
  webhook_set: defineEvent(1, Type.Object({ mode, url: Type.String() }, { additionalProperties: false })),
  /** The signing secret was replaced. */
  webhook_rotated: defineEvent(1, Type.Object({ mode }, { additionalProperties: false })),
  webhook_disabled: defineEvent(
    1,
    Type.Object({ mode, reason: oneOf(disabledReasons) }, { additionalProperties: false }),
  ),
  webhook_removed: defineEvent(1, Type.Object({ mode }, { additionalProperties: false })),
};

export type WebhookEvent = EventOf<typeof webhookEvents>;

export interface Webhook {
  account: string;
  mode: Mode;
  url: string;
  status: 'enabled' | 'disabled';
  reason: DisabledReason | null;
  /** When it got this status. */
  since: Date;
  created_at: Date;
}

export const setWebhook = (webhook: Webhook | undefined, mode: Mode, url: string): WebhookEvent[] =>
  webhook?.url === url && webhook.status === 'enabled' ? [] : [{ type: 'webhook_set', data: { mode, url } }];

export const rotateWebhook = ({ mode }: Webhook): WebhookEvent[] => [{ type: 'webhook_rotated', data: { mode } }];

export const disableWebhook = ({ mode, status }: Webhook, reason: DisabledReason): WebhookEvent[] =>
  status === 'disabled' ? [] : [{ type: 'webhook_disabled', data: { mode, reason } }];

export const removeWebhook = ({ mode }: Webhook): WebhookEvent[] => [{ type: 'webhook_removed', data: { mode } }];

/** Returns the webhook after `event`; undefined if it was removed. */
export function evolveWebhook(webhook: Webhook | undefined, event: Pending<WebhookEvent>): Webhook | undefined {
  if (event.type === 'webhook_set') {
    const { mode, url } = event.data;
    const wasEnabled = webhook?.status === 'enabled';
    const since = wasEnabled ? webhook.since : event.occurred_at;
    const created_at = webhook?.created_at ?? event.occurred_at;
    return { account: event.stream, mode, url, status: 'enabled', reason: null, since, created_at };
  }
  if (webhook === undefined) throw new Error(`${event.stream} has ${event.type} without a webhook`);
  if (event.type === 'webhook_removed') return undefined;
  if (event.type === 'webhook_rotated') return webhook;
  return { ...webhook, status: 'disabled', reason: event.data.reason, since: event.occurred_at };
}

export const isWebhookEvent = <E extends { type: string }>(event: E): event is E & WebhookEvent =>
  Object.hasOwn(webhookEvents, event.type);
