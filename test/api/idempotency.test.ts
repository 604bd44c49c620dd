import { describe, expect, test } from 'vitest';
import { setPlan } from '../../src/accounts/accounts.ts';
import { type Api, newCode } from '../support/api.ts';
import { atOnce, blamedFields, countStatuses } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false, instances: 2 });

const create = (client: Api, key: string, fields: Record<string, unknown> = {}) =>
  client.post('/v1/qrcodes', newCode(fields), { 'idempotency-key': key });
const totalOf = async (client: Api) => (await client.get('/v1/qrcodes')).body.pagination.total;
const isReplay = (response: { headers: Headers }) => response.headers.get('idempotent-replayed') === 'true';

/** Sets back the time at which responses were stored. */
const age = (account: string, interval: string) => service.database.sql`
  UPDATE idempotency_keys SET created_at = created_at - ${interval}::interval WHERE account = ${account}`;

describe('the same key and body', () => {
  test('returns the first response byte for byte and creates nothing', async () => {
    const { live } = await service.account();
    const first = await create(live, 'order-1', { style: { dotsColor: '#EEEEEE' } });
    const again = await create(live, 'order-1', { style: { dotsColor: '#EEEEEE' } });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
    expect(await totalOf(live)).toBe(1);
  });

  test('also on another instance, and after the code was changed and deleted', async () => {
    const { live, keys } = await service.account();
    const first = await create(live, 'order-2');
    await live.patch(`/v1/qrcodes/${first.body.id}`, { name: 'Changed' });
    await live.delete(`/v1/qrcodes/${first.body.id}`);
    const again = await create(service.client(1, keys.live), 'order-2');
    expect(again.text).toBe(first.text);
    expect(isReplay(again)).toBe(true);
  });

  test('10 concurrent requests on two instances create one code and get the same response', async () => {
    const { keys } = await service.account();
    const responses = await atOnce(10, (i) => create(service.client(i % 2, keys.live), 'order-3'));
    expect(countStatuses(responses)).toEqual({ 201: 10 });
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.filter(isReplay)).toHaveLength(9);
    expect(await totalOf(service.client(0, keys.live))).toBe(1);
  });

  test('bulk creates the codes once', async () => {
    const { live } = await service.account();
    const send = () =>
      live.post('/v1/qrcodes/bulk', { qrcodes: [newCode(), newCode()] }, { 'idempotency-key': 'order-4' });
    const responses = await atOnce(4, send);
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(await totalOf(live)).toBe(2);
  });

  test('the same JSON with different whitespace is the same body', async () => {
    const { live } = await service.account();
    const first = await create(live, 'order-5');
    const again = await live.send('/v1/qrcodes', {
      method: 'POST',
      body: JSON.stringify(newCode(), null, 4),
      headers: { 'content-type': 'application/json', 'idempotency-key': 'order-5' },
    });
    expect(again.text).toBe(first.text);
  });
});

describe('stored responses', () => {
  const storedOf = async (account: string) => {
    const [row] = await service.database.sql<{ body: string | null; deflated_body: Buffer | null }[]>`
      SELECT body, deflated_body FROM idempotency_keys WHERE account = ${account}`;
    return row;
  };

  test('a bulk response is stored compressed and returned byte for byte', async () => {
    const { live, id, keys } = await service.account();
    const qrcodes = Array.from({ length: 200 }, (_, i) => newCode({ name: `Tisch ${i} – Café` }));
    const send = (instance: number) =>
      service.client(instance, keys.live).post('/v1/qrcodes/bulk', { qrcodes }, { 'idempotency-key': 'packed' });
    const first = await send(0);
    const stored = await storedOf(id);
    expect(stored?.body).toBeNull();
    expect(stored?.deflated_body?.byteLength).toBeLessThan(first.text.length / 4);
    const again = await send(1);
    expect(isReplay(again)).toBe(true);
    expect(again.text).toBe(first.text);
    expect(await totalOf(live)).toBe(200);
  });

  test('a plain-text response of an earlier version is returned byte for byte', async () => {
    const { live, id } = await service.account();
    const qrcodes = Array.from({ length: 20 }, () => newCode());
    const send = () => live.post('/v1/qrcodes/bulk', { qrcodes }, { 'idempotency-key': 'plain' });
    const first = await send();
    await service.database.sql`
      UPDATE idempotency_keys SET body = ${first.text}, deflated_body = NULL WHERE account = ${id}`;
    const again = await send();
    expect(isReplay(again)).toBe(true);
    expect(again.text).toBe(first.text);
  });

  test('a key that is reused after 24 hours returns its new response, a short one after a long one', async () => {
    const { live, id } = await service.account();
    await live.post(
      '/v1/qrcodes/bulk',
      { qrcodes: Array.from({ length: 20 }, () => newCode()) },
      { 'idempotency-key': 'k' },
    );
    await age(id, '24 hours');
    const second = await create(live, 'k');
    expect(await storedOf(id)).toEqual({ body: second.text, deflated_body: null });
    expect((await create(live, 'k')).text).toBe(second.text);
  });
});

