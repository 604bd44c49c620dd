import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { exampleScan, sendExample } from '../../src/api/webhooks/webhook-actions.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Transaction } from '../../src/lib/sql.ts';
import { readStream } from '../../src/log/read.ts';
import { remove } from '../../src/webhooks/commands.ts';
import { createSender } from '../../src/webhooks/send.ts';
import type { Json } from '../support/api.ts';
import { atOnce, blamedFields, countStatuses } from '../support/http.ts';
import { captureLog } from '../support/log-lines.ts';
import { testBox } from '../support/secret-box.ts';
import { useService } from '../support/service.ts';
import { dumpAll } from '../support/tables.ts';
import { answer, hang, useReceiver } from '../webhooks/receiver.ts';
import { mayCallTests, newPath, setHook } from '../webhooks/webhook-support.ts';

const lines = captureLog();
type Work = (tx: Transaction) => Promise<unknown>;

const service = useService({ instances: 2, config: mayCallTests, log: lines.log });
const receiver = useReceiver();
const path = '/v1/account/webhook';
const anywhere = () => `https://192.0.32.7/${randomBytes(4).toString('hex')}`;

describe('PUT /v1/account/webhook', () => {
  test('returns the webhook and its secret, on every instance', async () => {
    const { live, keys } = await service.account('pro');
    const { status, body } = await live.put(path, { url: 'https://192.0.32.7/hooks' });
    expect(status).toBe(200);
    expect(body).toEqual({
      url: 'https://192.0.32.7/hooks',
      mode: 'live',
      status: 'enabled',
      disabled_reason: null,
      status_since: expect.any(String),
      failing_since: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      old_secret_valid_until: null,
      created_at: expect.any(String),
    });
    expect((await service.client(1, keys.live).get(path)).body).toEqual(body);
    expect(
      (await live.put(path, { url: 'https://192.0.32.7/hooks' })).body,
      'the same URL again changes nothing',
    ).toEqual(body);
  });

  test('each mode has its own webhook', async () => {
    const { live, test: development } = await service.account();
    const [one, two] = [await setHook(live, anywhere()), await setHook(development, anywhere())];
    expect([one.mode, two.mode]).toEqual(['live', 'test']);
    expect(one.secret).not.toBe(two.secret);
    await live.delete(path);
    expect((await development.get(path)).body).toEqual(two);
  });

  test.each([
    ['nothing', {}],
    ['plain http elsewhere', { url: 'ftp://example.com' }],
    ['a user name', { url: 'https://me@example.com' }],
    ['loopback, though only 127.0.0.0/8 is allowed here', { url: 'https://[::1]/' }],
    ['a private address', { url: 'https://10.0.0.1/' }],
    ['metadata, in another notation', { url: 'http://0xa9fea9fe/' }],
    ['a number', { url: 5 }],
  ])('%s: 400 that names url', async (_, body) => {
    const { live } = await service.account();
    const refused = await live.put(path, body);
    expect(refused.status).toBe(400);
    expect(blamedFields(refused)).toEqual(['url']);
    expect((await live.get(path)).status).toBe(404);
  });

  test('an unknown field: 400 that names it', async () => {
    const { live } = await service.account();
    expect(blamedFields(await live.put(path, { url: anywhere(), secret: 'mine' }))).toEqual(['secret']);
  });

  test('5 concurrent requests create one secret', async () => {
    const { live } = await service.account();
    const responses = await atOnce(5, () => live.put(path, { url: anywhere() }));
    const { 200: set = 0, 409: lost = 0 } = countStatuses(responses);
    expect([set + lost, set > 0]).toEqual([5, true]);
    const secrets = responses.filter(({ status }) => status === 200).map(({ body }) => body.secret);
    expect(new Set(secrets).size).toBe(1);
  });
});

describe('without a webhook', () => {
  const calls: [string, (api: Json) => Promise<Json>][] = [
    ['GET', (api) => api.get(path)],
    ['DELETE', (api) => api.delete(path)],
    ['rotate', (api) => api.post(`${path}/rotate`, {})],
    ['test', (api) => api.post(`${path}/test`, {})],
    ['resend', (api) => api.post(`${path}/deliveries/whd_0000000000000000000000/resend`, {})],
  ];
  test.each(calls)('%s: 404', async (_, call) => {
    const { live } = await service.account();
    const { status, body } = await call(live);
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });

  test.each([
    ...calls,
    ['PUT', (api: Json) => api.put(path, { url: anywhere() })] as const,
    ['deliveries', (api: Json) => api.get(`${path}/deliveries`)] as const,
  ])('%s on the Free plan: 403', async (_, call) => {
    const { live } = await service.account('free');
    const { status, body } = await call(live);
    expect([status, body.error.code]).toEqual([403, 'plan_required']);
  });
});

