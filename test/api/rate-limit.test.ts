import { describe, expect, test } from 'vitest';
import { limitsOf, type Plan, plans } from '../../events/plans.ts';
import { setPlan } from '../../src/accounts/accounts.ts';
import { type Api, newCode, type ReceivedResponse } from '../support/api.ts';
import { atOnce, countStatuses, unknownKey } from '../support/http.ts';
import { endWindows, holdWindows } from '../support/rate-windows.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false, instances: 2 });

type Answered = Pick<ReceivedResponse, 'headers'>;
const number = (response: Answered, name: string) => Number(response.headers.get(name));
const remaining = (response: Answered) => number(response, 'x-ratelimit-remaining');
const anonymousFrom = (address: string, instance = 0) =>
  service.client(instance).get('/v1/account', { 'x-forwarded-for': address });

/** Sends requests in a window that is held open, whose end is not as documented. */
async function inHeldWindow(count: number, headers: Record<string, string>): Promise<Response[]> {
  await holdWindows(service.database.sql);
  return atOnce(count, (i) => fetch(`${service.urls[i % 2]}/v1/account`, { headers }));
}

describe('an account’s requests', () => {
  test.each<[Plan, number]>(plans.map((plan) => [plan, limitsOf[plan].requestsPerMinute]))(
    '%s: exactly %i of more concurrent requests on two instances succeed',
    async (plan, limit) => {
      const { keys, live } = await service.account(plan);
      const first = await live.get('/v1/account');
      expect([first.status, remaining(first)]).toEqual([200, limit - 1]);
      const responses = await inHeldWindow(limit + 14, { authorization: `Bearer ${keys.live}` });
      expect(countStatuses(responses)).toEqual({ 200: limit - 1, 429: 15 });
      const left = responses.filter(({ status }) => status === 200).map(remaining);
      expect(
        left.toSorted((a, b) => a - b),
        'each has a different X-RateLimit-Remaining',
      ).toEqual(Array.from({ length: limit - 1 }, (_, i) => i));
      for (const response of responses) expect(number(response, 'x-ratelimit-limit')).toBe(limit);
      expect(new Set(responses.map((response) => number(response, 'x-ratelimit-reset'))).size, 'one window').toBe(1);
    },
  );

  test('Retry-After of the 429 is the time until the window ends', async () => {
    const { live } = await service.account('free');
    await atOnce(10, () => live.get('/v1/account'));
    const before = Date.now() / 1000;
    const refused = await live.get('/v1/account');
    const after = Date.now() / 1000;
    expect(refused.status).toBe(429);
    expect(refused.body.error.code).toBe('rate_limited');
    const wait = number(refused, 'retry-after');
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(60);
    const answeredAt = number(refused, 'x-ratelimit-reset') - wait;
    expect(answeredAt, 'both are rounded up').toBeGreaterThan(before - 1);
    expect(answeredAt).toBeLessThan(after + 1);
    expect(remaining(refused)).toBe(0);
  });

  test('a new window begins after the last has ended', async () => {
    const { live } = await service.account('free');
    const responses = await atOnce(11, () => live.get('/v1/account'));
    expect(countStatuses(responses)).toEqual({ 200: 10, 429: 1 });
    await endWindows(service.database.sql);
    const sentAt = Date.now() / 1000;
    const next = await live.get('/v1/account');
    expect(next.status).toBe(200);
    expect(remaining(next)).toBe(9);
    expect(number(next, 'x-ratelimit-reset')).toBeGreaterThan(sentAt + 50);
  });

  test('a window that has not ended continues', async () => {
    const { live } = await service.account('free');
    await live.get('/v1/account');
    await service.database.sql`UPDATE rate_windows SET started_at = started_at - interval '30 seconds'`;
    const next = await live.get('/v1/account');
    expect(remaining(next)).toBe(8);
    expect(number(next, 'x-ratelimit-reset')).toBeLessThan(Date.now() / 1000 + 35);
  });

  test('all keys of a mode share one window; the other mode and other accounts have their own', async () => {
    const { live, test: development } = await service.account('free');
    const second = service.client(1, (await live.post('/v1/account/keys', { name: 'Second', mode: 'live' })).body.key);
    expect(remaining(await second.get('/v1/account'))).toBe(8);
    expect(remaining(await development.get('/v1/account'))).toBe(9);
    expect(remaining(await (await service.account('free')).live.get('/v1/account'))).toBe(9);
  });

  test('a plan change changes the limit at once', async () => {
    const { live, id } = await service.account('free');
    await atOnce(11, () => live.get('/v1/account'));
    await setPlan(service.database.sql, id, 'pro', new Date());
    const next = await live.get('/v1/account');
    expect(next.status).toBe(200);
    expect(number(next, 'x-ratelimit-limit')).toBe(60);
    expect(remaining(next)).toBe(48);
  });

  test('a refused request changes nothing', async () => {
    const { live, id } = await service.account('free');
    await atOnce(10, () => live.get('/v1/account'));
    const refused = await live.post('/v1/qrcodes', newCode({ short_code: 'too-late' }));
    expect(refused.status).toBe(429);
    await endWindows(service.database.sql);
    expect((await live.get('/v1/qrcodes')).body.data).toEqual([]);
    expect(id).toMatch(/^acct_/);
  });

  test('redirects, health and documentation are not counted', async () => {
    const { live } = await service.account('free');
    await live.get('/v1/account');
    await Promise.all(['/swagger', '/swagger/json', '/healthz', '/nothing-here'].map((path) => live.get(path)));
    expect(remaining(await live.get('/v1/account'))).toBe(8);
  });
});

