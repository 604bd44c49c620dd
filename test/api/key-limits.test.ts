import { describe, expect, onTestFinished, test } from 'vitest';
import { type Scope, scopes } from '../../events/scopes.ts';
import { access, type OperationId, scopeOf } from '../../src/api/http/access.ts';
import type { Service } from '../../src/api/service.ts';
import { operatorOperations } from '../../src/console/operator/serve.ts';
import { created, type Json, type ReceivedResponse } from '../support/api.ts';
import { openTab } from '../support/console.ts';
import { operationsOf } from '../support/documented.ts';
import { followFeed } from '../support/feed.ts';
import { blamedFields } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';

let aheadMs = 0;
const service = useService({ projections: false, instances: 2, clock: () => new Date(Date.now() + aheadMs) });
const hourMs = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();
const outcome = ({ status, body }: ReceivedResponse<Json>) => [status, body.error?.code];

async function newKey({ live }: Pick<TestAccount, 'live'>, limits: Record<string, unknown>): Promise<Json> {
  const { status, body } = await live.post('/v1/account/keys', { name: 'Limited', ...limits });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** Ends the validity of a key, by the clock of Postgres. */
const expire = ({ id }: Json) =>
  service.database.sql`UPDATE api_keys SET expires_at = clock_timestamp() WHERE id = ${id}`;

describe('scopes', () => {
  test('every operation needs the scope of the table, and no other scope is enough', async () => {
    const operations = (await operationsOf(service.urls[0] as string)).map(([method, path, operation]) => ({
      id: operation.operationId as OperationId,
      documented: operation['x-scope'],
      method,
      path: path.replaceAll(/\{\w+\}/g, 'none'),
    }));
    const needed = operations.map(({ id }) => [id, scopeOf(id)]);
    expect(operations.map(({ id, documented }) => [id, documented])).toEqual(needed);

    const operationsWith = async (scope: Scope): Promise<string[]> => {
      const { key } = await newKey(await service.account(), { scopes: [scope] });
      const limited = service.client(0, key);
      const allowed: string[] = [];
      for (const { id, method, path } of operations) {
        const response = await limited.send(path, { method });
        if (response.body.error?.code !== 'insufficient_scope') allowed.push(id);
        else expect(response.body.error.message).toContain(`needs the scope ${scopeOf(id)},`);
      }
      return allowed;
    };
    const expected = scopes.map((scope) => operations.map(({ id }) => id).filter((id) => scopeOf(id) === scope));
    expect(await Promise.all(scopes.map(operationsWith))).toEqual(expected);
  });

  test('the table has no operation that does not exist', async () => {
    const documented = (await operationsOf(service.urls[0] as string)).map(([, , { operationId }]) => operationId);
    const ofConsole =
      /Selected|Console|Me$|Totp$|Passkey$|^replaceRecoveryCodes$|^listSecurityChanges$|^checkShortCodes$|^createPhoneLink$/;
    const ofOperators: string[] = operatorOperations({ addresses: {} } as unknown as Service).map(
      (one) => one.operationId,
    );
    const known = [...documented, ...ofOperators];
    expect(Object.keys(access).filter((id) => !known.includes(id) && !ofConsole.test(id))).toEqual([]);
  });

  test('a refused change changes nothing, and HEAD needs the scope of GET', async () => {
    const account = await service.account();
    const code = await created(account.live);
    const reading = service.client(0, (await newKey(account, { scopes: ['codes.read'] })).key);
    const response = await reading.patch(`/v1/qrcodes/${code.id}`, { name: 'Other' });
    expect(outcome(response)).toEqual([403, 'insufficient_scope']);
    expect((await reading.get(`/v1/qrcodes/${code.id}`)).body.name).toBe(code.name);
    expect((await reading.head('/v1/account')).status).toBe(403);
    expect((await reading.head('/v1/qrcodes')).status).toBe(200);
  });

  test('a session of the console can do what its key can', async () => {
    const account = await service.account();
    const tab = openTab(service.urls[0] as string);
    await tab.signIn((await newKey(account, { scopes: ['codes.read'] })).key);
    expect((await tab.get('/console/api/qrcodes')).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/console/api/qrcodes'],
      ['DELETE', '/console/api/sessions'],
      ['POST', '/console/api/short-codes/check'],
      ['GET', '/console/api/analytics/aggregate'],
    ] as const)
      expect(outcome(await tab.send(method, path)), path).toEqual([403, 'insufficient_scope']);
    expect((await tab.send('POST', '/console/api/sessions/phone')).status).toBe(201);
  });
});