describe('DELETE /v1/account/webhook', () => {
  test('of concurrent deletes one succeeds and the others get 404 or 409, never 500', async () => {
    const { live, keys } = await service.account();
    const clients = [live, service.client(1, keys.live)];
    for (let round = 0; round < 10; round++) {
      await setHook(live, anywhere());
      const removals = await atOnce(6, (i) => (clients[i % 2] as typeof live).delete(path));
      const statuses = countStatuses(removals);
      expect(statuses[200], JSON.stringify(statuses)).toBe(1);
      expect(Object.keys(statuses).filter((status) => !['200', '404', '409'].includes(status))).toEqual([]);
    }
  });

  test('version and webhook are read in one snapshot: a concurrent removal shows in both', async () => {
    const { live, id } = await service.account();
    await setHook(live, anywhere());
    let removed: Promise<unknown> | undefined;
    // Another client removes the webhook after it was read, and before the account is.
    const removing = (tx: Transaction) => {
      const webhookRead = Promise.withResolvers<void>();
      return new Proxy(tx, {
        async apply(target, _, query: Parameters<Transaction>) {
          if (!query[0].join('').includes('FROM accounts')) return target(...query).finally(webhookRead.resolve);
          await webhookRead.promise;
          removed ??= live.delete(path);
          await removed;
          return target(...query);
        },
      });
    };
    const sql = new Proxy(service.database.sql, {
      get(target, name, receiver) {
        if (name !== 'begin') return Reflect.get(target, name, receiver);
        return (...given: [string, Work] | [Work]) =>
          given.length === 1 ? target.begin(given[0]) : target.begin(given[0], (tx) => given[1](removing(tx)));
      },
    });
    const by = { actor: 'operator' as const, now: new Date() };
    await expect(remove(sql, { account: id, mode: 'live' }, 'live', by)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an example event', () => {
  test('is sent now, and the response of the receiver is returned', async () => {
    const { live } = await service.account();
    const to = newPath();
    receiver.behave(to, answer(202, 'thank you'));
    await setHook(live, receiver.url(to));
    const { body } = await live.post(`${path}/test`, {});
    expect(body).toMatchObject({ delivered: true, status_code: 202, response: 'thank you', error: null });
    const [got] = receiver.received(to);
    expect(got?.id).toBe(body.webhook_id);
    expect(JSON.parse(got?.body ?? '')).toEqual(body.body);
    expect((await live.get(`${path}/deliveries`)).body.data, 'the delivery log does not list it').toEqual([]);
  });

  test('reports a receiver that does not answer in time', async () => {
    const { live, id: account } = await service.account();
    const to = newPath();
    receiver.behave(to, hang);
    await setHook(live, receiver.url(to));
    const policy = { allowHttp: true, allowed: mayCallTests.webhookAllowedCidrs };
    const parts = {
      sql: service.database.sql,
      clock: systemClock,
      webhooks: { box: testBox, policy, send: createSender({ policy, timeoutMs: 50 }) },
    };
    expect(await sendExample(parts, { account, webhook: 'live' }, exampleScan)).toMatchObject({
      delivered: false,
      status_code: null,
      error: 'No response within 0.05 s.',
    });
  });
});

describe('the deliveries', () => {
  test.each(['?page=0', '?limit=101', '?status=lost'])('%s: 400', async (query) => {
    const { live } = await service.account();
    expect((await live.get(`${path}/deliveries${query}`)).status).toBe(400);
  });

  test('returns an empty page without deliveries', async () => {
    const { live } = await service.account();
    expect((await live.get(`${path}/deliveries`)).body).toEqual({
      data: [],
      pagination: { page: 1, limit: 20, total: 0, total_pages: 0 },
    });
  });

  test.each(['whd_0000000000000000000000', 'nonsense', '%00'])('resend returns 404 for %s', async (id) => {
    const { live } = await service.account();
    await setHook(live, anywhere());
    expect((await live.post(`${path}/deliveries/${id}/resend`, {})).status).toBe(404);
  });
});

test('changes of a webhook are in the log, without its secret', async () => {
  const { live, id } = await service.account();
  const url = anywhere();
  const secrets = [(await setHook(live, url)).secret];
  secrets.push((await live.post(`${path}/rotate`, {})).body.secret);
  await live.delete(path);
  const events = await readStream(service.database.sql, id);
  expect(events.slice(3).map(({ type, data }) => ({ type, data }))).toEqual([
    { type: 'webhook_set', data: { mode: 'live', url } },
    { type: 'webhook_rotated', data: { mode: 'live' } },
    { type: 'webhook_removed', data: { mode: 'live' } },
  ]);
  expect(
    (await dumpAll(service.database.sql))['endpoint_secrets']?.join(),
    'the secret is deleted with the webhook',
  ).not.toContain(id);
  secrets.push((await setHook(live, url)).secret);
  expect(new Set(secrets).size).toBe(3);
  const dump = JSON.stringify(await dumpAll(service.database.sql));
  for (const secret of secrets) {
    for (const place of [dump, lines.text()]) {
      expect(place).not.toContain(secret);
      expect(place).not.toContain(secret.slice(6, -1));
    }
  }
});
