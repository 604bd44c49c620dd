import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readStream } from '../../src/log/read.ts';
import { created, type Json, newCode } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { atOnce, blamedFields, countStatuses } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { dumpAll } from '../support/tables.ts';

const service = useService({ projections: false, instances: 2 });
const second = (key: string) => service.client(1, key);
/** The account's first live key, as the list shows it. */
const liveKeyOf = async ({ live }: TestAccount): Promise<Json> =>
  (await live.get('/v1/account/keys')).body.data.find(({ mode }: Json) => mode === 'live');

describe('POST /v1/account/keys', () => {
  test.each(['live', 'test'] as const)('a %s key is shown once, and works at once on every instance', async (mode) => {
    const { live, id: account } = await service.account();
    const { status, body } = await live.post('/v1/account/keys', { name: ' Website ', mode });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^key_[0-9A-Za-z]{20,}$/),
      name: 'Website',
      mode,
      prefix: `sk_${mode}_`,
      last4: body.key.slice(-4),
      created_at: expect.any(String),
      last_used_at: null,
      unused: false,
      scopes: null,
      expires_at: null,
      allowed_cidrs: null,
      key: expect.stringMatching(new RegExp(`^sk_${mode}_[0-9A-Za-z]{43,}$`)),
    });
    expect((await second(body.key).get('/v1/account')).body).toMatchObject({ id: account, mode });
  });

  test('the default mode is the mode of the calling key', async () => {
    const { test: development } = await service.account();
    expect((await development.post('/v1/account/keys', { name: 'Script' })).body.mode).toBe('test');
  });

  test.each([
    ['no name', {}, ['name']],
    ['an empty name', { name: ' ' }, ['name']],
    ['a name with a control character', { name: 'a\u0000b' }, ['name']],
    ['an unknown mode', { name: 'x', mode: 'demo' }, ['mode']],
    ['a given secret', { name: 'x', key: 'sk_live_1' }, ['key']],
  ])('%s: 400', async (_, body, invalidFields) => {
    const { live } = await service.account();
    const response = await live.post('/v1/account/keys', body);
    expect(response.status).toBe(400);
    expect(blamedFields(response)).toEqual(invalidFields);
  });

  test('5 concurrent creates each succeed or get 409', async () => {
    const { live } = await service.account();
    const responses = await atOnce(5, (i) => live.post('/v1/account/keys', { name: `Key ${i}` }));
    const { 201: created = 0, 409: lost = 0 } = countStatuses(responses);
    expect(created + lost).toBe(5);
    expect((await live.get('/v1/account/keys')).body.data).toHaveLength(2 + created);
  });
});

describe('GET /v1/account/keys', () => {
  test('lists prefix and last 4 of every valid key, oldest first, and never a secret', async () => {
    const { live, keys } = await service.account();
    const key = (await live.post('/v1/account/keys', { name: 'Third', mode: 'live' })).body;
    const response = await live.get('/v1/account/keys');
    const times = response.body.data.map(({ created_at }: Json) => created_at);
    expect(times).toEqual(times.toSorted());
    expect(response.body.data.toSorted((a: Json, b: Json) => a.name.localeCompare(b.name))).toMatchObject([
      { name: 'Live key', mode: 'live', prefix: 'sk_live_', last4: keys.live.slice(-4) },
      { name: 'Test key', mode: 'test', prefix: 'sk_test_', last4: keys.test.slice(-4) },
      { id: key.id, name: 'Third', mode: 'live', prefix: 'sk_live_', last4: key.key.slice(-4) },
    ]);
    for (const secret of [keys.live, keys.test, key.key]) expect(response.text).not.toContain(secret.slice(8, -4));
    expect(response.text, 'no hash either').not.toMatch(/[0-9a-f]{64}/);
  });

  test('shows when a key was last used', async () => {
    const { live } = await service.account();
    const key = (await live.post('/v1/account/keys', { name: 'New' })).body;
    const lastUse = async () =>
      (await live.get('/v1/account/keys')).body.data.find(({ id }: Json) => id === key.id).last_used_at;
    expect(await lastUse()).toBeNull();
    const before = Date.now();
    await second(key.key).get('/v1/account');
    const used = await eventually(async () => {
      const time = await lastUse();
      expect(time).not.toBeNull();
      return Date.parse(time);
    });
    expect(used).toBeGreaterThanOrEqual(before);
    expect(used).toBeLessThanOrEqual(Date.now());
  });

  test('lists only keys of the account', async () => {
    const [one, two] = [await service.account(), await service.account()];
    const ids = async (account: typeof one) =>
      (await account.live.get('/v1/account/keys')).body.data.map(({ id }: Json) => id);
    const [ofOne, ofTwo] = [await ids(one), await ids(two)];
    expect(ofOne.filter((id: string) => ofTwo.includes(id))).toEqual([]);
  });
});

