import { describe, expect, test } from 'vitest';
import { limitsOf, type Plan, plans } from '../../events/plans.ts';
import { createAccount, listAccounts, setPlan } from '../../src/accounts/accounts.ts';
import { readStream } from '../../src/log/read.ts';
import { created, type Json, newCode } from '../support/api.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });

describe('GET /v1/account', () => {
  test.each<Plan>([...plans])('%s: returns the account, its plan, limits and usage', async (plan) => {
    const { live, id } = await service.account(plan);
    const { status, body } = await live.get('/v1/account');
    const { requestsPerMinute, codes, givenShortCodes, domains } = limitsOf[plan];
    expect(status).toBe(200);
    expect(body).toEqual({
      id,
      name: 'Test',
      plan,
      mode: 'live',
      limits: {
        requests_per_minute: requestsPerMinute,
        qr_codes: Number.isFinite(codes) ? codes : null,
        given_short_codes: givenShortCodes,
        domains,
      },
      usage: { qr_codes: 0, test_qr_codes: 0, given_short_codes: 0, domains: 0, requests: 1 },
      timezone: 'UTC',
      guest_page: null,
      created_at: expect.any(String),
    });
  });

  test('limits are as in the interface specification', () => {
    expect(limitsOf).toMatchObject({
      free: { requestsPerMinute: 10, codes: 100 },
      pro: { requestsPerMinute: 60, codes: 50 },
      business: { requestsPerMinute: 120, codes: 250 },
      enterprise: { requestsPerMinute: 300, codes: Number.POSITIVE_INFINITY },
    });
  });

  test('counts live and test codes separately, and shows a test key only the latter', async () => {
    const { live, test: development } = await service.account();
    await created(live);
    await development.post('/v1/qrcodes/bulk', { qrcodes: [newCode(), newCode()] });
    expect((await live.get('/v1/account')).body.usage).toMatchObject({ qr_codes: 1, test_qr_codes: 2 });
    expect((await development.get('/v1/account')).body.usage).toMatchObject({ qr_codes: null, test_qr_codes: 2 });
  });
});

describe('the guest page', () => {
  test('is set, shown, reported and removed, and only with a live key', async () => {
    const { live, test: development, id } = await service.account();
    expect((await live.get('/v1/account')).body.guest_page).toBeNull();
    for (const _ of ['changes', 'is the same']) {
      const { body } = await live.patch('/v1/account', { guest_page: { logo: null } });
      expect(body.guest_page).toEqual({ logo: null });
    }
    expect((await live.patch('/v1/account', { guest_page: null, timezone: 'Asia/Tokyo' })).body).toMatchObject({
      guest_page: null,
      timezone: 'Asia/Tokyo',
    });
    expect((await readStream(service.database.sql, id)).slice(3)).toMatchObject([
      { type: 'guest_page_changed', data: { from: null, to: { logo: null } } },
      { type: 'guest_page_changed', data: { from: { logo: null }, to: null } },
      { type: 'timezone_changed' },
    ]);
    const { body: audit } = await live.get('/v1/account/audit?type=account.updated');
    expect(audit.data.map(({ data }: Json) => data)).toContainEqual({ field: 'guest_page', from: 'off', to: 'name' });
    expect((await live.patch('/v1/account', { guest_page: {} })).body.guest_page).toEqual({ logo: null });
    const wrong = await live.patch('/v1/account', { guest_page: 'yes' });
    expect(wrong.status).toBe(400);
    expect(wrong.body.error.message).toBe(
      'guest_page must be an object with the id of a logo, such as {"logo": null}, or null.',
    );
    const refused = await development.patch('/v1/account', { guest_page: null });
    expect(refused.body.error.code).toBe('live_key_required');
    const unknown = await live.patch('/v1/account', { guest_page: { logo: 'logo_unknown' } });
    expect([unknown.status, unknown.body.error.details[0].field]).toEqual([400, 'guest_page.logo']);
  });
});

