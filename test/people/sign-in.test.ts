import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { addMember } from '../../src/people/members.ts';
import { openTab } from '../support/console.ts';
import { goodPassword, person, signedIn } from '../support/people.ts';
import { endWindows, holdWindows } from '../support/rate-windows.ts';
import { useService } from '../support/service.ts';

let aheadMs = 0;
const service = useService({ projections: false, clock: () => new Date(Date.now() + aheadMs) });
const minuteMs = 60_000;
const from = (address: string) => ({ 'sec-fetch-site': 'same-origin', 'x-forwarded-for': address });
const wrong = 'wrong horse 5 staple';
const newTab = () => openTab(service.urls[0] as string);

describe('a password', () => {
  test('signs in, and the page knows the person, the role and the accounts', async () => {
    const account = await service.account();
    const ana = await person(service, { account: account.id, role: 'editor' });
    const tab = newTab();
    const next = '/console/test/codes?tag=a';
    const response = await tab.form('/console/session', {
      email: ana.email.toUpperCase(),
      password: goodPassword,
      next,
    });
    expect([response.status, response.headers.get('location')]).toEqual([303, next]);
    for (const cookie of response.headers.getSetCookie()) expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
    const page = await tab.get('/console');
    const [, json = ''] = /data-bootstrap="([^"]+)"/.exec(page.text) ?? [];
    expect(JSON.parse(json.replaceAll('&quot;', '"'))).toMatchObject({
      user: { id: ana.id, name: 'Ana', email: ana.email, is_operator: false, has_password: true },
      role: 'editor',
      keys: [],
      account: { id: account.id },
      accounts: [{ id: account.id, name: 'Test', role: 'editor' }],
    });
    expect((await tab.get('/console/api/me')).body).toMatchObject({ id: ana.id, email: ana.email, passkeys: [] });
    const signedOut = await tab.form('/console/sign-out', {});
    expect(signedOut.status).toBe(303);
    expect((await tab.get('/console/api/me')).status).toBe(401);
  });

  test('is refused with the same words for a wrong one and for an unknown address', async () => {
    const { email } = await person(service, { account: (await service.account()).id });
    const texts = await Promise.all(
      [email, 'no-one@example.com'].map(async (address) => {
        const tab = newTab();
        const { status, text } = await tab.form(
          '/console/session',
          { email: address, password: wrong },
          from('203.0.113.5'),
        );
        expect([status, tab.cookie, tab.device]).toEqual([401, undefined, undefined]);
        return text.replaceAll(address, '');
      }),
    );
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).toContain('The e-mail address or the password is wrong.');
  });

  test('is compared for an unknown address, too, so that it takes as long', async () => {
    const verify = vi.spyOn(Bun.password, 'verify');
    onTestFinished(() => verify.mockRestore());
    const withoutPassword = await person(service);
    await service.database.sql`UPDATE users SET password_hash = NULL WHERE id = ${withoutPassword.id}`;
    const { email } = await person(service);
    for (const address of [email, withoutPassword.email, 'someone@example.com']) {
      verify.mockClear();
      await newTab().form('/console/session', { email: address, password: wrong }, from('203.0.113.6'));
      expect(verify, address).toHaveBeenCalledTimes(1);
    }
  });

  test('does not sign in a disabled person, or one without an account, and says so', async () => {
    const { sql } = service.database;
    const [alone, disabled] = [await person(service), await person(service, { account: (await service.account()).id })];
    await sql`UPDATE users SET disabled_at = now() WHERE id = ${disabled.id}`;
    const textOf = async ({ email }: { email: string }) => {
      const tab = newTab();
      const { status, text } = await tab.form('/console/session', { email, password: goodPassword });
      expect([status, tab.cookie]).toEqual([403, undefined]);
      return text;
    };
    expect(await textOf(alone)).toContain('You are a member of no account.');
    expect(await textOf(disabled)).toContain('has disabled your user');
  });

  test('from another site is refused', async () => {
    const { email } = await person(service, { account: (await service.account()).id });
    const tab = newTab();
    const response = await tab.form(
      '/console/session',
      { email, password: goodPassword },
      { 'sec-fetch-site': 'cross-site' },
    );
    expect([response.status, tab.cookie]).toEqual([403, undefined]);
  });
});

