import { Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes } from './plans.ts';
import type { Pending } from './recorded.ts';
import { type DisabledReason, disabledReasons } from './webhook.ts';

/** The maximum of webhooks of `/v1/webhooks` in each mode. */
export const maxSubscriptions = 10;

/** Which events a webhook gets. `qr_ids` and `tags` are null for no such filter; an event must pass both. */
export interface EventFilter {
  /** Public types (events/public-types.ts). */
  events: string[];
  qr_ids: string[] | null;
  tags: string[] | null;
}

export interface SubscriptionSettings extends EventFilter {
  url: string;
  description: string;
  active: boolean;
}

const text = (example: string) => Type.String({ examples: [example] });
const texts = (example: string) => Type.Array(text(example));
const orNull = (example: string) => Type.Union([texts(example), Type.Null()]);
const exact = { additionalProperties: false };

/** The schema of what an owner sets about a webhook, as it is stored. */
export const subscriptionSettings = {
  url: text('https://example.com/hooks/events'),
  description: text('Scans to the data warehouse'),
  events: texts('scan.created'),
  qr_ids: orNull('qr_0VMNcq2hE3kx0dTtWq8LbY'),
  tags: orNull('summer'),
  active: Type.Boolean(),
};
const changes = Type.Partial(Type.Object(subscriptionSettings, exact), exact);
const identity = { webhook: Type.String(), mode: oneOf(modes) };

/**
 * Events of the webhooks of `/v1/webhooks`, in the account's stream; the events of `/v1/account/webhook` are in webhook.ts. They
 * contain no secret.
 */
export const subscriptionEvents = {
  webhook_created: defineEvent(1, Type.Object({ ...identity, ...subscriptionSettings }, exact)),
  /** Only the fields that changed. `active: true` also enables a webhook that the service had disabled. */
  webhook_changed: defineEvent(1, Type.Object({ ...identity, from: changes, to: changes }, exact)),
  webhook_secret_rotated: defineEvent(1, Type.Object(identity, exact)),
  /** Disabled by the service. */
  webhook_stopped: defineEvent(1, Type.Object({ ...identity, reason: oneOf(disabledReasons) }, exact)),
  webhook_deleted: defineEvent(1, Type.Object(identity, exact)),
};

export type SubscriptionEvent = EventOf<typeof subscriptionEvents>;

/** A webhook of `/v1/webhooks`. */
export interface Subscription extends EventFilter {
  id: string;
  account: string;
  mode: Mode;
  url: string;
  description: string;
  status: 'enabled' | 'paused' | 'disabled';
  reason: DisabledReason | null;
  /** When it got this status. */
  since: Date;
  created_at: Date;
  updated_at: Date;
}

export const isSubscriptionEvent = <E extends { type: string }>(event: E): event is E & SubscriptionEvent =>
  Object.hasOwn(subscriptionEvents, event.type);

const settingNames = Object.keys(subscriptionSettings) as (keyof SubscriptionSettings)[];

const settingsOf = ({ url, description, events, qr_ids, tags, status }: Subscription): SubscriptionSettings => ({
  ...{ url, description, events, qr_ids, tags, active: status === 'enabled' },
});

const identityOf = ({ id, mode }: Subscription) => ({ webhook: id, mode });

export const createSubscription = (webhook: string, mode: Mode, given: SubscriptionSettings): SubscriptionEvent[] => [
  { type: 'webhook_created', data: { webhook, mode, ...given } },
];

/** None if the change changes nothing. */
export function changeSubscription(
  subscription: Subscription,
  change: Partial<SubscriptionSettings>,
): SubscriptionEvent[] {
  const before = settingsOf(subscription);
  const changed = settingNames.filter(
    (name) => change[name] !== undefined && JSON.stringify(change[name]) !== JSON.stringify(before[name]),
  );
  if (changed.length === 0) return [];
  const only = (values: Partial<SubscriptionSettings>) =>
    Object.fromEntries(changed.map((name) => [name, values[name]])) as Partial<SubscriptionSettings>;
  return [{ type: 'webhook_changed', data: { ...identityOf(subscription), from: only(before), to: only(change) } }];
}

export const rotateSubscription = (subscription: Subscription): SubscriptionEvent[] => [
  { type: 'webhook_secret_rotated', data: identityOf(subscription) },
];

export const stopSubscription = (subscription: Subscription, reason: DisabledReason): SubscriptionEvent[] =>
  subscription.status === 'enabled' ? [{ type: 'webhook_stopped', data: { ...identityOf(subscription), reason } }] : [];

export const deleteSubscription = (subscription: Subscription): SubscriptionEvent[] => [
  { type: 'webhook_deleted', data: identityOf(subscription) },
];

/** Returns the webhook after `event`; undefined if it was deleted. */
export function evolveSubscription(
  subscription: Subscription | undefined,
  event: Pending<SubscriptionEvent>,
): Subscription | undefined {
  const { stream: account, occurred_at } = event;
  if (event.type === 'webhook_created') {
    const { webhook: id, mode, active, ...given } = event.data;
    const status = active ? 'enabled' : 'paused';
    const times = { since: occurred_at, created_at: occurred_at, updated_at: occurred_at };
    return { id, account, mode, ...given, status, reason: null, ...times };
  }
  if (subscription === undefined) throw new Error(`${account} has ${event.type} of an unknown webhook`);
  if (event.type === 'webhook_deleted') return undefined;
  if (event.type === 'webhook_secret_rotated') return subscription;
  if (event.type === 'webhook_stopped')
    return { ...subscription, status: 'disabled', reason: event.data.reason, since: occurred_at };
  const { active, ...to } = event.data.to;
  const changed = { ...subscription, ...to, updated_at: occurred_at };
  if (active === undefined) return changed;
  return { ...changed, status: active ? 'enabled' : 'paused', reason: null, since: occurred_at };
}

/** Whether a webhook gets an event of this type and code, which has these tags after the event. */
export const passes = (
  { events, qr_ids, tags }: EventFilter,
  event: { type: string; code: string; tags: readonly string[] },
): boolean =>
  events.includes(event.type) &&
  (qr_ids === null || qr_ids.includes(event.code)) &&
  (tags === null || tags.some((tag) => event.tags.includes(tag)));
