import { describe, expect, test } from 'vitest';
import {
  type Account,
  type AccountEvent,
  changePlan,
  changeTimezone,
  evolveAccount,
  renameAccount,
} from '../../events/account.ts';
import { type Key, replaceKey, revokeKey, unlimited } from '../../events/key.ts';
import { plans } from '../../events/plans.ts';
import type { Recorded } from '../../events/recorded.ts';

const at = new Date('2026-03-01T09:30:00.000Z');

const recorded = <E extends AccountEvent>(event: E, version: number): Recorded<E> => ({
  ...event,
  position: 10 + version,
  id: `evt_${version}`,
  stream: 'acct_1',
  version,
  actor: 'operator',
  occurred_at: at,
});

const newAccount = (plan: Account['plan'] = 'free') =>
  evolveAccount(undefined, recorded({ type: 'account_created', data: { name: 'Café', plan } }, 1));

const key: Key = {
  id: 'key_1',
  account: 'acct_1',
  name: 'Website',
  mode: 'live',
  hash: 'a'.repeat(64),
  last4: 'x7Qd',
  created_at: at,
  revoked_at: null,
  replaced_by: null,
  ...unlimited,
};

test('a new account has its name and plan', () => {
  expect(newAccount('pro')).toEqual({
    id: 'acct_1',
    name: 'Café',
    plan: 'pro',
    created_at: at,
    version: 1,
    suspended_reason: null,
    suspended_at: null,
    timezone: null,
    guest_page: null,
    primary_domain: null,
  });
});

describe('plans', () => {
  const pairs = plans.flatMap((from) => plans.map((to) => [from, to] as const));

  test.each(pairs)('from %s to %s', (from, to) => {
    const events = changePlan(newAccount(from), to);
    expect(events).toEqual(from === to ? [] : [{ type: 'plan_changed', data: { from, to } }]);
    const now = events.reduce((account, event, i) => evolveAccount(account, recorded(event, 2 + i)), newAccount(from));
    expect(now).toEqual({ ...newAccount(to), version: 1 + events.length });
  });
});

describe('names', () => {
  test('renaming records the old and the new name', () => {
    const [event] = renameAccount(newAccount(), 'Bistro');
    expect(event).toEqual({ type: 'account_renamed', data: { from: 'Café', to: 'Bistro' } });
    expect(evolveAccount(newAccount(), recorded(event as AccountEvent, 2))).toEqual({
      ...newAccount(),
      name: 'Bistro',
      version: 2,
    });
  });

  test('the same name records nothing', () => {
    expect(renameAccount(newAccount(), 'Café')).toEqual([]);
  });
});

test('a change of the time zone records both, and the same one nothing', () => {
  expect(changeTimezone(newAccount(), 'UTC'), 'UTC was chosen').toEqual([
    { type: 'timezone_changed', data: { from: 'UTC', to: 'UTC' } },
  ]);
  const [event] = changeTimezone(newAccount(), 'Europe/Berlin');
  expect(event).toEqual({ type: 'timezone_changed', data: { from: 'UTC', to: 'Europe/Berlin' } });
  const account = evolveAccount(newAccount(), recorded(event as AccountEvent, 2));
  expect(account).toEqual({ ...newAccount(), timezone: 'Europe/Berlin', version: 2 });
  expect(changeTimezone(account, 'Europe/Berlin')).toEqual([]);
});

const noLimits = { scopes: null, expires_at: null, allowed_cidrs: null };

describe('keys', () => {
  test('revoking an active key records an event', () => {
    expect(revokeKey(key)).toEqual([{ type: 'key_revoked', data: { key: 'key_1' } }]);
  });

  test('revoking a revoked key records nothing', () => {
    expect(revokeKey({ ...key, revoked_at: at })).toEqual([]);
  });

  test('a rotated key works until the end of the overlap, or until its own expiry if that is earlier', () => {
    const endsAt = new Date('2026-03-02T09:30:00.000Z');
    const data = { key: 'key_1', mode: 'live', replaced_by: 'key_2', expires_at: endsAt.toISOString() };
    expect(replaceKey(key, 'key_2', { now: at, endsAt })).toEqual([{ type: 'key_rotated', data }]);
    const expires_at = new Date('2026-03-01T10:00:00.000Z');
    expect(replaceKey({ ...key, expires_at }, 'key_2', { now: at, endsAt })).toEqual([
      { type: 'key_rotated', data: { ...data, expires_at: expires_at.toISOString() } },
    ]);
  });

  test('without an overlap, a rotated key is revoked', () => {
    const data = { key: 'key_1', mode: 'live', replaced_by: 'key_2', expires_at: at.toISOString() };
    expect(replaceKey(key, 'key_2', { now: at })).toEqual([
      { type: 'key_rotated', data },
      { type: 'key_revoked', data: { key: 'key_1' } },
    ]);
  });

  test('creating and revoking keys changes only the version of the account', () => {
    const data = { key: 'key_1', name: 'Website', mode: 'live', hash: key.hash, last4: 'x7Qd', ...noLimits } as const;
    const withKey = evolveAccount(newAccount(), recorded({ type: 'key_created', data }, 2));
    const without = evolveAccount(withKey, recorded({ type: 'key_revoked', data: { key: 'key_1' } }, 3));
    expect(withKey).toEqual({ ...newAccount(), version: 2 });
    expect(without).toEqual({ ...newAccount(), version: 3 });
  });
});

test('rejects a stream that does not begin with account_created', () => {
  expect(() => evolveAccount(undefined, recorded({ type: 'key_revoked', data: { key: 'key_1' } }, 1))).toThrow(
    'acct_1 begins with key_revoked, not with account_created',
  );
});