describe('tries', () => {
  test('with one address are limited, but not on a device where the person signed in before', async () => {
    onTestFinished(() => endWindows(service.database.sql));
    const { sql } = service.database;
    const ana = await person(service, { account: (await service.account()).id });
    const own = await signedIn(service, ana);
    own.cookie = undefined;
    const attack = (i: number) =>
      newTab().form('/console/session', { email: ana.email, password: wrong }, from(`198.51.100.${i}`));
    expect((await attack(0)).status).toBe(401);
    await holdWindows(sql);
    const statuses: number[] = [];
    for (let i = 1; i <= 10; i++) statuses.push((await attack(i)).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThan(7);
    const elsewhere = newTab();
    const refused = await elsewhere.form(
      '/console/session',
      { email: ana.email, password: goodPassword },
      from('203.0.113.9'),
    );
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('Too many attempts')]);
    const response = await own.form('/console/session', { email: ana.email, password: goodPassword });
    expect(response.status).toBe(303);
  });

  test('a device of one person is not the device of another, and cannot be made up', async () => {
    const account = await service.account();
    const [ana, ben] = [await person(service, { account: account.id }), await person(service, { account: account.id })];
    const tab = await signedIn(service, ana);
    const again = await tab.form('/console/session', { email: ana.email, password: goodPassword });
    expect(again.status).toBe(303);
    const made = newTab();
    made.device = `${tab.device?.slice(0, -1)}${tab.device?.endsWith('A') ? 'B' : 'A'}`;
    await made.form('/console/session', { email: ana.email, password: goodPassword });
    await tab.form('/console/session', { email: ben.email, password: goodPassword });
    const events = (await account.live.get('/v1/account/audit?type=session.created')).body.data;
    const seen = events.map(({ actor, data }: { actor: string; data: object }) => [actor === ana.id, data]);
    // Newest first. The first sign-in of a person is no news.
    expect(seen).toMatchObject([
      [false, { by: 'password', is_new_device: false }],
      [true, { by: 'password', is_new_device: true }],
      [true, { by: 'password', is_new_device: false }],
      [true, { by: 'password', is_new_device: false }],
    ]);
    const sessions = (await made.get('/console/api/sessions')).body.data;
    expect(sessions.map(({ is_new_device }: { is_new_device: boolean }) => is_new_device)).toContain(true);
  });
});

