import { Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from '../define.ts';
import { oneOf } from '../one-of.ts';
import { type Mode, modes } from '../plans.ts';
import type { Pending } from '../recorded.ts';
import type { EndpointKey } from './endpoint.ts';

/** The maximum of webhooks of `/v1/webhooks` in each mode. */
export const maxWebhooks = 10;

export const disabledReasons = ['gone', 'failing'] as const;
/** Why a webhook was disabled: its receiver answered 410, or every delivery failed for 5 days. */
export type DisabledReason = (typeof disabledReasons)[number];

/**
 * What is POSTed. `contract`: `{event, timestamp, data}` with the data of a scan that the interface names, of the webhook of
 * `/v1/account/webhook`. `event`: `{type, timestamp, data}` with the data of the event feed.
 */
export type BodyFormat = 'contract' | 'event';

/** Which events a webhook gets. `qr_ids` and `tags` are null for no such filter; an event must pass both. */
export interface EventFilter {
  /** Public types (events/public-types.ts). */
  events: string[];
  qr_ids: string[] | null;
  tags: string[] | null;
}

/** What a webhook gets: events of the codes of a mode, and in which form. */
export interface WebhookFilter extends EventFilter {
  mode: Mode;
  body: BodyFormat;
}

export interface WebhookSettings extends EventFilter {
  url: string;
  description: string;
  active: boolean;
}

const text = (example: string) => Type.String({ examples: [example] });
const texts = (example: string) => Type.Array(text(example));
const orNull = (example: string) => Type.Union([texts(example), Type.Null()]);
const exact = { additionalProperties: false };

/** The schema of what an owner sets about a webhook, as it is stored. */
export const webhookSettings = {
  url: text('https://example.com/hooks/events'),
  description: text('Scans to the data warehouse'),
  events: texts('scan.created'),
  qr_ids: orNull('qr_0VMNcq2hE3kx0dTtWq8LbY'),
  tags: orNull('summer'),
  active: Type.Boolean(),
};
const changes = Type.Partial(Type.Object(webhookSettings, exact), exact);
const mode = oneOf(modes);
const reason = oneOf(disabledReasons);
const identity = { webhook: Type.String(), mode };

/** Events of the webhook of `/v1/account/webhook`, one of each mode. */
export const accountWebhookEvents = {
  /** Set for the first time, changed to another URL, or enabled again. */
  webhook_set: defineEvent(1, Type.Object({ mode, url: Type.String() }, exact)),
  /** The signing secret was replaced. */
  webhook_rotated: defineEvent(1, Type.Object({ mode }, exact)),
  webhook_disabled: defineEvent(1, Type.Object({ mode, reason }, exact)),
  webhook_removed: defineEvent(1, Type.Object({ mode }, exact)),
};

/** Events of the webhooks of `/v1/webhooks`. */
export const subscriptionEvents = {
  webhook_created: defineEvent(1, Type.Object({ ...identity, ...webhookSettings }, exact)),
  /** Only the fields that changed. `active: true` also enables a webhook that the service had disabled. */
  webhook_changed: defineEvent(1, Type.Object({ ...identity, from: changes, to: changes }, exact)),
  webhook_secret_rotated: defineEvent(1, Type.Object(identity, exact)),
  /** Disabled by the service. */
  webhook_stopped: defineEvent(1, Type.Object({ ...identity, reason }, exact)),
  webhook_deleted: defineEvent(1, Type.Object(identity, exact)),
};

/**
 * Events of webhooks, in the account's stream. They contain no secret, not even an encrypted one: the log is permanent and
 * published to NATS, and it must be possible to destroy a secret.
 */
export const webhookEvents = { ...accountWebhookEvents, ...subscriptionEvents };

export type WebhookEvent = EventOf<typeof webhookEvents>;

export const isWebhookEvent = <E extends { type: string }>(event: E): event is E & WebhookEvent =>
  Object.hasOwn(webhookEvents, event.type);

/** A webhook as its account has set it. */
export interface Webhook extends EndpointKey, WebhookFilter {
  url: string;
  description: string;
  status: 'enabled' | 'paused' | 'disabled';
  reason: DisabledReason | null;
  /** When it got this status. */
  since: Date;
  created_at: Date;
  updated_at: Date;
}

/** The webhook that an event is about. */
export const keyOfEvent = ({ stream: account, data }: { stream: string } & WebhookEvent): EndpointKey => ({
  account,
  webhook: 'webhook' in data ? data.webhook : data.mode,
});

/** What the webhook of `/v1/account/webhook` gets. */
export const contractFilter = (mode: Mode): WebhookFilter => ({
  mode,
  body: 'contract',
  events: ['scan.created'],
  qr_ids: null,
  tags: null,
});

/** Returns the webhook after `event`; undefined if it was removed. */
export function evolveWebhook(webhook: Webhook | undefined, event: Pending<WebhookEvent>): Webhook | undefined {
  const { occurred_at: now } = event;
  const key = keyOfEvent(event);
  if (event.type === 'webhook_created') {
    const { webhook: _, active, ...given } = event.data;
    const times = { since: now, created_at: now, updated_at: now };
    return { ...key, ...given, body: 'event', status: active ? 'enabled' : 'paused', reason: null, ...times };
  }
  if (event.type === 'webhook_set') {
    const since = webhook?.status === 'enabled' ? webhook.since : now;
    const times = { since, created_at: webhook?.created_at ?? now, updated_at: since };
    const { mode, url } = event.data;
    return { ...key, ...contractFilter(mode), url, description: '', status: 'enabled', reason: null, ...times };
  }
  if (webhook === undefined) throw new Error(`${event.stream} has ${event.type} of an unknown webhook`);
  switch (event.type) {
    case 'webhook_removed':
    case 'webhook_deleted':
      return undefined;
    case 'webhook_rotated':
    case 'webhook_secret_rotated':
      return webhook;
    case 'webhook_disabled':
      return { ...webhook, status: 'disabled', reason: event.data.reason, since: now, updated_at: now };
    case 'webhook_stopped':
      return { ...webhook, status: 'disabled', reason: event.data.reason, since: now };
    case 'webhook_changed': {
      const { active, ...to } = event.data.to;
      const changed = { ...webhook, ...to, updated_at: now };
      if (active === undefined) return changed;
      return { ...changed, status: active ? 'enabled' : 'paused', reason: null, since: now };
    }
  }
}

/** Whether a webhook gets events, and which. */
export interface Subscribed {
  is_set: boolean;
  filter: WebhookFilter;
}

const nothing = (mode: Mode): WebhookFilter => ({ mode, body: 'event', events: [], qr_ids: null, tags: null });

/** What a webhook gets after `event`. `before` is undefined for one that is not known yet. */
export function subscribedAfter(before: Subscribed | undefined, event: WebhookEvent): Subscribed {
  const { mode } = event.data;
  const { is_set, filter } = before ?? { is_set: false, filter: nothing(mode) };
  switch (event.type) {
    case 'webhook_set':
      return { is_set: true, filter: contractFilter(mode) };
    case 'webhook_created': {
      const { events, qr_ids, tags, active } = event.data;
      return { is_set: active, filter: { mode, body: 'event', events, qr_ids, tags } };
    }
    case 'webhook_changed': {
      const { active = is_set, url: _, description: __, ...to } = event.data.to;
      return { is_set: active, filter: { ...filter, ...to } };
    }
    case 'webhook_rotated':
    case 'webhook_secret_rotated':
      return { is_set, filter };
    default:
      return { is_set: false, filter };
  }
}

/** Whether a webhook gets an event of this type and code, which has these tags after the event. */
export const passes = (
  { events, qr_ids, tags }: EventFilter,
  event: { type: string; code: string; tags: readonly string[] },
): boolean =>
  events.includes(event.type) &&
  (qr_ids === null || qr_ids.includes(event.code)) &&
  (tags === null || tags.some((tag) => event.tags.includes(tag)));