describe('the same key with another request', () => {
  test('another body: 409, and the first response is kept', async () => {
    const { live } = await service.account();
    const first = await create(live, 'order-6');
    const other = await create(live, 'order-6', { name: 'Other' });
    expect(other.status).toBe(409);
    expect(other.body.error.code).toBe('idempotency_conflict');
    expect((await create(live, 'order-6')).text).toBe(first.text);
    expect(await totalOf(live)).toBe(1);
  });

  test('another operation: 409', async () => {
    const { live } = await service.account();
    await create(live, 'order-7');
    const bulk = await live.post('/v1/qrcodes/bulk', { qrcodes: [newCode()] }, { 'idempotency-key': 'order-7' });
    expect(bulk.body.error.code).toBe('idempotency_conflict');
  });

  test('of 10 concurrent requests with different bodies, one creates and nine get 409', async () => {
    const { live } = await service.account();
    const responses = await atOnce(10, (i) => create(live, 'order-8', { name: `Body ${i}` }));
    expect(countStatuses(responses)).toEqual({ 201: 1, 409: 9 });
    expect(await totalOf(live)).toBe(1);
  });

  test('keys are separate for each account and mode', async () => {
    const [one, two] = [await service.account(), await service.account()];
    const responses = await Promise.all([one.live, one.test, two.live].map((client) => create(client, 'shared')));
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(responses.some(isReplay)).toBe(false);
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(3);
  });
});

describe('an error as the first response', () => {
  test('an invalid request is not stored: the corrected one may use the same key', async () => {
    const { live } = await service.account();
    expect((await create(live, 'order-9', { name: '' })).status).toBe(400);
    expect((await create(live, 'order-9', { name: 'Corrected' })).status).toBe(201);
  });

  test('a refusal that depends on stored state is stored, in the same shape as without a key', async () => {
    const { live } = await service.account();
    const taken = await live.post('/v1/qrcodes', newCode({ short_code: 'kept-taken' }));
    const first = await create(live, 'order-10', { short_code: 'kept-taken' });
    const without = await live.post('/v1/qrcodes', newCode({ short_code: 'kept-taken' }));
    expect(first.status).toBe(409);
    expect(first.body).toEqual(without.body);
    await live.delete(`/v1/qrcodes/${taken.body.id}`);
    const again = await create(live, 'order-10', { short_code: 'kept-taken' });
    expect(again.text).toBe(first.text);
    expect(isReplay(again)).toBe(true);
  });

  test('quota_exceeded stays the response for that key; a new key is a new request', async () => {
    const { live, id } = await service.account();
    await live.post('/v1/qrcodes/bulk', { qrcodes: Array.from({ length: 50 }, () => newCode()) });
    await setPlan(service.database.sql, id, 'pro', new Date());
    const first = await create(live, 'order-11');
    expect(first.body.error.code).toBe('quota_exceeded');
    await setPlan(service.database.sql, id, 'business', new Date());
    expect((await create(live, 'order-11')).text).toBe(first.text);
    expect((await create(live, 'order-12')).status).toBe(201);
  });
});

describe('expiry', () => {
  test('after 23 hours and 59 minutes the first response is returned', async () => {
    const { live, id } = await service.account();
    const first = await create(live, 'order-13');
    await age(id, '23 hours 59 minutes');
    expect((await create(live, 'order-13')).text).toBe(first.text);
  });

  test('after 24 hours the key can be used with any body', async () => {
    const { live, id } = await service.account();
    const first = await create(live, 'order-14');
    await age(id, '24 hours');
    const second = await create(live, 'order-14', { name: 'Next day' });
    expect(second.status).toBe(201);
    expect(isReplay(second)).toBe(false);
    expect(second.body.id).not.toBe(first.body.id);
    expect((await create(live, 'order-14', { name: 'Next day' })).text, 'the key is bound to the new request').toBe(
      second.text,
    );
  });
});

describe('the header value', () => {
  test.each(['a', 'k'.repeat(255), '!"#$%&()*+,-./:;<=>?@[]^_`{|}~ with spaces', '0'])('may be %s', async (key) => {
    const { live } = await service.account();
    const first = await create(live, key);
    expect(first.status).toBe(201);
    expect((await create(live, key)).text).toBe(first.text);
  });

  test.each([
    ['256 characters', 'k'.repeat(256)],
    ['empty', ''],
    ['non-ASCII letters', 'caf\u00e9'],
    ['a tab', 'a\tb'],
  ])('must not be %s: 400', async (_, key) => {
    const { live } = await service.account();
    const response = await create(live, key);
    expect(response.status).toBe(400);
    expect(blamedFields(response)).toEqual(['Idempotency-Key']);
    expect(await totalOf(live)).toBe(0);
  });
});
