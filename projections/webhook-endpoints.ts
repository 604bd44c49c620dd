import type { LogEntry } from '../events/entry.ts';
import { type Owner, ownerKey } from '../events/owner.ts';
import { hasWebhooks } from '../events/plans.ts';
import { type EndpointKey, endpointKey } from '../events/webhooks/endpoint.ts';
import {
  keyOfEvent,
  type Subscribed,
  subscribedAfter,
  type WebhookEvent,
  type WebhookFilter,
  webhookEvents,
} from '../events/webhooks/webhook.ts';

/** A webhook at the position of the projection. */
export interface Endpoint extends EndpointKey, Subscribed {
  is_paid: boolean;
  generation: number;
  stopped_by: string | null;
  dropping: boolean;
}

/** An entry that changes endpoints. */
export type EndpointEntry = Extract<LogEntry, WebhookEvent | { type: 'plan_changed' } | { type: 'account_deleted' }>;

export const endpointEntryTypes = [...Object.keys(webhookEvents), 'plan_changed', 'account_deleted'];
const entryTypes: ReadonlySet<string> = new Set(endpointEntryTypes);

export const changesEndpoints = <E extends { type: string }>(entry: E): entry is E & EndpointEntry =>
  entryTypes.has(entry.type);

const removed = 'The webhook was removed before this could be sent.';

/** The error shown for a delivery that was not sent, by why its webhook stopped. */
export const stopErrors: Readonly<Record<string, string>> = {
  paused: 'The webhook was paused before this could be sent.',
  // Can be set again. One that is deleted never comes back, and its row is deleted (src/webhooks/upkeep.ts).
  removed,
  deleted: removed,
  plan: 'The account went to a plan without webhooks before this could be sent.',
  gone: 'The webhook was disabled before this could be sent: its receiver had answered 410.',
  failing: 'The webhook was disabled before this could be sent: every delivery had failed for 5 days.',
};

/** Why an event stops a webhook, if it does. */
function reasonOf(event: WebhookEvent): string {
  switch (event.type) {
    case 'webhook_removed':
      return 'removed';
    case 'webhook_deleted':
      return 'deleted';
    case 'webhook_disabled':
    case 'webhook_stopped':
      return event.data.reason;
    default:
      return 'paused';
  }
}

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
    const isByTags = ({ tags }: Partial<WebhookFilter>) => tags !== undefined && tags !== null;
    return (
      this.all.some(({ filter }) => isByTags(filter)) ||
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
    const isRotated = entry.type === 'webhook_rotated' || entry.type === 'webhook_secret_rotated';
    return isRotated ? [] : [this.#changeWebhook(entry)];
  }

  #changeWebhook(event: Extract<EndpointEntry, WebhookEvent>): Endpoint {
    const key = keyOfEvent(event);
    const before = this.#byKey.get(endpointKey(key));
    const subscribed = subscribedAfter(before, event);
    // A webhook can only be set on a plan that includes webhooks.
    const is_paid = before?.is_paid ?? true;
    const endpoint = before ?? {
      ...key,
      ...subscribed,
      is_set: false,
      is_paid,
      generation: 0,
      stopped_by: null,
      dropping: false,
    };
    if (before === undefined) this.#add(endpoint);
    const isSet = event.type === 'webhook_set' || event.type === 'webhook_created';
    changed(endpoint, { ...subscribed, is_paid: isSet || is_paid }, reasonOf(event));
    // Dropping, also if it was paused: then its row is deleted.
    if (event.type === 'webhook_deleted') Object.assign(endpoint, { stopped_by: 'deleted', dropping: true });
    return endpoint;
  }

  #ofAccount(account: string): Endpoint[] {
    return this.all.filter((endpoint) => endpoint.account === account);
  }

  #add(endpoint: Endpoint): void {
    this.#byKey.set(endpointKey(endpoint), endpoint);
    const { account, filter } = endpoint;
    const owner = ownerKey({ account, mode: filter.mode });
    this.#byOwner.set(owner, [...(this.#byOwner.get(owner) ?? []), endpoint]);
  }
}
