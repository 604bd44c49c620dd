import { describe, expect, onTestFinished, test } from 'vitest';
import { describeDevice } from '../../src/console/device-name.ts';
import type { Json } from '../support/api.ts';
import { openTab, type Tab } from '../support/console.ts';
import { atOnce, countStatuses } from '../support/http.ts';
import { captureLog } from '../support/log-lines.ts';
import { endWindows, holdWindows } from '../support/rate-windows.ts';
import { useService } from '../support/service.ts';
import { dumpTable } from '../support/tables.ts';

const captured = captureLog();
const service = useService({ projections: false, log: captured.log });
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1';
const sameOrigin = { 'sec-fetch-site': 'same-origin' };

async function signedIn(key: string, headers: Record<string, string> = sameOrigin): Promise<Tab> {
  const tab = openTab(service.urls[0] as string);
  expect((await tab.signIn(key, {}, headers)).status).toBe(303);
  return tab;
}

const sessionsOf = async (tab: Tab): Promise<Json[]> => (await tab.get('/console/api/sessions')).body.data;

describe('the list of sessions', () => {
  test('has device, browser and times of each, and ends one or all others', async () => {
    const { keys } = await service.account();
    const laptop = await signedIn(keys.live);
    const phone = await signedIn(keys.live, { ...sameOrigin, 'user-agent': iphone });
    const tablet = await signedIn(keys.test);
    const listed = await sessionsOf(laptop);
    expect(listed).toHaveLength(3);
    expect(listed.filter(({ is_current }) => is_current)).toHaveLength(1);
    const listedPhone = listed.find(({ device }) => device === 'iPhone');
    expect(listedPhone).toMatchObject({ browser: 'Safari', modes: ['live'], is_current: false, is_own_device: false });
    expect(Date.parse(listedPhone.ends_at) - Date.parse(listedPhone.created_at)).toBe(12 * 3_600_000);

    expect((await laptop.send('DELETE', `/console/api/sessions/${listedPhone.id}`)).status).toBe(200);
    expect((await phone.get('/console/api/account')).status).toBe(401);
    expect((await laptop.send('DELETE', `/console/api/sessions/${listedPhone.id}`)).status, 'once').toBe(404);
    const own = listed.find(({ is_current }) => is_current);
    expect((await laptop.send('DELETE', `/console/api/sessions/${own.id}`)).status, 'not its own').toBe(404);
    expect((await laptop.send('DELETE', '/console/api/sessions')).body.ended).toHaveLength(1);
    expect((await tablet.get('/console/api/account')).status).toBe(401);
    expect((await sessionsOf(laptop)).map(({ id }) => id)).toEqual([own.id]);
  });

  test('shows and ends no sessions of other accounts, nor live sessions to a test session', async () => {
    const [mine, other] = [await service.account(), await service.account()];
    const [live, testOnly, foreign] = [
      await signedIn(mine.keys.live),
      await signedIn(mine.keys.test),
      await signedIn(other.keys.live),
    ];
    const [liveSession] = (await sessionsOf(live)).filter(({ is_current }) => is_current);
    expect(await sessionsOf(testOnly)).toMatchObject([{ modes: ['test'], is_current: true }]);
    expect(await sessionsOf(foreign)).toMatchObject([{ is_current: true }]);
    for (const tab of [testOnly, foreign]) {
      expect((await tab.send('DELETE', `/console/api/sessions/${liveSession.id}`)).status).toBe(404);
      expect((await tab.send('DELETE', '/console/api/sessions')).body).toEqual({ ended: [] });
    }
    expect((await live.get('/console/api/account')).status).toBe(200);
  });
});

