import { type Static, Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { type Domain, domainEvents, type RemovalReason } from './domain.ts';
import { keyEvents } from './key.ts';
import { logoEvents } from './logo.ts';
import { memberEvents } from './member.ts';
import { oneOf } from './one-of.ts';
import { modes, type Plan, plans } from './plans.ts';
import type { Pending } from './recorded.ts';
import { sessionEvents } from './session.ts';
import { shareEvents } from './share.ts';
import { webhookEvents } from './webhooks/webhook.ts';

const text = Type.String();
const plan = oneOf(plans);
const mode = oneOf(modes);
const count = Type.Integer({ minimum: 0 });

/** What pages for guests show of the account: its name, and a logo if there is one; null for nothing. */
const guestPage = Type.Union([
  Type.Object({ logo: Type.Union([text, Type.Null()]) }, { additionalProperties: false }),
  Type.Null(),
]);
export type GuestPage = Static<typeof guestPage>;

/** In words, for the owner. */
export const guestPageText = (page: GuestPage): string =>
  page === null ? 'off' : ['name', page.logo ?? []].flat().join(' and ');

export const accountEvents = {
  account_created: defineEvent(1, Type.Object({ name: text, plan }, { additionalProperties: false })),
  plan_changed: defineEvent(1, Type.Object({ from: plan, to: plan }, { additionalProperties: false })),
  account_renamed: defineEvent(1, Type.Object({ from: text, to: text }, { additionalProperties: false })),
  timezone_changed: defineEvent(1, Type.Object({ from: text, to: text }, { additionalProperties: false })),
  guest_page_changed: defineEvent(1, Type.Object({ from: guestPage, to: guestPage }, { additionalProperties: false })),
  /** The id of the domain that the console suggests for new codes; null for none. */
  primary_domain_changed: defineEvent(
    1,
    Type.Object(
      { from: Type.Union([text, Type.Null()]), to: Type.Union([text, Type.Null()]) },
      { additionalProperties: false },
    ),
  ),
  /** By the operator: API and console answer 403, short links 410. */
  account_suspended: defineEvent(1, Type.Object({ reason: text }, { additionalProperties: false })),
  account_resumed: defineEvent(1, Type.Object({}, { additionalProperties: false })),
  /** By the operator: the last event of the stream. The data of all events before it is erased. */
  account_deleted: defineEvent(1, Type.Object({}, { additionalProperties: false })),
  /** What a key did to codes in a period was undone: how many codes that changed, and how many things it left as they are. */
  account_reverted: defineEvent(
    1,
    Type.Object(
      { mode, actor: text, from: text, to: text, changed: count, skipped: count },
      { additionalProperties: false },
    ),
  ),
  ...keyEvents,
  ...logoEvents,
  ...domainEvents,
  ...webhookEvents,
  ...sessionEvents,
  ...shareEvents,
  ...memberEvents,
};

export type AccountEvent = EventOf<typeof accountEvents>;

export interface Account {
  id: string;
  name: string;
  plan: Plan;
  created_at: Date;
  version: number;
  /** Reason and time of the suspension by the operator; null if not suspended. */
  suspended_reason: string | null;
  suspended_at: Date | null;
  /** IANA name; null for UTC that no one has chosen. */
  timezone: string | null;
  guest_page: GuestPage;
  /** The id of the domain that the console suggests for new codes; null for none. */
  primary_domain: string | null;
}

export const changePlan = (account: Account, to: Plan): AccountEvent[] =>
  account.plan === to ? [] : [{ type: 'plan_changed', data: { from: account.plan, to } }];

export const renameAccount = (account: Account, to: string): AccountEvent[] =>
  account.name === to ? [] : [{ type: 'account_renamed', data: { from: account.name, to } }];

export const timezoneOf = ({ timezone }: Pick<Account, 'timezone'>): string => timezone ?? 'UTC';

export const changeTimezone = (account: Account, to: string): AccountEvent[] =>
  account.timezone === to ? [] : [{ type: 'timezone_changed', data: { from: timezoneOf(account), to } }];

export const changeGuestPage = ({ guest_page: from }: Account, to: GuestPage): AccountEvent[] =>
  (from === null) === (to === null) && from?.logo === to?.logo
    ? []
    : [{ type: 'guest_page_changed', data: { from, to } }];

export const changePrimaryDomain = ({ primary_domain: from }: Account, to: string | null): AccountEvent[] =>
  from === to ? [] : [{ type: 'primary_domain_changed', data: { from, to } }];

/** Removes a domain, which then is no longer suggested for new codes either. */
export const removeDomain = (
  account: Account,
  { id, name }: Pick<Domain, 'id' | 'name'>,
  reason: RemovalReason,
): AccountEvent[] => [
  { type: 'domain_removed', data: { domain: id, name, reason } },
  ...(account.primary_domain === id ? changePrimaryDomain(account, null) : []),
];

export const suspendAccount = (account: Account, reason: string): AccountEvent[] =>
  account.suspended_reason === reason ? [] : [{ type: 'account_suspended', data: { reason } }];

export const resumeAccount = (account: Account): AccountEvent[] =>
  account.suspended_at === null ? [] : [{ type: 'account_resumed', data: {} }];

/** Returns the account after `event`. */
export function evolveAccount(account: Account | undefined, event: Pending<AccountEvent>): Account {
  if (event.type === 'account_created') {
    const { stream: id, version, occurred_at: created_at } = event;
    const unset = {
      suspended_reason: null,
      suspended_at: null,
      timezone: null,
      guest_page: null,
      primary_domain: null,
    };
    return { ...event.data, id, created_at, version, ...unset };
  }
  if (account === undefined) throw new Error(`${event.stream} begins with ${event.type}, not with account_created`);
  return { ...account, ...changeOf(event), version: event.version };
}

function changeOf(event: Pending<AccountEvent>): Partial<Account> {
  if (event.type === 'plan_changed') return { plan: event.data.to };
  if (event.type === 'account_renamed') return { name: event.data.to };
  if (event.type === 'timezone_changed') return { timezone: event.data.to };
  if (event.type === 'guest_page_changed') return { guest_page: event.data.to };
  if (event.type === 'primary_domain_changed') return { primary_domain: event.data.to };
  if (event.type === 'account_suspended')
    return { suspended_reason: event.data.reason, suspended_at: event.occurred_at };
  if (event.type === 'account_resumed') return { suspended_reason: null, suspended_at: null };
  return {};
}