describe('the time zone', () => {
  test('is set by PATCH /v1/account, once for the same one', async () => {
    const { live, id } = await service.account();
    for (const timezone of ['Europe/Berlin', 'europe/berlin']) {
      const { status, body } = await live.patch('/v1/account', { timezone });
      expect([status, body.timezone]).toEqual([200, 'Europe/Berlin']);
    }
    expect((await live.get('/v1/account')).body.timezone).toBe('Europe/Berlin');
    expect((await readStream(service.database.sql, id)).slice(3)).toMatchObject([
      { type: 'timezone_changed', data: { from: 'UTC', to: 'Europe/Berlin' } },
    ]);
  });

  test('must exist, and be set with a live key', async () => {
    const { live, test: development } = await service.account();
    for (const body of [{}, { timezone: 'Berlin' }, { timezone: null }, { timezone: 'UTC', name: 'x' }])
      expect((await live.patch('/v1/account', body)).body.error.code, JSON.stringify(body)).toBe('invalid_request');
    expect((await development.patch('/v1/account', { timezone: 'Asia/Kolkata' })).body.error.code).toBe(
      'live_key_required',
    );
  });

  test('applies to rules with days or hours that name none, from when it is set', async () => {
    const { live } = await service.account();
    const hours = { from: '07:00', to: '11:00' };
    const rulesOf = (...conditions: object[]) =>
      conditions.map((when) => ({ when, destination_url: 'https://example.com/breakfast' }));
    const earlier = await live.post('/v1/qrcodes', { ...newCode(), rules: rulesOf({ hours }) });
    await live.patch('/v1/account', { timezone: 'Asia/Kolkata' });
    const rules = rulesOf({ hours }, { days: ['mon'], timezone: 'UTC' }, { devices: ['ios'] });
    const given = { ...newCode(), rules };
    const created = await live.post('/v1/qrcodes', given);
    const conditionsOf = (code: { rules: { when: object }[] }) => code.rules.map(({ when }) => when);
    expect(conditionsOf(created.body)).toEqual([
      ...[{ hours, timezone: 'Asia/Kolkata' }, { days: ['mon'], timezone: 'UTC' }, { devices: ['ios'] }],
    ]);
    const path = `/v1/qrcodes/${earlier.body.id}`;
    expect(conditionsOf((await live.get(path)).body), 'a rule keeps its zone').toEqual([{ hours }]);
    expect(conditionsOf((await live.patch(path, { rules: rulesOf({ hours }) })).body)).toEqual([
      { hours, timezone: 'Asia/Kolkata' },
    ]);
    const at = '2026-03-01T02:00:00Z';
    expect((await live.post(`${path}/resolve`, { at })).body.destination_url).toBe('https://example.com/breakfast');
  });
});

describe('the operator', () => {
  const { database } = service;
  const now = new Date('2026-03-01T09:30:00.000Z');

  test('creates an account with one live and one test key in one transaction', async () => {
    const { id, live, test: development } = await createAccount(database.sql, { name: 'Café', plan: 'pro', now });
    expect(await readStream(database.sql, id)).toMatchObject([
      { type: 'account_created', version: 1, actor: 'operator', data: { name: 'Café', plan: 'pro' } },
      { type: 'key_created', version: 2, data: { key: live.id, mode: 'live', last4: live.secret.slice(-4) } },
      { type: 'key_created', version: 3, data: { key: development.id, mode: 'test' } },
    ]);
    expect(await listAccounts(database.sql)).toContainEqual({
      id,
      name: 'Café',
      plan: 'pro',
      created_at: now,
      version: 3,
      suspended_reason: null,
      suspended_at: null,
      timezone: null,
      guest_page: null,
      primary_domain: null,
    });
  });

  test('setting the same plan again appends no event', async () => {
    const { id } = await createAccount(database.sql, { name: 'Café', plan: 'free', now });
    await setPlan(database.sql, id, 'business', now);
    await setPlan(database.sql, id, 'business', now);
    expect((await readStream(database.sql, id)).map(({ type }) => type).slice(3)).toEqual(['plan_changed']);
  });

  test('cannot change the plan of an account that does not exist', async () => {
    await expect(setPlan(database.sql, 'acct_none', 'pro', now)).rejects.toThrow('There is no such account.');
  });
});
