import type { Static } from '@sinclair/typebox';
import { webhookId } from '../../../events/webhooks/endpoint.ts';
import type { WebhookEventType } from '../../../events/webhooks/webhook-events.ts';
import type { WebhookDetails } from '../../webhooks/commands.ts';
import type { Replay as StoredReplay } from '../../webhooks/replays.ts';
import type { Webhook } from './webhook-schemas.ts';
import type { ReplayResponse, Subscription } from './webhooks-schemas.ts';

/** What every webhook has besides its settings. */
const stateOf = (webhook: WebhookDetails) => ({
  disabled_reason: webhook.reason,
  status_since: webhook.since.toISOString(),
  failing_since: webhook.failing_since?.toISOString() ?? null,
  secret: webhook.secret,
  old_secret_valid_until: webhook.previous_until?.toISOString() ?? null,
  created_at: webhook.created_at.toISOString(),
});

/** The webhook of `/v1/account/webhook`. */
export const presentWebhook = (webhook: WebhookDetails): Static<typeof Webhook> => ({
  url: webhook.url,
  mode: webhook.mode,
  // It cannot be paused.
  status: webhook.status === 'enabled' ? 'enabled' : 'disabled',
  ...stateOf(webhook),
});

export const presentSubscription = (webhook: WebhookDetails): Static<typeof Subscription> => ({
  id: webhookId(webhook),
  url: webhook.url,
  events: webhook.events as WebhookEventType[],
  qr_ids: webhook.qr_ids,
  tags: webhook.tags,
  description: webhook.description,
  active: webhook.status === 'enabled',
  mode: webhook.mode,
  account_webhook: webhook.body === 'contract',
  status: webhook.status,
  ...stateOf(webhook),
  updated_at: webhook.updated_at.toISOString(),
});

export function presentReplay(replay: StoredReplay, webhook_id: string): ReplayResponse {
  const { id, status, choice, from_time, to_time, delivered, failed, created_at, ended_at } = replay;
  const isCounted = status !== 'running' || replay.counted_to >= replay.to_position;
  return {
    id,
    webhook_id,
    status,
    only: choice,
    from: from_time.toISOString(),
    to: to_time.toISOString(),
    total: isCounted ? replay.total : null,
    sent: delivered + failed,
    delivered,
    failed,
    created_at: created_at.toISOString(),
    ended_at: ended_at?.toISOString() ?? null,
  };
}
