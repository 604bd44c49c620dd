import { describe, expect, onTestFinished, test } from 'vitest';
import { type Json, newCode } from '../support/api.ts';
import { openTab } from '../support/console.ts';
import { eventually } from '../support/eventually.ts';
import { unknownKey } from '../support/http.ts';
import { endWindows, holdWindows } from '../support/rate-windows.ts';
import { useService } from '../support/service.ts';
import { dumpTable } from '../support/tables.ts';

const service = useService({ projections: false, instances: 2 });
const tabOn = (instance = 0) => openTab(service.urls[instance] as string);

describe('signing in', () => {
  test('exchanges a key for a session that is valid on every instance, and redirects to the console', async () => {
    const { keys, live } = await service.account();
    await live.post('/v1/qrcodes', newCode({ name: 'Mine' }));
    const tab = tabOn();
    const response = await tab.signIn(keys.live);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/console');

    const other = tabOn(1);
    other.cookie = tab.cookie;
    expect((await other.get('/console/api/qrcodes')).body.data).toMatchObject([{ name: 'Mine' }]);
  });

  test('sets an HttpOnly, SameSite=Strict cookie for 12 hours', async () => {
    const { keys } = await service.account();
    const cookie = (await tabOn().signIn(keys.live)).headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^scanlog_session=[0-9A-Za-z]{43}; /);
    expect(cookie.split('; ').slice(1).toSorted()).toEqual([
      'HttpOnly',
      'Max-Age=43200',
      'Path=/console',
      'SameSite=Strict',
    ]);
  });

  test('on a device of one’s own lasts 30 days from its last use', async () => {
    const { keys } = await service.account();
    const tab = tabOn();
    const cookie = (await tab.signIn(keys.live, { own_device: '1' })).headers.get('set-cookie') ?? '';
    expect(cookie, 'the cookie lasts as long as browsers allow').toContain('Max-Age=34560000');
    const { sql } = service.database;
    const daysLeft = async () => {
      const [{ days }] = await sql<[{ days: number }]>`
        SELECT extract(epoch FROM max(ends_at) - now())::float8 / 86400 AS days FROM console_sessions`;
      return days;
    };
    expect(await daysLeft()).toBeCloseTo(30, 1);
    await sql`UPDATE console_sessions SET ends_at = now() + interval '1 day' WHERE is_own_device`;
    await sql`UPDATE console_sessions SET ends_at = now() + interval '1 hour' WHERE NOT is_own_device`;
    expect((await tab.get('/console/api/account')).status).toBe(200);
    await eventually(async () => expect(await daysLeft()).toBeCloseTo(30, 1));

    const other = tabOn();
    await other.signIn(keys.live);
    await sql`UPDATE console_sessions SET ends_at = now() + interval '1 hour'`;
    await other.get('/console/api/account');
    expect(await daysLeft(), 'elsewhere, use does not move the end').toBeLessThan(1);
    await tab.signIn(keys.test);
    expect(await daysLeft(), 'adding a mode keeps it').toBeCloseTo(30, 1);
  });

  test('ends 90 days after its keys were given, whatever it is used for', async () => {
    const { id, keys } = await service.account();
    const { sql } = service.database;
    const [tab, phone] = [tabOn(), tabOn()];
    const daysLeft = async () =>
      (
        await sql<{ days: number }[]>`
          SELECT extract(epoch FROM ends_at - now())::float8 / 86400 AS days FROM console_sessions
          WHERE account = ${id} ORDER BY id`
      ).map(({ days }) => Math.round(days));
    await tab.signIn(keys.live, { own_device: '1' });
    await sql`
      UPDATE console_sessions SET proven_at = now() - interval '80 days', ends_at = now() + interval '1 day'
      WHERE account = ${id}`;
    expect((await tab.get('/console/api/account')).status).toBe(200);
    await eventually(async () => expect(await daysLeft()).toEqual([10]));

    const { token } = (await tab.send('POST', '/console/api/sessions/phone')).body;
    await phone.form('/console/phone', { token, own_device: '1' }, { 'sec-fetch-site': 'same-origin' });
    expect(await daysLeft(), 'of the phone that it signs in').toEqual([10, 10]);
    await tab.signIn(keys.test);
    expect(await daysLeft(), 'after a mode was added').toEqual([10, 10]);
    await tab.send('POST', '/console/sign-out');
    await tab.signIn(keys.live, { own_device: '1' });
    expect(await daysLeft(), 'of a new session').toEqual([10, 30]);
  });

  test('stores neither the key nor the token in the database or in a page', async () => {
    const { keys } = await service.account();
    const tab = tabOn();
    await tab.signIn(keys.live);
    const token = tab.cookie?.split('=')[1] as string;
    const rows = (await dumpTable(service.database.sql, 'console_sessions')).join('\n');
    expect(rows).not.toContain(token);
    expect(rows).not.toContain(keys.live);
    const page = (await tab.get('/console')).text;
    expect(page).not.toContain(token);
    expect(page).not.toContain(keys.live);
  });

  test.each([
    ['an unknown key', unknownKey(), 401, 'does not exist or was revoked'],
    ['text that is not a key', 'hello', 400, 'starts with sk_live_ or sk_test_'],
    ['an empty field', '', 400, 'starts with sk_live_ or sk_test_'],
  ])('with %s shows the form again with the reason', async (_, key, status, reason) => {
    const tab = tabOn();
    const refused = await tab.signIn(key);
    expect(refused.status).toBe(status);
    expect(refused.text).toContain(reason);
    expect(refused.text).toContain('name="key"');
    expect(tab.cookie).toBeUndefined();
  });

  test('redirects to the requested page, and never out of the console', async () => {
    const { keys } = await service.account();
    const signInPage = await tabOn().get('/console/account/keys');
    expect(signInPage.text).toContain('name="next" value="/console/account/keys"');
    const redirectOf = async (key: string, next: string) =>
      (await tabOn().signIn(key, { next })).headers.get('location') as string;
    const deepLink = '/console/codes/qr_1?tab=scans&period=7d&q=caf%C3%A9+1';
    expect((await tabOn().get(deepLink)).text).toContain(`value="${deepLink.replaceAll('&', '&amp;')}"`);
    expect(await redirectOf(keys.live, deepLink)).toBe(deepLink);
    expect(await redirectOf(keys.test, '/console/test?page=2')).toBe('/console/test?page=2');
    expect(await redirectOf(keys.live, '/console/account/keys')).toBe('/console/account/keys');
    expect(await redirectOf(keys.test, '/console/account/keys'), 'a test key opens test pages only').toBe(
      '/console/test',
    );
    for (const next of [
      '//evil.example',
      'https://evil.example/console',
      '/console/../swagger',
      '/console\r\nx: y',
      '/console?\r\nx: y',
      '/console?<script>',
      '/console\\evil.example',
      '/v1',
    ])
      expect(await redirectOf(keys.live, next)).toBe('/console');
  });

  test('is refused after 60 attempts from one address', async () => {
    const { sql } = service.database;
    await endWindows(sql);
    onTestFinished(() => endWindows(sql));
    const from = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '198.51.100.7' };
    const attempt = async () => expect((await tabOn().signIn(unknownKey(), {}, from)).status).toBe(401);
    await attempt();
    await holdWindows(sql);
    for (let i = 1; i < 60; i++) await attempt();
    const { keys } = await service.account();
    expect((await tabOn().signIn(keys.live, {}, from)).status, 'even with a valid key').toBe(429);
    expect((await tabOn().signIn(keys.live)).status, 'another address is not limited').toBe(303);
  });

  test('from a form on another site is refused', async () => {
    const { keys } = await service.account();
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
    ]) {
      const tab = tabOn();
      expect((await tab.signIn(keys.live, {}, headers as unknown as Record<string, string>)).status).toBe(403);
      expect(tab.cookie).toBeUndefined();
    }
  });
});

