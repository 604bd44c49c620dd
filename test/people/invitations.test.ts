import { describe, expect, onTestFinished, test } from 'vitest';
import { createInvitation } from '../../src/people/invitations.ts';
import { createLink } from '../../src/people/links.ts';
import { openTab } from '../support/console.ts';
import { goodPassword, person, signedIn } from '../support/people.ts';
import { useService } from '../support/service.ts';

let aheadMs = 0;
const service = useService({ projections: false, clock: () => new Date(Date.now() + aheadMs) });
const newTab = () => openTab(service.urls[0] as string);
const tokenOf = (url: string) => url.slice(url.indexOf('#') + 1);
const dayMs = 86_400_000;

/** People who fill in forms, each from an address of their own: the forms of one address are limited. */
let clients = 0;
const fresh = () => ({ 'sec-fetch-site': 'same-origin', 'x-forwarded-for': `203.0.113.${clients++ % 250}` });

async function invited(role = 'viewer', email = `new-${clients}@example.com`) {
  const account = await service.account();
  const response = await account.live.post('/v1/account/invitations', { email, role });
  expect(response.status, response.text).toBe(201);
  return { account, email, invitation: response.body, token: tokenOf(response.body.url) };
}

describe('an invitation', () => {
  test('makes a new person a member, once, and the log has no address', async () => {
    const { account, email, invitation, token } = await invited('editor', 'Bea@example.com');
    expect(invitation.url).toMatch(/\/console\/invitation#[0-9A-Za-z]{43}$/);
    expect(invitation.is_mailed, 'without SMTP_URL').toBe(false);
    expect((await account.live.get('/v1/account/invitations')).body.data).toMatchObject([{ email, role: 'editor' }]);
    const tab = newTab();
    const form = await tab.form('/console/invitation', { token }, fresh());
    expect(form.text).toContain('You are invited to <strong>Test</strong> as Bea@example.com');
    const done = await tab.form('/console/invitation', { token, name: 'Bea', password: goodPassword }, fresh());
    expect(done.status, done.text).toBe(303);
    const { id, name, email: own } = (await tab.get('/console/api/me')).body;
    expect([name, own]).toEqual(['Bea', email]);
    expect((await account.live.get('/v1/account/members')).body.data).toMatchObject([{ id, role: 'editor' }]);
    expect((await account.live.get('/v1/account/invitations')).body.data).toEqual([]);
    expect((await newTab().form('/console/invitation', { token }, fresh())).status).toBe(404);
    const events = await service.database.sql`
      SELECT type, actor, data FROM events WHERE stream = ${account.id} AND type ~ '^(member|invitation)_' ORDER BY version`;
    const { role, id: invitationId } = invitation;
    expect(events).toMatchObject([
      { type: 'invitation_created', data: { invitation: invitationId, role } },
      { type: 'member_joined', actor: id, data: { user: id, role } },
      { type: 'invitation_accepted', actor: id, data: { invitation: invitationId, role } },
    ]);
    expect(JSON.stringify(events)).not.toMatch(/@|Bea/);
  });

  test('makes a person with a user a member with the password, or as who is signed in', async () => {
    const ana = await person(service);
    const first = await invited('viewer', ana.email);
    const wrong = await newTab().form(
      '/console/invitation',
      { token: first.token, password: 'wrong horse 1' },
      fresh(),
    );
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('The password is wrong.')]);
    const tab = newTab();
    const joined = await tab.form('/console/invitation', { token: first.token, password: goodPassword }, fresh());
    expect(joined.status, joined.text).toBe(303);
    expect((await tab.get('/console/api/account')).body.id).toBe(first.account.id);
    const second = await invited('editor');
    const form = await tab.form('/console/invitation', { token: second.token }, fresh());
    expect(form.text).toContain(`as Ana, ${ana.email}`);
    expect((await tab.form('/console/invitation', { token: second.token, confirmed: '1' }, fresh())).status).toBe(303);
    expect((await tab.get('/console/api/account')).body.id).toBe(second.account.id);
    const again = await second.account.live.post('/v1/account/invitations', { email: ana.email, role: 'owner' });
    expect([again.status, again.body.error.code]).toEqual([409, 'already_member']);
  });

  test('joined by someone who is signed in proves nothing, and opens no other session', async () => {
    onTestFinished(() => {
      aheadMs = 0;
    });
    const ana = await person(service, { account: (await service.account()).id });
    const tab = await signedIn(service, ana);
    const { cookie } = tab;
    aheadMs = 16 * 60_000;
    const { account, token } = await invited('owner');
    expect((await tab.form('/console/invitation', { token, confirmed: '1' }, fresh())).status).toBe(303);
    expect((await tab.get('/console/api/account')).body.id).toBe(account.id);
    const refused = await tab.get('/console/api/me/export');
    expect([refused.status, refused.body.error?.code]).toEqual([403, 'reauthentication_required']);
    expect(tab.cookie).toBe(cookie);
  });

  test('asks a person without a password to sign in first', async () => {
    const ana = await person(service, { account: (await service.account()).id });
    const { token } = await invited('viewer', ana.email);
    await service.database.sql`UPDATE users SET password_hash = NULL WHERE id = ${ana.id}`;
    const response = await newTab().form('/console/invitation', { token }, fresh());
    expect([response.status, response.text]).toEqual([
      403,
      expect.stringContaining('Sign in, then open this link again.'),
    ]);
  });

  test('that is revoked or expired makes no one a member', async () => {
    onTestFinished(() => {
      aheadMs = 0;
    });
    const revoked = await invited();
    const path = `/v1/account/invitations/${revoked.invitation.id}`;
    expect((await revoked.account.live.delete(path)).body).toEqual({ deleted: true, id: revoked.invitation.id });
    expect((await revoked.account.live.delete(path)).status).toBe(404);
    const expired = await invited();
    aheadMs = 7 * dayMs + 1;
    for (const { token } of [revoked, expired]) {
      const response = await newTab().form(
        '/console/invitation',
        { token, name: 'Eve', password: goodPassword },
        fresh(),
      );
      expect([response.status, response.text]).toEqual([404, expect.stringContaining('expired or was already used')]);
    }
  });

  test('ends with the role of the owner, or with the key, that made it', async () => {
    const account = await service.account();
    const [ana, ben] = [await person(service, { account: account.id }), await person(service, { account: account.id })];
    const [tab, bens] = [await signedIn(service, ana), await signedIn(service, ben)];
    const invite = async (send: (body: object) => Promise<{ body: { url: string } }>) =>
      tokenOf((await send({ email: `back-${clients++}@example.com`, role: 'owner' })).body.url);
    const byAna = await invite((body) => tab.send('POST', '/console/api/account/invitations', body));
    const { body: key } = await account.live.post('/v1/account/keys', { name: 'Leaked', mode: 'live' });
    const byKey = await invite((body) => service.client(0, key.key).post('/v1/account/invitations', body));
    const open = async () => (await account.live.get('/v1/account/invitations')).body.data.length;
    expect([await open(), (await newTab().form('/console/invitation', { token: byAna }, fresh())).status]).toEqual([
      2, 200,
    ]);
    expect((await bens.send('DELETE', `/console/api/account/members/${ana.id}`)).status).toBe(200);
    expect((await account.live.delete(`/v1/account/keys/${key.id}`)).status).toBe(200);
    expect(await open()).toBe(0);
    for (const token of [byAna, byKey]) {
      const fields = { token, name: 'Back', password: goodPassword };
      expect((await newTab().form('/console/invitation', fields, fresh())).status).toBe(404);
    }
  });

  test('used by two at once makes one of them a member', async () => {
    const { account, token } = await invited();
    const responses = await Promise.all(
      ['Ana', 'Ben'].map((name) =>
        newTab().form('/console/invitation', { token, name, password: goodPassword }, fresh()),
      ),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([303, 404]);
    expect((await account.live.get('/v1/account/members')).body.data).toHaveLength(1);
  });

  test('needs a live key, a role and an address', async () => {
    const { live, test: testKey } = await service.account();
    const refused = await testKey.post('/v1/account/invitations', { email: 'a@example.com', role: 'owner' });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'live_key_required']);
    expect((await testKey.get('/v1/account/members')).status).toBe(403);
    for (const body of [
      { email: 'a@example.com', role: 'admin' },
      { email: 'a b@example.com', role: 'viewer' },
    ])
      expect((await live.post('/v1/account/invitations', body)).status).toBe(400);
  });
});

