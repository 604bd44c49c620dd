import type { Mode } from '../plans.ts';
import {
  type DisabledReason,
  type Webhook,
  type WebhookEvent,
  type WebhookSettings,
  webhookSettings,
} from './webhook.ts';

/** Decisions about webhooks. The webhook of `/v1/account/webhook` has events of its own, which name no id. */

export const createWebhook = (webhook: string, mode: Mode, given: WebhookSettings): WebhookEvent[] => [
  { type: 'webhook_created', data: { webhook, mode, ...given } },
];

/** Sets the webhook of `/v1/account/webhook`. */
export const setWebhook = (webhook: Webhook | undefined, mode: Mode, url: string): WebhookEvent[] =>
  webhook?.url === url && webhook.status === 'enabled' ? [] : [{ type: 'webhook_set', data: { mode, url } }];

const settingNames = Object.keys(webhookSettings) as (keyof WebhookSettings)[];

const settingsOf = ({ url, description, events, qr_ids, tags, status }: Webhook): WebhookSettings => ({
  url,
  description,
  events,
  qr_ids,
  tags,
  active: status === 'enabled',
});

/** None if nothing changes. Of the webhook of `/v1/account/webhook` only the URL changes, and giving it enables it. */
export function changeWebhook(webhook: Webhook, change: Partial<WebhookSettings>): WebhookEvent[] {
  const { mode, body } = webhook;
  if (body === 'contract')
    return change.url !== undefined || change.active ? setWebhook(webhook, mode, change.url ?? webhook.url) : [];
  const before = settingsOf(webhook);
  const changed = settingNames.filter(
    (name) => change[name] !== undefined && JSON.stringify(change[name]) !== JSON.stringify(before[name]),
  );
  if (changed.length === 0) return [];
  const only = (values: Partial<WebhookSettings>) =>
    Object.fromEntries(changed.map((name) => [name, values[name]])) as Partial<WebhookSettings>;
  return [{ type: 'webhook_changed', data: { webhook: webhook.webhook, mode, from: only(before), to: only(change) } }];
}

export const rotateWebhook = ({ webhook, mode, body }: Pick<Webhook, 'webhook' | 'mode' | 'body'>): WebhookEvent[] =>
  body === 'contract'
    ? [{ type: 'webhook_rotated', data: { mode } }]
    : [{ type: 'webhook_secret_rotated', data: { webhook, mode } }];

/** None unless the webhook is enabled. */
export function disableWebhook({ webhook, mode, body, status }: Webhook, reason: DisabledReason): WebhookEvent[] {
  if (status !== 'enabled') return [];
  return body === 'contract'
    ? [{ type: 'webhook_disabled', data: { mode, reason } }]
    : [{ type: 'webhook_stopped', data: { webhook, mode, reason } }];
}

export const removeWebhook = ({ webhook, mode, body }: Webhook): WebhookEvent[] =>
  body === 'contract'
    ? [{ type: 'webhook_removed', data: { mode } }]
    : [{ type: 'webhook_deleted', data: { webhook, mode } }];