describe('DELETE /v1/account/keys/:id', () => {
  test('takes effect at once on every instance, and the key is no longer listed', async () => {
    const { live } = await service.account();
    const key = (await live.post('/v1/account/keys', { name: 'Lost laptop' })).body;
    expect((await second(key.key).get('/v1/account')).status).toBe(200);

    const response = await live.delete(`/v1/account/keys/${key.id}`);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ deleted: true, id: key.id });
    expect((await second(key.key).get('/v1/account')).status).toBe(401);
    expect((await service.client(0, key.key).get('/v1/account')).status).toBe(401);
    expect((await live.get('/v1/account/keys')).body.data).toHaveLength(2);
  });

  test('appends an event to the account, with the calling key as actor', async () => {
    const account = await service.account();
    const own = await liveKeyOf(account);
    const { live, id: stream } = account;
    const key = (await live.post('/v1/account/keys', { name: 'Lost laptop' })).body;
    await live.delete(`/v1/account/keys/${key.id}`);
    expect((await readStream(service.database.sql, stream)).slice(-2)).toMatchObject([
      { type: 'key_created', data: { key: key.id, name: 'Lost laptop' }, actor: own.id },
      { type: 'key_revoked', data: { key: key.id }, actor: own.id },
    ]);
  });

  test('a key cannot revoke itself: 400, and it still works', async () => {
    const account = await service.account();
    const { live } = account;
    const own = await liveKeyOf(account);
    const response = await live.delete(`/v1/account/keys/${own.id}`);
    expect(response.status).toBe(400);
    expect(response.body.error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('itself') });
    expect((await live.get('/v1/account')).status).toBe(200);
  });

  test('codes that a revoked key created remain', async () => {
    const { live } = await service.account();
    const key = (await live.post('/v1/account/keys', { name: 'Old' })).body;
    const body = await created(second(key.key));
    await live.delete(`/v1/account/keys/${key.id}`);
    const { data: keys } = (await live.get('/v1/account/keys?include=revoked')).body;
    const revokedAt = ({ revoked_at }: { revoked_at?: string }) => typeof revoked_at;
    expect(keys.map(revokedAt)).toEqual(['undefined', 'undefined', 'string']);
    expect(keys.at(-1)).toMatchObject({ id: key.id, name: 'Old' });
    expect((await live.get('/v1/account/keys')).body.data).toEqual(keys.slice(0, 2));
    expect((await live.get(`/v1/qrcodes/${body.id}`)).body).toEqual({
      ...body,
      short_url: expect.stringContaining(body.short_code),
      image_url: expect.stringContaining(body.id),
      version: 1,
      availability: 'live',
    });
  });

  test.each(['key_0000000000000000000000', 'nonsense', '%00', '%F0%9F%8D%8B'])('returns 404 for %s', async (id) => {
    const { live } = await service.account();
    expect((await live.delete(`/v1/account/keys/${id}`)).status).toBe(404);
  });

  test('returns 404 for a key of another account, which stays valid, and for a revoked key', async () => {
    const [one, two] = [await service.account(), await service.account()];
    const theirs = await liveKeyOf(two);
    expect((await one.live.delete(`/v1/account/keys/${theirs.id}`)).status).toBe(404);
    expect((await two.live.get('/v1/account')).status).toBe(200);
    const key = (await one.live.post('/v1/account/keys', { name: 'Once' })).body;
    await one.live.delete(`/v1/account/keys/${key.id}`);
    expect((await one.live.delete(`/v1/account/keys/${key.id}`)).status).toBe(404);
  });
});

describe('a test key', () => {
  test('lists test keys only', async () => {
    const { live, test: development, keys } = await service.account();
    await live.post('/v1/account/keys', { name: 'Second live', mode: 'live' });
    const { body, text } = await development.get('/v1/account/keys');
    expect(body.data).toMatchObject([{ mode: 'test', last4: keys.test.slice(-4) }]);
    expect(text).not.toContain('sk_live_');
  });

  test('cannot create a live key: 403 live_key_required, and no key is added', async () => {
    const { live, test: development } = await service.account();
    const response = await development.post('/v1/account/keys', { name: 'Mine', mode: 'live' });
    expect([response.status, response.body.error.code]).toEqual([403, 'live_key_required']);
    expect(response.body.error.message).toContain('with a live key');
    expect((await live.get('/v1/account/keys')).body.data).toHaveLength(2);
  });

  test('cannot revoke a live key: 404, and the key stays valid', async () => {
    const account = await service.account();
    const { id } = await liveKeyOf(account);
    const response = await account.test.delete(`/v1/account/keys/${id}`);
    expect([response.status, response.body.error.code]).toEqual([404, 'not_found']);
    expect((await account.live.get('/v1/account')).status).toBe(200);
  });

  test('creates and revokes test keys, and a live key manages both', async () => {
    const { live, test: development } = await service.account();
    const key = (await development.post('/v1/account/keys', { name: 'Script', mode: 'test' })).body;
    expect((await development.delete(`/v1/account/keys/${key.id}`)).status).toBe(200);
    const again = (await development.post('/v1/account/keys', { name: 'Script' })).body;
    expect((await live.get('/v1/account/keys')).body.data).toHaveLength(3);
    expect((await live.delete(`/v1/account/keys/${again.id}`)).status).toBe(200);
  });
});

test('the database contains no secret, only its SHA-256', async () => {
  const { live, keys } = await service.account();
  const key = (await live.post('/v1/account/keys', { name: 'Secret' }, { 'idempotency-key': 'a' })).body;
  await second(key.key).post('/v1/qrcodes', newCode(), { 'idempotency-key': 'b' });
  const dump = JSON.stringify(await dumpAll(service.database.sql));
  for (const secret of [keys.live, keys.test, key.key]) {
    expect(dump).not.toContain(secret);
    expect(dump, 'nor without its prefix').not.toContain(secret.slice(8));
    expect(dump, 'nor encoded').not.toContain(Buffer.from(secret).toString('base64'));
    expect(dump).toContain(createHash('sha256').update(secret).digest('hex'));
  }
});