describe('members', () => {
  test('the last owner can neither leave nor get another role', async () => {
    const account = await service.account();
    const ana = await person(service, { account: account.id });
    const ben = await person(service, { account: account.id, role: 'viewer', name: 'Ben' });
    const [tab, bens] = [await signedIn(service, ana), await signedIn(service, ben)];
    const path = `/console/api/account/members/${ana.id}`;
    for (const response of [await tab.send('DELETE', path), await tab.send('PATCH', path, { role: 'editor' })])
      expect([response.status, response.body.error.code]).toEqual([409, 'last_owner']);
    expect((await account.live.delete(`/v1/account/members/${ana.id}`)).status).toBe(409);
    expect((await tab.send('DELETE', '/console/api/me')).body.error.code).toBe('last_owner');
    // Only owners see the addresses of others.
    const seen = (await bens.get('/console/api/account/members')).body.data;
    expect(seen).toMatchObject([
      { id: ana.id, email: null, is_you: false },
      { id: ben.id, email: ben.email, is_you: true },
    ]);
    expect((await bens.send('DELETE', path)).body.error.code).toBe('insufficient_role');
    expect((await bens.send('DELETE', `/console/api/account/members/${ben.id}`)).status).toBe(200);
    expect((await account.live.delete(`/v1/account/members/${ben.id}`)).status).toBe(404);
  });
});

