import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Role } from '../../events/member.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import type { ServiceConfig } from '../../src/config/config.ts';
import { newId } from '../../src/lib/ids.ts';
import { connect } from '../../src/log/connect.ts';
import { addMember, removeMember } from '../../src/people/members.ts';
import { insertUser } from '../../src/people/users.ts';
import { captureLog } from '../support/log-lines.ts';
import { startOpenId } from '../support/openid.ts';
import { useService } from '../support/service.ts';

const server = await startOpenId();
const now = new Date();
const captured = captureLog();
let account: string;
const config: Partial<ServiceConfig> = {
  oidcIssuer: server.issuer,
  oidcClientId: server.clientId,
  oidcClientSecret: server.clientSecret,
  oidcScopes: 'openid email profile groups',
  oidcRoleClaim: 'groups',
  oidcRoleMap: { groups: { admins: 'owner', marketing: 'editor', guests: 'viewer' }, others: undefined },
};
const service = useService({
  projections: false,
  config,
  log: captured.log,
  async reach(databaseUrl) {
    const sql = connect(databaseUrl, { max: 1 });
    account = (await createAccount(sql, { name: 'Café', plan: 'pro', now })).id;
    config.oidcAccount = account;
    await sql.end();
    return databaseUrl;
  },
});
afterAll(() => server.close());

const newPerson = (claims: Record<string, unknown> = {}) =>
  Object.assign({ sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true, name: 'Ada' }, claims);