describe('a session', () => {
  test('moves to another account of the person, and to no other', async () => {
    const [one, two, three] = [await service.account(), await service.account(), await service.account()];
    const ana = await person(service, { account: one.id });
    await addMember(service.database.sql, two.id, ana.id, 'viewer', { actor: 'operator', now: new Date() });
    const tab = await signedIn(service, ana);
    expect((await tab.get('/console/api/account')).body.id).toBe(one.id);
    expect((await tab.form('/console/switch', { account: two.id })).status).toBe(303);
    expect((await tab.get('/console/api/account')).body.id).toBe(two.id);
    const old = await tab.get(`/console/api/account?account=${one.id}`);
    expect([old.status, old.body.error.code]).toEqual([409, 'account_changed']);
    expect((await tab.form('/console/switch', { account: three.id })).status).toBe(404);
    expect((await tab.get('/console/api/account')).body.id).toBe(two.id);
    // The next sign-in opens the account of the last session.
    const again = await signedIn(service, ana);
    expect((await again.get('/console/api/account')).body.id).toBe(two.id);
  });

  test('of a person is seen and ended by the person alone', async () => {
    const account = await service.account();
    const [ana, ben] = [await person(service, { account: account.id }), await person(service, { account: account.id })];
    const [first, second, other] = [
      await signedIn(service, ana),
      await signedIn(service, ana),
      await signedIn(service, ben),
    ];
    const listed = (await first.get('/console/api/sessions')).body.data;
    expect(listed).toHaveLength(2);
    const keys = newTab();
    await keys.signIn(account.keys.live);
    expect((await keys.get('/console/api/sessions')).body.data).toHaveLength(1);
    const [{ id: othersId }] = (await other.get('/console/api/sessions')).body.data;
    expect((await first.send('DELETE', `/console/api/sessions/${othersId}`)).status).toBe(404);
    expect((await keys.send('DELETE', `/console/api/sessions/${othersId}`)).status).toBe(404);
    expect((await first.send('DELETE', '/console/api/sessions')).body.ended).toHaveLength(1);
    const ended = await second.get('/console/api/account');
    expect([ended.status, ended.body.error.message]).toEqual([401, expect.stringContaining('on another device')]);
    expect((await other.get('/console/api/account')).status).toBe(200);
  });

  test('ends with the membership, at once, and with the person', async () => {
    const account = await service.account();
    const [ana, ben] = [await person(service, { account: account.id }), await person(service, { account: account.id })];
    const [tab, bens] = [await signedIn(service, ana), await signedIn(service, ben)];
    const removed = await bens.send('DELETE', `/console/api/account/members/${ana.id}`);
    expect([removed.status, removed.body]).toEqual([200, { id: ana.id, removed: true }]);
    const refused = await tab.get('/console/api/account');
    expect([refused.status, refused.body.error.message]).toEqual([401, expect.stringContaining('no longer a member')]);
    expect((await tab.get('/console')).text).toContain('You are no longer a member of this account.');
    await service.database.sql`UPDATE users SET disabled_at = now() WHERE id = ${ben.id}`;
    expect((await bens.get('/console/api/account')).body.error.message).toContain('disabled your user');
  });

  test('signs in a phone of the person', async () => {
    const account = await service.account();
    const ana = await person(service, { account: account.id, role: 'viewer' });
    const tab = await signedIn(service, ana);
    const { body } = await tab.send('POST', '/console/api/sessions/phone');
    const phone = newTab();
    const checked = await phone.form('/console/phone/check', { token: body.token });
    expect(checked.body).toEqual({ account: 'Test', modes: ['live', 'test'] });
    expect((await phone.form('/console/phone', { token: body.token })).status).toBe(303);
    expect((await phone.get('/console/api/me')).body.id).toBe(ana.id);
  });
});

describe('what could hand over the account asks again', () => {
  test('for the password of a person, and repeats', async () => {
    onTestFinished(() => {
      aheadMs = 0;
    });
    const tab = await signedIn(service, await person(service, { account: (await service.account()).id }));
    const invite = () =>
      tab.send('POST', '/console/api/account/invitations', { email: 'new@example.com', role: 'viewer' });
    aheadMs = 14 * minuteMs;
    expect((await invite()).status).toBe(201);
    aheadMs = 16 * minuteMs;
    const refused = await invite();
    expect([refused.status, refused.body.error.code]).toEqual([403, 'reauthentication_required']);
    expect((await tab.get('/console/api/account')).status, 'reads go on').toBe(200);
    const guess = await tab.form('/console/proof', { password: wrong });
    expect([guess.status, guess.body.error.details]).toMatchObject([400, [{ field: 'password' }]]);
    expect((await tab.form('/console/proof', { key: 'sk_live_x' })).status).toBe(400);
    expect(
      (await tab.form('/console/proof', { password: goodPassword }, { 'sec-fetch-site': 'cross-site' })).status,
    ).toBe(401);
    expect((await invite()).status).toBe(403);
    const proven = await tab.send('POST', '/console/proof', { password: goodPassword });
    expect([proven.status, proven.body]).toEqual([200, { proven: true }]);
    expect((await invite()).status).toBe(201);
  });

  test('for a key of the session, and never in the API', async () => {
    onTestFinished(() => {
      aheadMs = 0;
    });
    const [account, other] = [await service.account(), await service.account()];
    const tab = newTab();
    await tab.signIn(account.keys.live);
    aheadMs = 16 * minuteMs;
    const create = () => tab.send('POST', '/console/api/account/keys', { name: 'New' });
    expect((await create()).body.error.code).toBe('reauthentication_required');
    expect((await tab.form('/console/proof', { key: other.keys.live })).status).toBe(400);
    expect((await tab.form('/console/proof', { key: account.keys.live })).status).toBe(200);
    expect((await create()).status).toBe(201);
    expect((await account.live.post('/v1/account/keys', { name: 'Api' })).status).toBe(201);
  });
});