describe('a reset link', () => {
  test('sets a new password once, and ends the sessions of the person', async () => {
    const { sql } = service.database;
    const ana = await person(service, { account: (await service.account()).id });
    const old = await signedIn(service, ana);
    const { token } = await createLink(sql, 'reset', { user: ana.id }, new Date());
    const other = await createLink(sql, 'reset', { user: ana.id }, new Date());
    const tab = newTab();
    expect((await tab.form('/console/reset', { token }, fresh())).text).toContain(ana.email);
    const password = 'another good 77 one';
    expect((await tab.form('/console/reset', { token, password }, fresh())).status).toBe(303);
    expect((await tab.get('/console/api/me')).body.id).toBe(ana.id);
    expect((await old.get('/console/api/me')).status).toBe(401);
    for (const link of [token, other.token])
      expect((await newTab().form('/console/reset', { token: link, password }, fresh())).status).toBe(404);
    const signIn = (given: string) => newTab().form('/console/session', { email: ana.email, password: given }, fresh());
    expect([(await signIn(goodPassword)).status, (await signIn(password)).status]).toEqual([401, 303]);
  });

  test('that was mailed sets nothing once the person has another address', async () => {
    const { sql } = service.database;
    const ana = await person(service, { account: (await service.account()).id });
    const { token } = await createLink(sql, 'reset', { user: ana.id, email: ana.email }, new Date());
    const tab = await signedIn(service, ana);
    const changed = await tab.send('PATCH', '/console/api/me', { email: `new-${ana.email}` });
    expect(changed.status, changed.text).toBe(200);
    for (const fields of [{ token }, { token, password: 'another good 77 one' }])
      expect((await newTab().form('/console/reset', fields, fresh())).status).toBe(404);
  });

  test('that was mailed confirms the address, and removes passkeys from before that', async () => {
    const { sql } = service.database;
    const ana = await person(service, { account: (await service.account()).id });
    const addPasskey = (id: string) => sql`
      INSERT INTO user_passkeys (id, user_id, credential, name, public_key, counter, transports, created_at)
      VALUES (${id}, ${ana.id}, ${id}, 'Phone', '', 0, '{}', now())`;
    const passkeys = () => sql`SELECT id FROM user_passkeys WHERE user_id = ${ana.id}`;
    const reset = async (password: string) => {
      const { token } = await createLink(sql, 'reset', { user: ana.id, email: ana.email }, new Date());
      expect((await newTab().form('/console/reset', { token, password }, fresh())).status).toBe(303);
    };
    await addPasskey('pk_of-someone');
    await reset('another good 77 one');
    expect(await passkeys()).toEqual([]);
    await addPasskey('pk_of-ana');
    await reset('yet another 78 one');
    expect(await passkeys()).toEqual([{ id: 'pk_of-ana' }]);
  });

  test('does not let in a disabled person', async () => {
    const { sql } = service.database;
    const ana = await person(service, { account: (await service.account()).id });
    const { token } = await createLink(sql, 'reset', { user: ana.id }, new Date());
    await sql`UPDATE users SET disabled_at = now() WHERE id = ${ana.id}`;
    const response = await newTab().form('/console/reset', { token, password: 'another good 77 one' }, fresh());
    expect([response.status, response.headers.getSetCookie()]).toEqual([403, []]);
  });
});

