import type { StoredEvent } from './catalogue.ts';
import { type EndpointKey, endpointKey } from './endpoint.ts';
import { hasWebhooks, type Mode } from './plans.ts';
import type { Recorded } from './recorded.ts';
import { type EventFilter, isSubscriptionEvent } from './subscription.ts';
import { isWebhookEvent } from './webhook.ts';

/** A webhook was on, with this filter, after position `after`, up to `to`. */
export interface WebhookSpan extends EndpointKey {
  /** The mode of the codes whose events it got. */
  code_mode: Mode;
  after: number;
  to: number;
  /** Null for the webhook of `/v1/account/webhook`. */
  filter: EventFilter | null;
}

interface State extends Pick<WebhookSpan, 'code_mode' | 'filter'> {
  key: EndpointKey;
  isSet: boolean;
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
      const { mode } = event.data;
      const state = this.#stateOf({ account, mode }, { code_mode: mode, filter: null });
      if (event.type === 'webhook_set') this.#set(state, position, { isSet: true });
      if (event.type === 'webhook_removed' || event.type === 'webhook_disabled')
        this.#set(state, position, { isSet: false });
    } else if (isSubscriptionEvent(event)) {
      const { webhook, mode } = event.data;
      const state = this.#stateOf({ account, mode: webhook }, { code_mode: mode, filter: null });
      if (event.type === 'webhook_created') {
        const { events, qr_ids, tags, active } = event.data;
        this.#set(state, position, { isSet: active, filter: { events, qr_ids, tags } });
      } else if (event.type === 'webhook_changed') {
        const { active = state.isSet, url: _, description: __, ...filter } = event.data.to;
        this.#set(state, position, { isSet: active, filter: filterAfter(state.filter, filter) });
      } else if (event.type !== 'webhook_secret_rotated') this.#set(state, position, { isSet: false });
    } else if (event.type === 'plan_changed') {
      if (hasWebhooks(event.data.to)) this.#free.delete(account);
      else this.#free.add(account);
      for (const state of this.#accounts.get(account)?.values() ?? []) this.#set(state, position, {});
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

  #stateOf(key: EndpointKey, initial: Pick<State, 'code_mode' | 'filter'>): State {
    const states = this.#accounts.get(key.account) ?? new Map<string, State>();
    this.#accounts.set(key.account, states);
    const state = states.get(endpointKey(key)) ?? { key, ...initial, isSet: false, open: undefined };
    states.set(endpointKey(key), state);
    return state;
  }

  #set(state: State, position: number, to: Partial<Pick<State, 'isSet' | 'filter'>>): void {
    const isFilterChanged = to.filter !== undefined && JSON.stringify(to.filter) !== JSON.stringify(state.filter);
    const isSet = to.isSet ?? state.isSet;
    const isOn = isSet && !this.#free.has(state.key.account);
    if (state.open !== undefined && (!isOn || isFilterChanged)) {
      this.#closed.push(spanOf(state, state.open, position));
      state.open = undefined;
    }
    Object.assign(state, to);
    if (isOn) state.open ??= position;
  }
}

const filterAfter = (before: EventFilter | null, change: Partial<EventFilter>): EventFilter => ({
  ...(before ?? { events: [], qr_ids: null, tags: null }),
  ...change,
});

const spanOf = ({ key, code_mode, filter }: State, after: number, to: number): WebhookSpan => ({
  ...key,
  ...{ code_mode, after, to, filter },
});