describe('expiry', () => {
  test('an expired key answers 401, on every instance, and says so; it is listed with the revoked ones', async () => {
    const account = await service.account();
    const expires_at = inHours(1);
    const key = await newKey(account, { expires_at });
    expect(key.expires_at).toBe(expires_at);
    const clients = [0, 1].map((instance) => service.client(instance, key.key));
    for (const client of clients) expect((await client.get('/v1/account')).status).toBe(200);
    await expire(key);
    for (const client of clients) {
      const response = await client.get('/v1/account');
      expect(outcome(response)).toEqual([401, 'unauthorized']);
      expect(response.body.error.message).toMatch(/^The API key expired on \d{4}-/);
    }
    const ids = async (query: string) =>
      (await account.live.get(`/v1/account/keys${query}`)).body.data.map(({ id }: Json) => id);
    expect(await ids('')).not.toContain(key.id);
    expect(await ids('?include=revoked')).toContain(key.id);
  });

  test('ends the sessions of the console that were opened with the key', async () => {
    const account = await service.account();
    const key = await newKey(account, { expires_at: inHours(1) });
    const tab = openTab(service.urls[0] as string);
    await tab.signIn(key.key);
    expect((await tab.get('/console/api/account')).status).toBe(200);
    await expire(key);
    const response = await tab.get('/console/api/account');
    expect([response.status, response.body.error.message]).toEqual([401, expect.stringContaining('has expired')]);
    expect((await tab.get('/console')).text).toContain('The API key of your session has expired.');
    expect((await tab.signIn(key.key)).text).toContain('This API key has expired.');
  });

  test('ends a stream of events', async () => {
    onTestFinished(() => {
      aheadMs = 0;
    });
    const account = await service.account();
    const key = await newKey(account, { expires_at: inHours(1), scopes: ['events.read'] });
    aheadMs = hourMs - 500;
    await followFeed(service.urls[0] as string, { key: key.key }).ended;
  });
});

describe('networks', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });

  test('a key works from its networks only, and other requests do not count for the account', async () => {
    const account = await service.account();
    const allowed_cidrs = ['203.0.113.0/24', '2001:db8:1::/48', '198.51.100.7'];
    const key = await newKey(account, { allowed_cidrs });
    expect(key.allowed_cidrs).toEqual(allowed_cidrs);
    const client = service.client(1, key.key);
    for (const address of ['203.0.113.9', '2001:db8:1::5', '198.51.100.7', '::ffff:203.0.113.1'])
      expect((await client.get('/v1/account', from(address))).status, address).toBe(200);
    const before = (await client.get('/v1/account', from('203.0.113.9'))).body.usage.requests;
    for (const address of ['198.51.100.8', '203.0.114.1', '2001:db8:2::5']) {
      const response = await client.get('/v1/account', from(address));
      expect(outcome(response), address).toEqual([403, 'address_not_allowed']);
      expect(response.text, 'no address in the response').not.toContain(address);
    }
    expect((await client.get('/v1/account', from('203.0.113.9'))).body.usage.requests).toBe(before + 1);
    await account.live.delete(`/v1/account/keys/${key.id}`);
    expect(outcome(await client.get('/v1/account', from('198.51.100.8')))).toEqual([401, 'unauthorized']);
  });

  test('hold for sessions of the console, too', async () => {
    const account = await service.account();
    const { key } = await newKey(account, { allowed_cidrs: ['203.0.113.0/24'] });
    const tab = openTab(service.urls[0] as string);
    const sameOrigin = { 'sec-fetch-site': 'same-origin' };
    const inside = { ...sameOrigin, ...from('203.0.113.9') };
    const outside = { ...sameOrigin, ...from('198.51.100.8') };
    expect((await tab.signIn(key, {}, outside)).text).toContain('This API key does not work from your network.');
    expect((await tab.signIn(key, {}, inside)).status).toBe(303);
    expect((await tab.get('/console/api/account', inside)).status).toBe(200);
    expect(outcome(await tab.get('/console/api/account', outside))).toEqual([403, 'address_not_allowed']);
    expect((await tab.get('/console', outside)).text).toContain('does not work from your network');
    expect((await tab.get('/console', inside)).text).toContain('data-bootstrap');
  });
});

