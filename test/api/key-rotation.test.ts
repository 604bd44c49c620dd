import { describe, expect, test } from 'vitest';
import { readStream } from '../../src/log/read.ts';
import type { Json } from '../support/api.ts';
import { followFeed } from '../support/feed.ts';
import { blamedFields } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ projections: false, instances: 2 });
const second = (key: string) => service.client(1, key);
/** The id of the account's first live key. */
const liveKeyOf = async ({ live }: TestAccount): Promise<string> =>
  (await live.get('/v1/account/keys')).body.data.find(({ mode }: Json) => mode === 'live').id;

describe('POST /v1/account/keys/:id/rotate', () => {
  const limits = {
    scopes: ['account.read'],
    allowed_cidrs: ['127.0.0.0/8', '::1'],
    expires_at: '2099-01-01T00:00:00.000Z',
  };

  test('gives a new secret with the same settings, and the old one works until the overlap ends', async () => {
    const { live, id: stream } = await service.account();
    const old = (await live.post('/v1/account/keys', { name: 'Website', mode: 'live', ...limits })).body;
    const before = Date.now();
    const { status, body } = await live.post(`/v1/account/keys/${old.id}/rotate`, {});
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'Website', mode: 'live', ...limits, replaced: { id: old.id } });
    expect([body.id === old.id, body.key === old.key]).toEqual([false, false]);
    const works_until = Date.parse(body.replaced.works_until);
    expect(works_until).toBeGreaterThanOrEqual(before + 24 * 3_600_000);
    expect(works_until).toBeLessThanOrEqual(Date.now() + 24 * 3_600_000);
    for (const key of [old.key, body.key]) expect((await second(key).get('/v1/account')).status).toBe(200);
    const listed = (await live.get('/v1/account/keys')).body.data.find(({ id }: Json) => id === old.id);
    expect(listed).toMatchObject({ replaced_by: body.id, expires_at: body.replaced.works_until });
    expect((await readStream(service.database.sql, stream)).slice(-2)).toMatchObject([
      { type: 'key_created', data: { key: body.id, ...limits } },
      { type: 'key_rotated', data: { key: old.id, replaced_by: body.id, expires_at: body.replaced.works_until } },
    ]);

    await service.database.sql`UPDATE api_keys SET expires_at = clock_timestamp() WHERE id = ${old.id}`;
    for (const instance of [0, 1])
      expect((await service.client(instance, old.key).get('/v1/account')).status).toBe(401);
    expect((await second(body.key).get('/v1/account')).status).toBe(200);
  });

  test('without an overlap, the old secret stops at once on every instance, also if the key rotates itself', async () => {
    const { live } = await service.account();
    const old = (await live.post('/v1/account/keys', { name: 'Self', mode: 'live' })).body;
    const { body } = await second(old.key).post(`/v1/account/keys/${old.id}/rotate`, { overlap_hours: 0 });
    for (const instance of [0, 1]) {
      expect((await service.client(instance, old.key).get('/v1/account')).status).toBe(401);
      expect((await service.client(instance, body.key).get('/v1/account')).status).toBe(200);
    }
  });

  test('ends the streams of events of the old secret, which may be opened again', async () => {
    const { live } = await service.account();
    const old = (await live.post('/v1/account/keys', { name: 'Feed', mode: 'live' })).body;
    const feed = followFeed(service.urls[1] as string, { key: old.key, query: 'types=key.created' });
    await live.post('/v1/account/keys', { name: 'Seen', mode: 'live' });
    await feed.has(1);
    await live.post(`/v1/account/keys/${old.id}/rotate`, {});
    await feed.ended;
    expect((await second(old.key).get('/v1/events')).status).toBe(200);
  });

  test('a key can be given another expiry, and is rotated once', async () => {
    const { live } = await service.account();
    const old = (await live.post('/v1/account/keys', { name: 'Website', ...limits })).body;
    const path = `/v1/account/keys/${old.id}/rotate`;
    expect((await live.post(path, { expires_at: '2020-01-01T00:00:00Z' })).status).toBe(400);
    const next = (await live.post(path, { expires_at: null, overlap_hours: 168 })).body;
    expect(next.expires_at).toBeNull();
    const again = await live.post(path, {});
    expect([again.status, again.body.error.message]).toEqual([400, expect.stringContaining(next.id)]);
  });

  test.each([-1, 169, '24', null])('an overlap of %j hours: 400', async (overlap_hours) => {
    const account = await service.account();
    const id = await liveKeyOf(account);
    const response = await account.live.post(`/v1/account/keys/${id}/rotate`, { overlap_hours });
    expect([response.status, blamedFields(response)]).toEqual([400, ['overlap_hours']]);
  });

  test('a key rotates no key that may do more, nor a live key with a test key', async () => {
    const account = await service.account();
    const id = await liveKeyOf(account);
    const rotateWith = async (key: string, body = {}) => {
      const response = await second(key).post(`/v1/account/keys/${id}/rotate`, body);
      return [response.status, response.body.error?.code];
    };
    const limited = async (limits: object) =>
      (await account.live.post('/v1/account/keys', { name: 'Limited', mode: 'live', ...limits })).body.key;
    expect(await rotateWith(await limited({ scopes: ['account.write'] }))).toEqual([403, 'insufficient_scope']);
    expect(await rotateWith(await limited({ allowed_cidrs: ['::/0', '127.0.0.0/8'] }))).toEqual([403, 'wider_key']);
    const { expires_at } = limits;
    expect(await rotateWith(await limited({ expires_at }))).toEqual([403, 'wider_key']);
    expect(await rotateWith(account.keys.test)).toEqual([404, 'not_found']);
    expect(await rotateWith(await limited({ expires_at }), { expires_at })).toEqual([201, undefined]);
  });
});