/** A browser at the HTTP level: it keeps cookies, and says that the provider sent it. */
function openBrowser() {
  const cookies = new Map<string, string>();
  async function get(url: string) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, 'sec-fetch-site': 'cross-site' };
    const response = await fetch(new URL(url, service.urls[0]), { redirect: 'manual', headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
  return { cookies, get };
}

/** Signs in as the person of the provider, up to the response of the callback. */
async function signIn(browser = openBrowser()) {
  const start = await browser.get('/console/oidc/start?next=/console/analytics');
  const callback = await server.visit(start.headers.get('location') ?? '');
  return { browser, callback, response: await browser.get(callback) };
}

const bootstrapOf = (text: string) =>
  JSON.parse((/data-bootstrap="([^"]*)"/.exec(text)?.[1] ?? 'null').replaceAll('&quot;', '"').replaceAll('&amp;', '&'));

const roleOf = async (user: string): Promise<Role | undefined> => {
  const [member] = await service.database.sql<{ role: Role }[]>`
    SELECT role FROM members WHERE account = ${account} AND user_id = ${user}`;
  return member?.role;
};

async function signedInUser(browser: ReturnType<typeof openBrowser>) {
  const { text } = await browser.get('/console');
  return bootstrapOf(text)?.user;
}

beforeAll(() => server.register(service.urls[0] ?? ''));
beforeEach(async () => {
  // All tests come from one address, whose tries are limited.
  await service.database.sql`DELETE FROM rate_windows`;
  server.isDown = false;
  server.forge = undefined;
});

/** A person here, who has never signed in at the provider. */
async function newUser(email: string): Promise<string> {
  const id = newId('usr', now.getTime());
  const { sql } = service.database;
  await insertUser(sql, { id, name: 'Bob', email, password_hash: null }, { now });
  await sql`UPDATE users SET email_confirmed_at = ${now} WHERE id = ${id}`;
  return id;
}

const signedIn = (browser: ReturnType<typeof openBrowser>) => browser.cookies.has('scanlog_session');

describe('a sign-in at the provider', () => {
  test('creates the person with the role of the group, and opens the page that was asked for', async () => {
    server.person = newPerson({ groups: ['marketing', 'other'] });
    const { browser, response } = await signIn();
    expect([response.status, response.headers.get('location')]).toEqual([303, '/console/analytics']);
    expect(browser.cookies.has('scanlog_oidc'), 'the cookie of the step is gone').toBe(false);
    const user = await signedInUser(browser);
    expect(user).toMatchObject({ name: 'Ada', email: server.person['email'], has_password: false });
    expect(await roleOf(user.id)).toBe('editor');
    const [joined] = await service.database.sql`
      SELECT data, actor FROM events WHERE stream = ${account} AND type = 'member_joined' ORDER BY position DESC LIMIT 1`;
    expect(joined).toMatchObject({ actor: user.id, data: { user: user.id, role: 'editor' } });
  });

  test('opens the account of the page that asked for it, whatever account was used last', async () => {
    server.person = newPerson({ groups: 'guests' });
    const { browser } = await signIn();
    const user = await signedInUser(browser);
    const other = (await service.account()).id;
    await addMember(service.database.sql, other, user.id, 'viewer', { actor: 'operator', now });
    const start = await browser.get(`/console/oidc/start?account=${other}&next=/console/codes/new`);
    const answer = await browser.get(await server.visit(start.headers.get('location') ?? ''));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/codes/new']);
    const opened = bootstrapOf((await browser.get('/console')).text);
    expect(opened).toMatchObject({
      account: { id: other },
      ways: { has_passwords: true, has_passkeys: true, provider: new URL(server.issuer).host },
    });
  });

  test('changes the role with the groups, as a text and as a list; an absent claim changes nothing', async () => {
    const person = newPerson({ groups: 'guests' });
    server.person = person;
    const { browser } = await signIn();
    const { id } = await signedInUser(browser);
    expect(await roleOf(id)).toBe('viewer');
    server.person = Object.assign({}, person, { groups: ['guests', 'admins'] });
    await signIn();
    expect(await roleOf(id)).toBe('owner');
    const { groups: _, ...without } = person;
    server.person = without;
    await signIn();
    expect(await roleOf(id)).toBe('owner');
  });

  test('leaves the last owner owner, and says so in the log', async () => {
    await service.database.sql`DELETE FROM members WHERE account = ${account}`;
    server.person = newPerson({ groups: 'admins' });
    const { browser } = await signIn();
    const { id } = await signedInUser(browser);
    server.person = Object.assign({}, server.person, { groups: 'guests' });
    const again = await signIn();
    expect(signedIn(again.browser)).toBe(true);
    expect(await roleOf(id)).toBe('owner');
    expect(captured.text()).toContain('a person stays owner against the groups of the provider');
  });

  test('brings a person whom an owner removed back by a group only', async () => {
    const person = newPerson({ groups: 'guests' });
    server.person = newPerson({ groups: 'admins' });
    await signIn();
    server.person = person;
    const { id } = await signedInUser((await signIn()).browser);
    await removeMember(service.database.sql, account, id, { actor: 'operator', now });
    const { groups: _, ...without } = person;
    server.person = without;
    const refused = await signIn();
    expect([refused.response.status, signedIn(refused.browser)]).toEqual([403, false]);
    expect(refused.response.text).toContain('You are a member of no account');
    server.person = person;
    expect(signedIn((await signIn()).browser)).toBe(true);
    expect(await roleOf(id)).toBe('viewer');
  });

  test('is linked to a person here by a verified address', async () => {
    server.person = newPerson({ groups: 'guests' });
    const user = await newUser(String(server.person['email']));
    await addMember(service.database.sql, account, user, 'viewer', { actor: 'operator', now });
    const { browser } = await signIn();
    expect(await signedInUser(browser)).toMatchObject({ id: user, name: 'Bob' });
    const changes = await service.database.sql`
      SELECT change, detail, actor FROM security_changes WHERE user_id = ${user}`;
    expect([...changes]).toEqual([{ change: 'identity_linked', detail: new URL(server.issuer).host, actor: user }]);
  });

  test.each([
    ['false', { email_verified: false }],
    ['absent', { email_verified: undefined }],
    ['a text', { email_verified: 'true' }],
  ])('is not linked if email_verified is %s', async (_, claims) => {
    server.person = newPerson(Object.assign({ groups: 'guests' }, claims));
    await newUser(String(server.person['email']));
    const { response, browser } = await signIn();
    expect([response.status, signedIn(browser)]).toEqual([403, false]);
    expect(response.text).toContain('your provider has not verified that it is yours');
  });

  test('counts as a proof from when the person proved at the provider who they are', async () => {
    server.person = newPerson({ groups: 'guests' });
    const exported = async () => {
      const { browser } = await signIn();
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const headers = { cookie, 'sec-fetch-site': 'same-origin' };
      return (await fetch(`${service.urls[0]}/console/api/me/export`, { headers })).status;
    };
    expect(await exported(), 'just now').toBe(200);
    const hourAgo = Math.floor(Date.now() / 1_000) - 3_600;
    let sent: unknown;
    server.forge = (claims) => {
      sent = claims['auth_time'];
      return Object.assign(claims, { auth_time: hourAgo });
    };
    expect(await exported(), 'an hour ago').toBe(403);
    expect(sent, 'the provider is asked for the time').toBeTypeOf('number');
  });

  test('is refused for another subject with the address of a person', async () => {
    server.person = newPerson({ groups: 'guests' });
    await signIn();
    server.person = Object.assign({}, server.person, { sub: randomUUID() });
    const { response, browser } = await signIn();
    expect([response.status, signedIn(browser)]).toEqual([403, false]);
    expect(response.text).toContain('signs in with another identity of your provider');
  });

  test('is refused without a group, and without a known person if the claim is absent', async () => {
    server.person = newPerson({ groups: ['other'] });
    const grouped = await signIn();
    expect(grouped.response.text).toContain('None of your groups gives you access');
    server.person = newPerson();
    const unknown = await signIn();
    expect(unknown.response.text).toContain('You are not known here');
    expect([signedIn(grouped.browser), signedIn(unknown.browser)]).toEqual([false, false]);
  });

  test('is completed once, by the browser that began it', async () => {
    server.person = newPerson({ groups: 'guests' });
    const browser = openBrowser();
    const start = await browser.get('/console/oidc/start');
    const step = new Map(browser.cookies);
    const callback = await server.visit(start.headers.get('location') ?? '');
    const stranger = openBrowser();
    expect((await stranger.get(callback)).text).toContain('took too long, or was completed already');
    expect((await browser.get(callback)).status).toBe(303);
    const replay = openBrowser();
    for (const [name, value] of step) replay.cookies.set(name, value);
    expect((await replay.get(callback)).text).toContain('took too long, or was completed already');
    expect([signedIn(stranger), signedIn(replay)]).toEqual([false, false]);
  });

  test('is refused with a response that is not valid, and the log says why', async () => {
    server.person = newPerson({ groups: 'guests' });
    server.forge = (claims) => Object.assign(claims, { aud: 'another-client' });
    const { response, browser } = await signIn();
    expect([response.status, signedIn(browser)]).toEqual([400, false]);
    expect(response.text).toContain('is not valid. Start again');
    expect(captured.text()).toContain('unexpected JWT claim value encountered');
  });

  test('shows one clear page while the provider is down', async () => {
    server.person = newPerson({ groups: 'guests' });
    const browser = openBrowser();
    const start = await browser.get('/console/oidc/start');
    const callback = await server.visit(start.headers.get('location') ?? '');
    server.isDown = true;
    const response = await browser.get(callback);
    expect([response.status, response.text]).toEqual([503, expect.stringContaining('does not answer as it should')]);
  });

  test('ends at the provider, too', async () => {
    server.person = newPerson({ groups: 'guests' });
    const { browser } = await signIn();
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${service.urls[0]}/console/sign-out`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    const text = await response.text();
    const [, url = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(text) ?? [];
    const leave = new URL(url.replaceAll('&amp;', '&'));
    expect(leave.href).toContain(`${server.issuer}/session/end?`);
    expect(leave.searchParams.get('post_logout_redirect_uri')).toBe(`${service.urls[0]}/console`);
    expect((await fetch(leave)).status, 'the provider accepts it').toBe(200);
    expect(response.headers.getSetCookie().join()).toContain('scanlog_session=;');
  });

  test('is offered on the sign-in page', async () => {
    const page = await fetch(`${service.urls[0]}/console`);
    const text = await page.text();
    expect(text).toContain(`Sign in with ${new URL(server.issuer).host}`);
    expect(text).toContain('name="password"');
  });
});