describe('POST /v1/account/keys', () => {
  test.each([
    ['no scope', { scopes: [] }, ['scopes']],
    ['an unknown scope', { scopes: ['codes.read', 'codes.delete'] }, ['scopes']],
    ['a time in the past', { expires_at: '2020-01-01T00:00:00Z' }, ['expires_at']],
    ['a time without offset', { expires_at: '2099-01-01T00:00:00' }, ['expires_at']],
    ['no network', { allowed_cidrs: [] }, ['allowed_cidrs']],
    ['too many networks', { allowed_cidrs: Array(51).fill('10.0.0.0/8') }, ['allowed_cidrs']],
    [
      'invalid networks',
      { allowed_cidrs: ['10.0.0.0/8', '10.0.0.0/33', '', 'a,b'] },
      [1, 2, 3].map((i) => `allowed_cidrs[${i}]`),
    ],
  ])('%s: 400', async (_, limits, invalidFields) => {
    const { live } = await service.account();
    const response = await live.post('/v1/account/keys', { name: 'Limited', ...limits });
    expect(response.status).toBe(400);
    expect(blamedFields(response)).toEqual(invalidFields);
  });

  const own = {
    scopes: ['account.write', 'codes.read'],
    expires_at: inHours(2),
    allowed_cidrs: ['127.0.0.0/8', '::/0'],
  };
  const same = { ...own, allowed_cidrs: ['127.0.0.1', '::1'] };
  test.each([
    ['the same', same, 201, undefined],
    ['less', { ...same, scopes: ['codes.read'], expires_at: inHours(1) }, 201, undefined],
    ['another scope', { ...same, scopes: ['codes.write'] }, 403, 'insufficient_scope'],
    ['full access', { ...same, scopes: null }, 403, 'insufficient_scope'],
    ['a later expiry', { ...same, expires_at: inHours(3) }, 403, 'wider_key'],
    ['no expiry', { ...same, expires_at: null }, 403, 'wider_key'],
    ['a larger network', { ...same, allowed_cidrs: ['126.0.0.0/7'] }, 403, 'wider_key'],
    ['all networks', { ...same, allowed_cidrs: null }, 403, 'wider_key'],
  ])('a limited key asks for %s', async (_, wanted, status, code) => {
    const account = await service.account();
    const limited = service.client(0, (await newKey(account, own)).key);
    const response = await limited.post('/v1/account/keys', { name: 'Next', ...wanted });
    expect(outcome(response)).toEqual([status, code]);
  });

  test('an account has 500 valid keys at most', async () => {
    const { live, id } = await service.account();
    await service.database.sql`
      INSERT INTO api_keys (id, account, name, mode, hash, last4, created_at)
      SELECT 'key_' || n || ${id}, ${id}, 'Many', 'test', n || ${id}, 'abcd', now() FROM generate_series(1, 497) AS n`;
    const last = await newKey({ live }, {});
    expect(outcome(await live.post('/v1/account/keys', { name: 'Next' }))).toEqual([403, 'quota_exceeded']);
    expect(outcome(await live.post(`/v1/account/keys/${last.id}/rotate`, {}))).toEqual([403, 'quota_exceeded']);
    await live.delete(`/v1/account/keys/${last.id}`);
    await newKey({ live }, {});
  });
});

test('a key that was not used for 90 days is marked', async () => {
  const account = await service.account();
  const keys = [await newKey(account, {}), await newKey(account, {}), await newKey(account, {})];
  const [neverUsed, usedLongAgo, usedSince] = keys.map(({ id }) => id);
  const { sql } = service.database;
  await sql`UPDATE api_keys SET created_at = now() - interval '91 days' WHERE account = ${account.id}`;
  await sql`INSERT INTO key_usage VALUES (${usedLongAgo}, now() - interval '91 days'), (${usedSince}, now() - interval '89 days')`;
  const { data } = (await account.live.get('/v1/account/keys')).body;
  const unused = data.filter(({ unused }: Json) => unused).map(({ id }: Json) => id);
  expect(unused).toEqual(expect.arrayContaining([neverUsed, usedLongAgo]));
  expect(unused).not.toContain(usedSince);
});
