import { expect, test } from 'vitest';
import { findLink } from '../../src/people/links.ts';
import { createSetupLink } from '../../src/people/setup.ts';
import { command } from '../support/command.ts';
import { openTab } from '../support/console.ts';
import { goodPassword } from '../support/people.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
const sameOrigin = { 'sec-fetch-site': 'same-origin' };
const newTab = () => openTab(service.urls[0] as string);
/** Runs a command of the operator, which prints JSON. */
async function run(...args: string[]) {
  const environment = { DATABASE_URL: service.database.url, PUBLIC_URL: 'https://qr.example.com' };
  const { code, output } = await command([...args, '--json'], environment);
  expect(code, output).toBe(0);
  return JSON.parse(output);
}
const failing = async (...args: string[]) => {
  const { code, output } = await command(args, { DATABASE_URL: service.database.url });
  expect(code).toBe(1);
  return output;
};
const tokenOf = (url: string) => url.slice(url.indexOf('#') + 1);

// One test, because the first user can be made only once.
test('the set-up link makes the first user, who is operator; commands do the rest', async () => {
  const { sql } = service.database;
  const account = await service.account();
  const voided = await createSetupLink(sql, new Date());
  const link = await createSetupLink(sql, new Date());
  if (voided === undefined || link === undefined) throw new Error('there is a user already');
  const tab = newTab();
  expect((await tab.get('/console/setup')).text).toContain('id="open"');
  expect((await tab.form('/console/setup', { token: voided.token })).status).toBe(404);
  const { token } = link;
  const form = await tab.form('/console/setup', { token });
  expect(form.text).toContain('You will be the operator of this service');
  const fields = { token, name: 'Ana', email: 'ana@example.com' };
  const weak = await tab.form('/console/setup', { ...fields, password: 'Password123!' });
  expect([weak.status, weak.text]).toEqual([400, expect.stringContaining('must not be a common password')]);
  const done = await tab.form('/console/setup', { ...fields, password: goodPassword });
  expect([done.status, done.headers.get('location')]).toEqual([303, '/console']);
  const { id } = (await tab.get('/console/api/me')).body;
  const [owner] = (await account.live.get('/v1/account/members')).body.data;
  expect(owner).toMatchObject({ id, name: 'Ana', email: 'ana@example.com', role: 'owner', is_you: false });
  const [made] = (await tab.get('/console/api/operator/audit')).body.data;
  expect(made).toMatchObject({ type: 'operator_set', actor: id, subject: { kind: 'user', id }, detail: 'on' });
  expect((await newTab().form('/console/setup', { ...fields, password: goodPassword })).status).toBe(404);
  expect(await createSetupLink(sql, new Date())).toBeUndefined();

  expect(await run('user', 'list')).toMatchObject([{ user_id: id, operator: true, accounts: 1, disabled: false }]);
  const created = await run('account', 'create', '--name', 'Client', '--plan', 'pro', '--owner', 'ANA@example.com');
  expect(created.owner).toEqual({ email: 'ANA@example.com', role: 'owner' });
  expect((await tab.form('/console/switch', { account: created.account_id })).status).toBe(303);

  const invitation = await run('user', 'invite', 'ben@example.com', '--account', account.id, '--role', 'viewer');
  expect(invitation.url).toMatch(/^https:\/\/qr\.example\.com\/console\/invitation#\w{43}$/);
  const bens = newTab();
  const joined = { token: tokenOf(invitation.url), name: 'Ben', password: goodPassword };
  expect((await bens.form('/console/invitation', joined)).status).toBe(303);

  // Anyone may have entered an address that is not confirmed.
  const invitesBen = ['user', 'invite', 'ben@example.com', '--account', created.account_id, '--role', 'viewer'];
  expect(await run(...invitesBen)).toMatchObject({ url: expect.stringContaining('/console/invitation#') });
  await sql`UPDATE users SET email_confirmed_at = now() WHERE email = 'ben@example.com'`;
  expect(await run(...invitesBen)).toEqual({
    account_id: created.account_id,
    email: 'ben@example.com',
    role: 'viewer',
  });

  const reset = await run('user', 'reset', 'ben@example.com');
  expect(await findLink(sql, 'reset', tokenOf(reset.url), new Date())).toMatchObject({ account: null });

  await run('user', 'disable', 'ben@example.com');
  expect((await bens.get('/console/api/account')).status).toBe(401);
  const [ended] = (await account.live.get('/v1/account/audit?type=session.ended')).body.data;
  expect(ended).toMatchObject({ actor: 'operator', actor_name: null, data: { by: 'operator' } });
  const signIn = () => bens.form('/console/session', { email: 'ben@example.com', password: goodPassword }, sameOrigin);
  expect((await signIn()).status).toBe(403);
  await run('user', 'enable', 'ben@example.com');
  expect((await signIn()).status).toBe(303);

  expect(await failing('user', 'operator', 'ana@example.com', 'off')).toContain('No one would be operator');
  await run('user', 'operator', 'ben@example.com', 'on');
  expect(await run('user', 'operator', 'ana@example.com', 'off')).toEqual({ user_id: id, operator: false });
  expect(await failing('user', 'delete', 'ana@example.com', '--yes')).toContain('would have no owner');
  expect(await failing('user', 'reset', 'no-one@example.com')).toContain('There is no person with the address');
  expect(await failing('user', 'delete', 'ben@example.com', '--yes'), 'the last operator').toContain(
    'No one would be operator',
  );
  expect((await signIn()).status, 'nothing was done').toBe(303);
  const ben = (await bens.get('/console/api/me')).body.id;
  await run('user', 'operator', 'ana@example.com', 'on');
  await run('user', 'delete', 'ben@example.com', '--yes');
  expect((await signIn()).status).toBe(401);
  expect(await run('user', 'list')).toHaveLength(1);
  const [deleted, given] = (await run('audit')).data;
  expect(deleted).toMatchObject({
    type: 'user_deleted',
    actor: 'operator',
    subject: { kind: 'user', id: ben, name: null },
  });
  expect(given, 'before it').toMatchObject({ type: 'member_removed', actor: 'operator' });
});