describe('signing in a phone', () => {
  const createLink = async (tab: Tab): Promise<string> =>
    (await tab.send('POST', '/console/api/sessions/phone')).body.token;
  const postForm = (tab: Tab, path: string, token: string, headers: Record<string, string>) =>
    tab.form(path, { token, own_device: '1' }, { 'user-agent': iphone, ...headers });
  const newPhone = () => openTab(service.urls[0] as string);

  test('shows the account, uses up the link only when confirmed, and gives the keys of the session', async () => {
    const { keys, id } = await service.account();
    const laptop = await signedIn(keys.live);
    await laptop.signIn(keys.test);
    const token = await createLink(laptop);
    const phone = newPhone();
    const page = await phone.get('/console/phone', { 'sec-fetch-site': 'none' });
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    for (let i = 0; i < 2; i++)
      expect((await postForm(phone, '/console/phone/check', token, sameOrigin)).body).toEqual({
        account: 'Test',
        modes: ['live', 'test'],
      });
    const confirmed = await postForm(phone, '/console/phone', token, sameOrigin);
    expect([confirmed.status, confirmed.headers.get('location')]).toEqual([303, '/console']);
    expect((await phone.get('/console/api/account?mode=live')).body.id).toBe(id);
    expect((await phone.get('/console/api/account?mode=test')).body.id).toBe(id);
    expect(await sessionsOf(laptop)).toContainEqual(
      expect.objectContaining({ device: 'iPhone', is_own_device: true, is_current: false }),
    );
    const again = newPhone();
    expect((await postForm(again, '/console/phone', token, sameOrigin)).status).toBe(404);
    expect((await postForm(again, '/console/phone/check', token, sameOrigin)).status).toBe(404);
    expect(again.cookie).toBeUndefined();

    const rows = (await dumpTable(service.database.sql, 'console_sessions')).join('\n');
    for (const text of [rows, captured.text()]) expect(text).not.toContain(token);
    const unused = await createLink(laptop);
    expect((await dumpTable(service.database.sql, 'console_sign_in_links')).join('\n')).not.toContain(unused);
  });

  test('works once among concurrent attempts', async () => {
    const laptop = await signedIn((await service.account()).keys.live);
    const token = await createLink(laptop);
    const responses = await atOnce(8, () => postForm(newPhone(), '/console/phone', token, sameOrigin));
    expect(countStatuses(responses)).toEqual({ 303: 1, 404: 7 });
    expect(await sessionsOf(laptop)).toHaveLength(2);
  });

  test('gives a test session no live mode', async () => {
    const tab = await signedIn((await service.account()).keys.test);
    const phone = newPhone();
    const { headers } = await postForm(phone, '/console/phone', await createLink(tab), sameOrigin);
    expect(headers.get('location')).toBe('/console/test');
    expect((await phone.get('/console/api/account?mode=live')).status).toBe(401);
  });

  test('is refused after 2 minutes, with an older link, and after the session or its key ended', async () => {
    const { id, keys, live } = await service.account();
    const { sql } = service.database;
    const laptop = await signedIn(keys.live);
    const statusOf = async (token: string) => (await postForm(newPhone(), '/console/phone', token, sameOrigin)).status;

    const older = await createLink(laptop);
    const before = Date.now();
    const newer = await createLink(laptop);
    const after = Date.now();
    expect(await statusOf(older)).toBe(404);
    const [{ expires_at }] = await sql<[{ expires_at: Date }]>`
      SELECT expires_at FROM console_sign_in_links WHERE account = ${id}`;
    expect(expires_at.getTime()).toBeGreaterThanOrEqual(before + 120_000);
    expect(expires_at.getTime()).toBeLessThanOrEqual(after + 120_000);
    await sql`UPDATE console_sign_in_links SET expires_at = now() - interval '1 second'`;
    expect(await statusOf(newer)).toBe(404);

    const extra = (await live.post('/v1/account/keys', { name: 'Extra', mode: 'live' })).body;
    const other = await signedIn(extra.key);
    const ofRevokedKey = await createLink(other);
    await live.delete(`/v1/account/keys/${extra.id}`);
    expect(await statusOf(ofRevokedKey)).toBe(404);

    const ofSignedOut = await createLink(laptop);
    await laptop.send('POST', '/console/sign-out');
    expect(await statusOf(ofSignedOut)).toBe(404);
    for (const token of ['', 'x', 'a'.repeat(5_000)]) expect(await statusOf(token)).toBe(404);
  });

  test('is refused from other sites, and after 60 attempts from one address', async () => {
    const { sql } = service.database;
    await endWindows(sql);
    onTestFinished(() => endWindows(sql));
    const { id, keys } = await service.account();
    const laptop = await signedIn(keys.live);
    const token = await createLink(laptop);
    for (const path of ['/console/phone', '/console/phone/check']) {
      const tab = newPhone();
      expect((await postForm(tab, path, token, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect(tab.cookie).toBeUndefined();
    }
    const from = { ...sameOrigin, 'x-forwarded-for': '198.51.100.23' };
    const attempt = async () => expect((await postForm(newPhone(), '/console/phone', 'x', from)).status).toBe(404);
    await attempt();
    await holdWindows(sql);
    for (let i = 1; i < 60; i++) await attempt();
    await sql`UPDATE console_sign_in_links SET expires_at = now() + interval '1 hour' WHERE account = ${id}`;
    expect((await postForm(newPhone(), '/console/phone', token, from)).status).toBe(429);
    expect((await postForm(newPhone(), '/console/phone', token, sameOrigin)).status, 'the link is still valid').toBe(
      303,
    );
  });
});

test.each([
  [iphone, 'iPhone', 'Safari'],
  [
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
    'Android phone',
    'Chrome',
  ],
  [
    'Mozilla/5.0 (Linux; Android 13; SM-X700) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0 Safari/537.36',
    'Android tablet',
    'Samsung Internet',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0',
    'Windows computer',
    'Edge',
  ],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:127.0) Gecko/20100101 Firefox/127.0', 'Mac', 'Firefox'],
  ['curl/8.5.0', 'Unknown device', 'Unknown browser'],
])('names the device of %s', (userAgent, device, browser) => {
  expect(describeDevice(userAgent)).toEqual({ device, browser });
});