describe('a session', () => {
  test('holds a live and a test key of one account; the request selects the mode', async () => {
    const { keys, live, test: testMode } = await service.account();
    await live.post('/v1/qrcodes', newCode({ name: 'Live code' }));
    await testMode.post('/v1/qrcodes', newCode({ name: 'Test code' }));
    const tab = tabOn();
    await tab.signIn(keys.live);
    expect((await tab.get('/console/api/qrcodes?mode=test')).status).toBe(401);

    const firstToken = tab.cookie;
    await tab.signIn(keys.test);
    expect(tab.cookie, 'a sign-in issues a new token').not.toBe(firstToken);
    const names = async (query: string) =>
      (await tab.get(`/console/api/qrcodes${query}`)).body.data.map(({ name }: { name: string }) => name);
    expect(await names('?mode=live')).toEqual(['Live code']);
    expect(await names('?mode=test')).toEqual(['Test code']);
    expect(await names('')).toEqual(['Live code']);
    expect((await tab.get('/console/api/qrcodes?mode=both')).status).toBe(400);
  });

  test('ends when a key of another account signs in', async () => {
    const [mine, other] = [await service.account(), await service.account()];
    const tab = tabOn();
    await tab.signIn(mine.keys.live);
    const oldTab = tabOn();
    oldTab.cookie = tab.cookie;
    await tab.signIn(other.keys.test);
    expect((await tab.get('/console/api/account')).body).toMatchObject({ id: other.id, mode: 'test' });
    expect((await tab.get('/console/api/account?mode=live')).status).toBe(401);
    expect((await oldTab.get('/console/api/account')).status, 'the old token is invalid').toBe(401);
  });

  test('takes no key of another account or mode from a page that names its own', async () => {
    const [mine, other] = [await service.account(), await service.account()];
    const tab = tabOn();
    await tab.signIn(mine.keys.live);
    const json = { 'sec-fetch-site': 'same-origin', accept: 'application/json' };
    const add = (key: string) => tab.signIn(key, { account: mine.id, mode: 'test' }, json);
    const refused = await add(other.keys.test);
    expect([refused.status, refused.body.error.message]).toEqual([
      401,
      expect.stringContaining('belongs to another account, “Test”'),
    ]);
    expect((await add(mine.keys.live)).body.error.message).toContain('of the other mode');
    expect((await tab.get('/console/api/account')).body, 'the session stays').toMatchObject({ id: mine.id });
    const added = await add(mine.keys.test);
    expect(added.body).toMatchObject({ account: { id: mine.id }, keys: [{ mode: 'live' }, { mode: 'test' }] });
  });

  test('refuses requests of a page that was loaded for another account', async () => {
    const [mine, other] = [await service.account(), await service.account()];
    const tab = tabOn();
    await tab.signIn(mine.keys.live);
    const create = () => tab.send('POST', `/console/api/qrcodes?mode=live&account=${mine.id}`, newCode());
    expect((await create()).status).toBe(201);
    await tab.signIn(other.keys.live);
    const refused = await create();
    expect([refused.status, refused.body.error.code]).toEqual([409, 'account_changed']);
    expect(refused.body.error.message).toContain('another account, “Test”');
    expect((await other.live.get('/v1/qrcodes')).body.pagination.total).toBe(0);
    expect((await tab.get(`/console/api/qrcodes?account=${mine.id}`)).status, 'reads too').toBe(409);
    expect((await tab.get(`/console/api/qrcodes?account=${other.id}`)).status).toBe(200);
  });

  test('says why it ended, to its requests and on the sign-in page', async () => {
    const { keys, live } = await service.account();
    const { sql } = service.database;
    const reasonsOf = async (tab: ReturnType<typeof tabOn>) => {
      const refused = await tab.get('/console/api/account?mode=live');
      expect(refused.status).toBe(401);
      const [, notice] = /role="status">([^<]*)</.exec((await tab.get('/console/account')).text) ?? [];
      expect(refused.body.error.message).toBe(notice);
      return notice;
    };
    const extra = (await live.post('/v1/account/keys', { name: 'Extra', mode: 'live' })).body;
    const [expired, revoked, ended, current] = [tabOn(), tabOn(1), tabOn(), tabOn(1)];
    await expired.signIn(keys.live);
    await sql`UPDATE console_sessions SET ends_at = now() - interval '1 second'`;
    await ended.signIn(keys.live);
    await current.signIn(keys.live);
    await current.send('DELETE', '/console/api/sessions');
    await revoked.signIn(extra.key);
    await live.delete(`/v1/account/keys/${extra.id}`);
    expect(await reasonsOf(expired)).toBe('Your session has expired. Sign in again.');
    expect(await reasonsOf(revoked)).toBe('The API key of your session was revoked. Sign in again.');
    expect(await reasonsOf(ended)).toBe('Your session was ended on another device. Sign in again.');
    expect((await current.get('/console/api/account')).status).toBe(200);
  });

  test('ends immediately when its key is revoked; with two keys, only that mode ends', async () => {
    const { keys, live, id } = await service.account();
    const liveKey = (await live.get('/v1/account/keys')).body.data.find(({ mode }: Json) => mode === 'live');
    const tab = tabOn(1);
    await tab.signIn(keys.live);
    await tab.signIn(keys.test);
    const other = (await live.post('/v1/account/keys', { name: 'Other', mode: 'live' })).body.key;
    expect((await service.client(0, other).delete(`/v1/account/keys/${liveKey.id}`)).status).toBe(200);
    expect((await tab.get('/console/api/account?mode=live')).status).toBe(401);
    expect((await tab.get('/console/api/account')).body).toMatchObject({ id, mode: 'test' });

    const testOnly = tabOn(1);
    const extra = (await service.client(0, keys.test).post('/v1/account/keys', { name: 'Extra' })).body;
    await testOnly.signIn(extra.key);
    expect((await testOnly.get('/console')).text).toContain('id="console"');
    await service.client(0, keys.test).delete(`/v1/account/keys/${extra.id}`);
    expect((await testOnly.get('/console/api/account')).status).toBe(401);
    expect((await testOnly.get('/console')).text, 'the sign-in page is shown').toContain('name="key"');
  });

  test('ends after 12 hours', async () => {
    const { id, keys } = await service.account();
    const tab = tabOn();
    await tab.signIn(keys.live);
    const { sql } = service.database;
    const [{ hours }] = await sql<[{ hours: number }]>`
      SELECT extract(epoch FROM ends_at - now())::float8 / 3600 AS hours FROM console_sessions WHERE account = ${id}`;
    expect(hours).toBeCloseTo(12, 1);
    await sql`UPDATE console_sessions SET ends_at = now() - interval '1 second' WHERE account = ${id}`;
    expect((await tab.get('/console/api/account')).status).toBe(401);
  });

  test('ends on sign-out, which deletes the cookie', async () => {
    const { keys } = await service.account();
    const tab = tabOn();
    await tab.signIn(keys.live);
    const copy = tabOn();
    copy.cookie = tab.cookie;
    const signedOut = await tab.send('POST', '/console/sign-out');
    expect(signedOut.status).toBe(303);
    expect(signedOut.headers.get('set-cookie')).toMatch(/^scanlog_session=; .*Max-Age=0/);
    expect((await copy.get('/console/api/account')).status, 'a copied token is invalid too').toBe(401);
  });

  test('does not end when another site posts to sign-out', async () => {
    const { keys } = await service.account();
    const tab = tabOn();
    await tab.signIn(keys.live);
    const { cookie } = tab;
    await tab.send('POST', '/console/sign-out', undefined, { 'sec-fetch-site': 'cross-site' });
    tab.cookie = cookie;
    expect((await tab.get('/console/api/account')).status).toBe(200);
  });
});