describe('requests without a valid key', () => {
  test('are counted by client address: 60 a minute over two instances', async () => {
    const first = await anonymousFrom('203.0.113.1');
    expect([first.status, number(first, 'x-ratelimit-limit')]).toEqual([401, 60]);
    const responses = await inHeldWindow(69, { 'x-forwarded-for': '203.0.113.1' });
    expect(countStatuses(responses)).toEqual({ 401: 59, 429: 10 });
    expect((await anonymousFrom('203.0.113.2')).status, 'another address').toBe(401);
    await endWindows(service.database.sql);
    expect((await anonymousFrom('203.0.113.1')).status, 'a new window').toBe(401);
  });

  test('count for their address whatever key they send', async () => {
    const from = { 'x-forwarded-for': '203.0.113.3' };
    const send = (authorization: string) => service.client(0).get('/v1/account', { ...from, authorization });
    const responses = [await send('Bearer nonsense'), await send(`Bearer ${unknownKey()}`), await send('Basic eDp5')];
    expect(responses.map(remaining)).toEqual([59, 58, 57]);
  });

  test('only the hop that a trusted proxy added counts as the address', async () => {
    const spoofed = (address: string) => anonymousFrom(`${address}, 203.0.113.4`);
    expect(remaining(await spoofed('198.51.100.1'))).toBe(59);
    expect(remaining(await spoofed('198.51.100.2'))).toBe(58);
  });

  test('do not count against accounts at the same address', async () => {
    const { keys } = await service.account('free');
    const from = { 'x-forwarded-for': '203.0.113.5' };
    await service.client(0).get('/v1/account', from);
    expect(countStatuses(await inHeldWindow(60, from))).toEqual({ 401: 59, 429: 1 });
    expect((await service.client(0, keys.live).get('/v1/account', from)).status).toBe(200);
  });

  test('leave no address in the database', async () => {
    await anonymousFrom('203.0.113.77');
    const rows = await service.database.sql<{ subject: string }[]>`SELECT subject FROM rate_windows`;
    expect(rows.length).toBeGreaterThan(0);
    for (const { subject } of rows) expect(subject).not.toContain('203.0.113');
  });
});

describe('the headers', () => {
  const requests: [name: string, status: number, send: (live: Api) => Promise<ReceivedResponse>][] = [
    ['a success', 200, (live) => live.get('/v1/qrcodes')],
    ['a create', 201, (live) => live.post('/v1/qrcodes', newCode())],
    ['an invalid request', 400, (live) => live.post('/v1/qrcodes', {})],
    ['an unknown code', 404, (live) => live.get('/v1/qrcodes/none')],
    ['a path that is not there', 404, (live) => live.get('/v1/none')],
    ['a method that is not there', 405, (live) => live.put('/v1/qrcodes', {})],
    ['a body too large', 413, (live) => live.post('/v1/qrcodes', { name: 'x'.repeat(1_100_000) })],
    ['a body that is no JSON', 415, (live) => live.send('/v1/qrcodes', { method: 'POST', body: 'x' })],
    ['HEAD', 200, (live) => live.head('/v1/qrcodes')],
  ];

  test.each(requests)('are on %s (%i), which counts as a request', async (_, status, send) => {
    const { live } = await service.account('pro');
    const response = await send(live);
    expect(response.status).toBe(status);
    expect(number(response, 'x-ratelimit-limit')).toBe(60);
    expect(remaining(response)).toBe(59);
  });
});