describe('a person', () => {
  test('changes name, address and password, which ends the other sessions', async () => {
    const account = await service.account();
    const [ana, ben] = [await person(service, { account: account.id }), await person(service)];
    const [tab, other] = [await signedIn(service, ana), await signedIn(service, ana)];
    const change = (body: object) => tab.send('PATCH', '/console/api/me', body);
    expect((await change({ name: ' Ana B. ', email: 'ana-b@example.com' })).body).toMatchObject({
      name: 'Ana B.',
      email: 'ana-b@example.com',
    });
    expect((await change({ email: ben.email.toUpperCase() })).status).toBe(409);
    const wrong = await change({ password: { current: 'wrong horse 1', new: 'another good 77 one' } });
    expect(wrong.body.error.details).toMatchObject([{ field: 'password.current' }]);
    const weak = await change({ password: { current: goodPassword, new: 'ana-b@example.com' } });
    expect(weak.body.error.details).toMatchObject([{ field: 'password.new' }]);
    expect((await other.get('/console/api/me')).status).toBe(200);
    expect((await change({ password: { current: goodPassword, new: 'another good 77 one' } })).status).toBe(200);
    expect([(await tab.get('/console/api/me')).status, (await other.get('/console/api/me')).status]).toEqual([
      200, 401,
    ]);
  });

  test('who is the only operator is not deleted', async () => {
    const { sql } = service.database;
    const account = await service.account();
    await person(service, { account: account.id });
    const ana = await person(service, { account: account.id });
    await sql`UPDATE users SET is_operator = true WHERE id = ${ana.id}`;
    const tab = await signedIn(service, ana);
    const refused = await tab.send('DELETE', '/console/api/me');
    expect([refused.status, refused.body.error?.message]).toEqual([409, expect.stringContaining('be operator')]);
    await sql`UPDATE users SET is_operator = true WHERE id = ${(await person(service)).id}`;
    expect((await tab.send('DELETE', '/console/api/me')).status).toBe(200);
  });

  test('is exported and deleted: the log then names a former member, and the account stays', async () => {
    const { sql } = service.database;
    const account = await service.account();
    await person(service, { account: account.id });
    const ana = await person(service, { account: account.id, name: 'Ana Former' });
    const tab = await signedIn(service, ana);
    await tab.send('POST', '/console/api/qrcodes', { name: 'Menu', destination_url: 'https://example.com' });
    const exported = await tab.get('/console/api/me/export');
    expect(exported.body).toMatchObject({
      person: { id: ana.id, email: ana.email },
      memberships: [{ account_id: account.id, role: 'owner' }],
      sessions: [{ device: 'Unknown device' }],
    });
    expect(exported.text).not.toContain('argon2');
    expect((await tab.send('DELETE', '/console/api/me')).body).toEqual({ deleted: true, id: ana.id });
    expect((await tab.get('/console/api/me')).status).toBe(401);
    const [code] = (await account.live.get('/v1/qrcodes')).body.data;
    const [entry] = (await account.live.get(`/v1/qrcodes/${code.id}/history`)).body.data;
    expect(entry).toMatchObject({ actor: ana.id, actor_name: 'a former member' });
    const [removed] = (await account.live.get('/v1/account/audit?type=member.removed')).body.data;
    expect(removed).toMatchObject({ actor: ana.id, actor_name: 'a former member', data: { user_id: ana.id } });
    for (const table of ['users', 'events', 'invitations', 'console_sessions', 'members']) {
      const rows = await sql`SELECT t::text AS row FROM ${sql(table)} t`;
      expect(rows.map(({ row }) => row).join('\n'), table).not.toMatch(new RegExp(`${ana.email}|Ana Former`));
    }
    // What the person did can still be undone.
    const from = new Date(Date.now() - dayMs).toISOString();
    const undone = await account.live.post('/v1/account/revert', { actor: ana.id, from, dry_run: true });
    expect([undone.status, undone.body.changes]).toMatchObject([200, [{ field: 'status', to: 'paused' }]]);
    const stranger = await (await service.account()).live.post('/v1/account/revert', { actor: ana.id, from });
    expect(stranger.status).toBe(404);
  });
});

test('an account has a limited number of open invitations', async () => {
  const { sql } = service.database;
  const { id, live } = await service.account();
  await sql`
    INSERT INTO invitations SELECT 'inv_' || lpad(i::text, 22, '0'), ${id}, i || '@example.com', 'viewer', 'operator', now(),
      now() + interval '1 day' FROM generate_series(1, 99) AS i`;
  await createInvitation(
    sql,
    id,
    { email: 'last@example.com', role: 'viewer' },
    { actor: 'operator', now: new Date() },
  );
  const refused = await live.post('/v1/account/invitations', { email: 'more@example.com', role: 'viewer' });
  expect([refused.status, refused.body.error.code]).toEqual([403, 'quota_exceeded']);
});
