import type { StoredEvent } from '../catalogue.ts';
import { hasWebhooks } from '../plans.ts';
import type { Recorded } from '../recorded.ts';
import { type EndpointKey, endpointKey } from './endpoint.ts';
import { isWebhookEvent, keyOfEvent, type Subscribed, subscribedAfter, type WebhookFilter } from './webhook.ts';

/** A webhook was on, with this filter, after position `after`, up to `to`. */
export interface WebhookSpan extends EndpointKey {
  after: number;
  to: number;
  filter: WebhookFilter;
}

interface State {
  key: EndpointKey;
  subscribed: Subscribed;
  open: number | undefined;
}

/** Computes from the events of the log, in their order, when each webhook was on and what it got. */
export class WebhookSpans {
  readonly #accounts = new Map<string, Map<string, State>>();
  readonly #free = new Set<string>();
  readonly #deleted = new Set<string>();
  #closed: WebhookSpan[] = [];

  apply(event: Recorded<StoredEvent>): void {
    const { stream: account, position } = event;
    if (isWebhookEvent(event)) {
      const key = keyOfEvent(event);
      const states = this.#accounts.get(account) ?? new Map<string, State>();
      this.#accounts.set(account, states);
      const before = states.get(endpointKey(key));
      const subscribed = subscribedAfter(before?.subscribed, event);
      const state = before ?? { key, subscribed, open: undefined };
      states.set(endpointKey(key), state);
      this.#set(state, position, subscribed);
    } else if (event.type === 'plan_changed') {
      if (hasWebhooks(event.data.to)) this.#free.delete(account);
      else this.#free.add(account);
      for (const state of this.#accounts.get(account)?.values() ?? []) this.#set(state, position, state.subscribed);
    } else if (event.type === 'account_deleted') {
      this.#accounts.delete(account);
      this.#deleted.add(account);
    }
  }

  /** All spans up to a position, which all applied events are at or before, without spans of deleted accounts. */
  upTo(position: number): WebhookSpan[] {
    const open = [...this.#accounts.values()].flatMap((states) =>
      [...states.values()].flatMap((state) => (state.open === undefined ? [] : [spanOf(state, state.open, position)])),
    );
    return [...this.#closed.filter(({ account }) => !this.#deleted.has(account)), ...open];
  }

  #set(state: State, position: number, subscribed: Subscribed): void {
    const isFilterChanged = JSON.stringify(subscribed.filter) !== JSON.stringify(state.subscribed.filter);
    const isOn = subscribed.is_set && !this.#free.has(state.key.account);
    if (state.open !== undefined && (!isOn || isFilterChanged)) {
      this.#closed.push(spanOf(state, state.open, position));
      state.open = undefined;
    }
    state.subscribed = subscribed;
    if (isOn) state.open ??= position;
  }
}

const spanOf = ({ key, subscribed: { filter } }: State, after: number, to: number): WebhookSpan => ({
  ...key,
  after,
  to,
  filter,
});
