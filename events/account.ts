import { type Static, Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { logoEvents } from './logo.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes, type Plan, plans } from './plans.ts';
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
  key_created: defineEvent(
    1,
    Type.Object(
      {
        key: text,
        name: text,
        mode,
        /** SHA-256 of the secret in hex; the secret has 256 random bits, so it cannot be recovered. */
        hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        last4: text,
      },
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
  key_revoked: defineEvent(1, Type.Object({ key: text }, { additionalProperties: false })),
  ...logoEvents,
  ...webhookEvents,
  ...sessionEvents,
  ...shareEvents,
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
  /** IANA name; null for UTC. */
  timezone: string | null;
  guest_page: GuestPage;
}

export interface Key {
  id: string;
  account: string;
  name: string;
  mode: Mode;
  hash: string;
  last4: string;
  created_at: Date;
  revoked_at: Date | null;
}

export const changePlan = (account: Account, to: Plan): AccountEvent[] =>
  account.plan === to ? [] : [{ type: 'plan_changed', data: { from: account.plan, to } }];

export const renameAccount = (account: Account, to: string): AccountEvent[] =>
  account.name === to ? [] : [{ type: 'account_renamed', data: { from: account.name, to } }];

export const timezoneOf = ({ timezone }: Pick<Account, 'timezone'>): string => timezone ?? 'UTC';

export const changeTimezone = (account: Account, to: string): AccountEvent[] =>
  timezoneOf(account) === to ? [] : [{ type: 'timezone_changed', data: { from: timezoneOf(account), to } }];

export const changeGuestPage = ({ guest_page: from }: Account, to: GuestPage): AccountEvent[] =>
  (from === null) === (to === null) && from?.logo === to?.logo
    ? []
    : [{ type: 'guest_page_changed', data: { from, to } }];

export const revokeKey = (key: Key): AccountEvent[] =>
  key.revoked_at === null ? [{ type: 'key_revoked', data: { key: key.id } }] : [];

export const suspendAccount = (account: Account, reason: string): AccountEvent[] =>
  account.suspended_reason === reason ? [] : [{ type: 'account_suspended', data: { reason } }];

export const resumeAccount = (account: Account): AccountEvent[] =>
  account.suspended_at === null ? [] : [{ type: 'account_resumed', data: {} }];

/** Returns the account after `event`. */
export function evolveAccount(account: Account | undefined, event: Pending<AccountEvent>): Account {
  if (event.type === 'account_created') {
    const { stream: id, version, occurred_at: created_at } = event;
    const unset = { suspended_reason: null, suspended_at: null, timezone: null, guest_page: null };
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
  if (event.type === 'account_suspended')
    return { suspended_reason: event.data.reason, suspended_at: event.occurred_at };
  if (event.type === 'account_resumed') return { suspended_reason: null, suspended_at: null };
  return {};
}
