import { type EndpointKey, endpointKey } from '../events/endpoint.ts';
import type { LogEntry } from '../events/entry.ts';
import { type Owner, ownerKey } from '../events/owner.ts';
import { hasWebhooks, type Mode } from '../events/plans.ts';
import {
  type EventFilter,
  isSubscriptionEvent,
  type SubscriptionEvent,
  subscriptionEvents,
} from '../events/subscription.ts';
import { type WebhookEvent, webhookEvents } from '../events/webhook.ts';

/** What a webhook of `/v1/webhooks` gets: events of the codes of a mode. */
interface EndpointFilter extends EventFilter {
  mode: Mode;
}

/** A webhook at the position of the projection. */
export interface Endpoint extends EndpointKey {
  is_set: boolean;
  is_paid: boolean;
  generation: number;
  stopped_by: string | null;
  dropping: boolean;
  /** Null for the webhook of `/v1/account/webhook`. */
  filter: EndpointFilter | null;
}

/** An entry that changes endpoints. */
export type EndpointEntry = Extract<
  LogEntry,
  WebhookEvent | SubscriptionEvent | { type: 'plan_changed' } | { type: 'account_deleted' }
>;

export const endpointEntryTypes = [
  ...Object.keys(webhookEvents),
  ...Object.keys(subscriptionEvents),
  'plan_changed',
  'account_deleted',
];
const entryTypes: ReadonlySet<string> = new Set(endpointEntryTypes);

export const changesEndpoints = <E extends { type: string }>(entry: E): entry is E & EndpointEntry =>
  entryTypes.has(entry.type);

/** The error shown for a delivery that was not sent, by why its webhook stopped. */
export const stopErrors: Readonly<Record<string, string>> = {
  paused: 'The webhook was paused before this could be sent.',
  removed: 'The webhook was removed before this could be sent.',
  plan: 'The account went to a plan without webhooks before this could be sent.',
  gone: 'The webhook was disabled before this could be sent: its receiver had answered 410.',
  failing: 'The webhook was disabled before this could be sent: every delivery had failed for 5 days.',
};

export const isActive = ({ is_set, is_paid }: Endpoint) => is_set && is_paid;

/** Changes an endpoint. One that stops for `reason` begins a new generation: what waits is never sent. */
function changed(endpoint: Endpoint, to: Partial<Endpoint>, reason: string): Endpoint {
  const wasActive = isActive(endpoint);
  Object.assign(endpoint, to);
  if (wasActive && !isActive(endpoint))
    Object.assign(endpoint, { generation: endpoint.generation + 1, stopped_by: reason, dropping: true });
  return endpoint;
}

/** Endpoints of some accounts at a position of the log, by their key, and by the owner of the codes whose events they get. */
export class Endpoints {
  readonly #byKey = new Map<string, Endpoint>();
  readonly #byOwner = new Map<string, Endpoint[]>();

  constructor(endpoints: Endpoint[]) {
    for (const endpoint of endpoints) this.#add(endpoint);
  }

  get all(): Endpoint[] {
    return [...this.#byKey.values()];
  }

  of(owner: Owner): Endpoint[] {
    return this.#byOwner.get(ownerKey(owner)) ?? [];
  }

  /** Whether any of them filters by tags, or does so by these entries. */
  filterByTags(entries: LogEntry[]): boolean {
    const isByTags = ({ tags }: Partial<EventFilter>) => tags !== undefined && tags !== null;
    return (
      this.all.some(({ filter }) => filter !== null && isByTags(filter)) ||
      entries.some(
        (entry) =>
          (entry.type === 'webhook_created' && isByTags(entry.data)) ||
          (entry.type === 'webhook_changed' && isByTags(entry.data.to)),
      )
    );
  }

  /** Changes the endpoints that an entry is about, and returns them. */
  changeBy(entry: EndpointEntry): Endpoint[] {
    const { stream: account } = entry;
    if (entry.type === 'plan_changed') {
      const is_paid = hasWebhooks(entry.data.to);
      return this.#ofAccount(account).map((endpoint) => changed(endpoint, { is_paid }, 'plan'));
    }
    if (entry.type === 'account_deleted')
      return this.#ofAccount(account).map((endpoint) => changed(endpoint, { is_set: false }, 'removed'));
    if (isSubscriptionEvent(entry)) return this.#changeSubscription(entry);
    const endpoint = this.#get({ account, mode: entry.data.mode }, null);
    switch (entry.type) {
      case 'webhook_set':
        return [changed(endpoint, { is_set: true, is_paid: true }, '')];
      case 'webhook_disabled':
        return [changed(endpoint, { is_set: false }, entry.data.reason)];
      case 'webhook_removed':
        return [changed(endpoint, { is_set: false }, 'removed')];
      case 'webhook_rotated':
        return [];
    }
  }

  #changeSubscription(event: Extract<EndpointEntry, SubscriptionEvent>): Endpoint[] {
    const { webhook, mode } = event.data;
    const filter = { mode, events: [], qr_ids: null, tags: null };
    const endpoint = this.#get({ account: event.stream, mode: webhook }, filter);
    switch (event.type) {
      case 'webhook_created': {
        const { events, qr_ids, tags, active } = event.data;
        return [changed(endpoint, { is_set: active, is_paid: true, filter: { mode, events, qr_ids, tags } }, '')];
      }
      case 'webhook_changed': {
        const { active = endpoint.is_set, url: _, description: __, ...to } = event.data.to;
        return [changed(endpoint, { is_set: active, filter: { ...filter, ...endpoint.filter, ...to } }, 'paused')];
      }
      case 'webhook_stopped':
        return [changed(endpoint, { is_set: false }, event.data.reason)];
      case 'webhook_deleted':
        // Dropping, also if it was paused: then the row of the endpoint is deleted (src/webhooks/upkeep.ts).
        return [changed(endpoint, { is_set: false, stopped_by: 'removed', dropping: true }, 'removed')];
      case 'webhook_secret_rotated':
        return [];
    }
  }

  /** The endpoint with this key; a new one, which is not set, if there is none. */
  #get(key: EndpointKey, filter: EndpointFilter | null): Endpoint {
    const found = this.#byKey.get(endpointKey(key));
    if (found !== undefined) return found;
    // A webhook can only be set on a plan that includes webhooks, hence is_paid.
    const state = { is_set: false, is_paid: true, generation: 0, stopped_by: null, dropping: false };
    const endpoint = { ...key, ...state, filter };
    this.#add(endpoint);
    return endpoint;
  }

  #ofAccount(account: string): Endpoint[] {
    return this.all.filter((endpoint) => endpoint.account === account);
  }

  #add(endpoint: Endpoint): void {
    this.#byKey.set(endpointKey(endpoint), endpoint);
    const { account, mode, filter } = endpoint;
    const owner = ownerKey({ account, mode: filter?.mode ?? mode });
    this.#byOwner.set(owner, [...(this.#byOwner.get(owner) ?? []), endpoint]);
  }
}
