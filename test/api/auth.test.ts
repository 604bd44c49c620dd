import { describe, expect, test } from 'vitest';
import { created } from '../support/api.ts';
import { documentOf } from '../support/documented.ts';
import { unknownKey } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
let last = 0;
/** Each request comes from a different address, so that the limit for requests without a key does not apply. */
const request = (authorization?: string) =>
  service.client(0).get('/v1/account', {
    'x-forwarded-for': `2001:db8:${(++last).toString(16)}::1`,
    ...(authorization === undefined ? {} : { authorization }),
  });

describe('accepted', () => {
  test('a key of an account, in its mode', async () => {
    const { id, live, test: development } = await service.account();
    expect((await live.get('/v1/account')).body).toMatchObject({ id, mode: 'live' });
    expect((await development.get('/v1/account')).body).toMatchObject({ id, mode: 'test' });
  });

  test.each(['bearer', 'BEARER', 'bEaReR'])('the scheme written as %s', async (scheme) => {
    const { keys } = await service.account();
    expect((await request(`${scheme} ${keys.live}`)).status).toBe(200);
  });

  test('several spaces before the key', async () => {
    const { keys } = await service.account();
    expect((await request(`Bearer   ${keys.live}`)).status).toBe(200);
  });
});

describe('refused with 401', () => {
  const refused = async (authorization?: string, reason = '') => {
    const response = await request(authorization);
    expect(response.status).toBe(401);
    expect(response.body.error.code).toBe('unauthorized');
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(response.body.error.message).toContain(reason);
  };

  test('no key', async () => {
    await refused(undefined, 'The API key is missing: send it as "Authorization: Bearer sk_live_…"');
    await refused('', 'The API key is missing');
  });

  test.each([
    'Bearer',
    'Bearer ',
    'Bearer sk_live_',
    'Bearer sk_live_short',
    'Bearer sk_prod_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    `Bearer sk_live_${'A'.repeat(44)}`,
    `Bearer sk_live_${'A'.repeat(42)}-`,
    `Bearer ${'A'.repeat(8_000)}`,
    "Bearer ' OR 1=1 --",
    'Basic c2tfbGl2ZTp4',
    'Token sk_live_x',
    'sk_live_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  ])('a malformed key: %.60s', (authorization) => refused(authorization, 'is malformed'));

  test('a key that was never created', async () => {
    await refused(`Bearer ${unknownKey('live')}`, 'The API key is unknown');
    await refused(`Bearer ${unknownKey('test')}`, 'The API key is unknown');
  });

  test('a key that is similar to a valid one', async () => {
    const { keys } = await service.account();
    const other = keys.live.endsWith('x') ? 'y' : 'x';
    await refused(`Bearer ${keys.live.slice(0, -1)}${other}`);
    await refused(`Bearer ${keys.live.replace('sk_live_', 'sk_test_')}`);
    await refused(`Bearer ${keys.live.toUpperCase()}`);
    await refused(`Bearer ${keys.live} ${keys.live}`);
    await refused(`Bearer${keys.live}`);
  });

  test('a revoked key', async () => {
    const { live } = await service.account();
    const { id, key } = (await live.post('/v1/account/keys', { name: 'Short-lived' })).body;
    expect((await request(`Bearer ${key}`)).status).toBe(200);
    await live.delete(`/v1/account/keys/${id}`);
    await refused(`Bearer ${key}`, 'The API key was revoked on 20');
    const other = key.endsWith('x') ? 'y' : 'x';
    await refused(`Bearer ${key.slice(0, -1)}${other}`, 'The API key is unknown');
  });

  test('a key in the query or in a cookie', async () => {
    const { keys } = await service.account();
    const anonymous = service.client(0);
    const from = { 'x-forwarded-for': '2001:db8:ffff::1' };
    expect((await anonymous.get(`/v1/account?api_key=${keys.live}`, from)).status).toBe(401);
    expect((await anonymous.get('/v1/account', { ...from, cookie: `key=${keys.live}` })).status).toBe(401);
  });

  test('existing and unknown paths both answer 401 without a key', async () => {
    const anonymous = service.client(0);
    for (const path of ['/v1', '/v1/none', '/v1/qrcodes', '/v1/qrcodes/none'])
      expect((await anonymous.get(path, { 'x-forwarded-for': '2001:db8:fffe::1' })).status, path).toBe(401);
  });
});

describe('ownership', () => {
  /** Every operation on a code, from the OpenAPI document, so that none is missed. */
  async function operationsOnACode(): Promise<[string, string][]> {
    const { paths } = await documentOf(service.urls[0] as string);
    return Object.entries(paths)
      .filter(([path]) => /^\/v1\/(analytics\/)?qrcodes\/\{id\}/.test(path))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => [method.toUpperCase(), path] as [string, string]),
      );
  }

  test('every operation returns 404 for a code of another account or mode, and does not change it', async () => {
    const [owner, other] = [await service.account(), await service.account()];
    const code = await created(owner.live);
    const operations = await operationsOnACode();
    expect(operations.length).toBeGreaterThanOrEqual(4);

    for (const [method, path] of operations) {
      for (const client of [other.live, other.test, owner.test]) {
        const response = await client.send(path.replace('{id}', code.id), {
          method,
          headers: { 'content-type': 'application/json' },
          ...(method === 'PATCH' ? { body: '{"name": "Mine"}' } : {}),
          ...(method === 'POST' ? { body: path.endsWith('/restore') ? '{"version": 1}' : '{}' } : {}),
        });
        expect(response.status, `${method} ${path}`).toBe(404);
        expect(response.body.error.message, `${method} ${path}`).toBe(
          client === owner.test
            ? 'This is a live code, and the key of this request is a test key: use a live key.'
            : 'There is no such QR code.',
        );
        expect(response.text, 'the response does not reveal that the code exists').not.toContain('Menu');
      }
    }
    expect((await owner.live.get(`/v1/qrcodes/${code.id}`)).body).toMatchObject(code);
  });

  test('a live key gets 404 for test codes', async () => {
    const { live, test: development } = await service.account();
    const body = await created(development);
    const { status, body: refusal } = await live.get(`/v1/qrcodes/${body.id}`);
    expect([status, refusal.error.message]).toEqual([
      404,
      'This is a test code, and the key of this request is a live key: use a test key.',
    ]);
    expect((await development.get(`/v1/qrcodes/${body.id}`)).status).toBe(200);
  });
});
