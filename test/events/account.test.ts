import { describe, expect, test } from 'vitest';
import {
  type Account,
  type AccountEvent,
  changePlan,
  evolveAccount,
  type Key,
  revokeKey,
} from '../../events/account.ts';
import { plans } from '../../events/plans.ts';
import type { Recorded } from '../../events/recorded.ts';

const at = new Date('2026-03-01T09:30:00.000Z');

const happened = <E extends AccountEvent>(event: E, version: number): Recorded<E> => ({
  ...event,
  position: 10 + version,
  id: `evt_${version}`,
  stream: 'acct_1',
  version,
  actor: 'operator',
  occurred_at: at,
});

const opened = (plan: Account['plan'] = 'free') =>
  evolveAccount(undefined, happened({ type: 'account_created', data: { name: 'Café', plan } }, 1));

const key: Key = {
  id: 'key_1',
  account: 'acct_1',
  name: 'Website',
  mode: 'live',
  hash: 'a'.repeat(64),
  last4: 'x7Qd',
  created_at: at,
  revoked_at: null,
};

test('an account begins with its name and plan', () => {
  expect(opened('pro')).toEqual({
    ...{ id: 'acct_1', name: 'Café', plan: 'pro', created_at: at, version: 1 },
    ...{ suspended_reason: null, suspended_at: null },
  });
});

describe('plans', () => {
  const pairs = plans.flatMap((from) => plans.map((to) => [from, to] as const));

  test.each(pairs)('from %s to %s', (from, to) => {
    const events = changePlan(opened(from), to);
    expect(events).toEqual(from === to ? [] : [{ type: 'plan_changed', data: { from, to } }]);
    const now = events.reduce((account, event, i) => evolveAccount(account, happened(event, 2 + i)), opened(from));
    expect(now).toEqual({ ...opened(to), version: 1 + events.length });
  });
});

describe('keys', () => {
  test('a key that works can be revoked', () => {
    expect(revokeKey(key)).toEqual([{ type: 'key_revoked', data: { key: 'key_1' } }]);
  });

  test('a revoked key is not revoked again', () => {
    expect(revokeKey({ ...key, revoked_at: at })).toEqual([]);
  });

  test('keys come and go without changing the account, except its version', () => {
    const data = { key: 'key_1', name: 'Website', mode: 'live', hash: key.hash, last4: 'x7Qd' } as const;
    const withKey = evolveAccount(opened(), happened({ type: 'key_created', data }, 2));
    const without = evolveAccount(withKey, happened({ type: 'key_revoked', data: { key: 'key_1' } }, 3));
    expect(withKey).toEqual({ ...opened(), version: 2 });
    expect(without).toEqual({ ...opened(), version: 3 });
  });
});

test('a stream that does not begin with its creation is refused', () => {
  expect(() => evolveAccount(undefined, happened({ type: 'key_revoked', data: { key: 'key_1' } }, 1))).toThrow(
    'acct_1 begins with key_revoked, not with account_created',
  );
});
