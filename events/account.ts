import { Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';
import { type Mode, modes, type Plan, plans } from './plans.ts';
import type { Pending } from './recorded.ts';
import { webhookEvents } from './webhook.ts';

const text = Type.String();
const plan = oneOf(plans);
const mode = oneOf(modes);

export const accountEvents = {
  account_created: defineEvent(1, Type.Object({ name: text, plan }, { additionalProperties: false })),
  plan_changed: defineEvent(1, Type.Object({ from: plan, to: plan }, { additionalProperties: false })),
  key_created: defineEvent(
    1,
    Type.Object(
      {
        key: text,
        name: text,
        mode,
        /** SHA-256 of the secret, hex. The secret has 256 random bits, so this cannot be turned back. */
        hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        last4: text,
      },
      { additionalProperties: false },
    ),
  ),
  key_revoked: defineEvent(1, Type.Object({ key: text }, { additionalProperties: false })),
  ...webhookEvents,
};

export type AccountEvent = EventOf<typeof accountEvents>;

export interface Account {
  id: string;
  name: string;
  plan: Plan;
  created_at: Date;
  version: number;
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

export const revokeKey = (key: Key): AccountEvent[] =>
  key.revoked_at === null ? [{ type: 'key_revoked', data: { key: key.id } }] : [];

/** The account as it is after `event`. */
export function evolveAccount(account: Account | undefined, event: Pending<AccountEvent>): Account {
  if (event.type === 'account_created')
    return { ...event.data, id: event.stream, created_at: event.occurred_at, version: event.version };
  if (account === undefined) throw new Error(`${event.stream} begins with ${event.type}, not with account_created`);
  const changed = event.type === 'plan_changed' ? { plan: event.data.to } : {};
  return { ...account, ...changed, version: event.version };
}
