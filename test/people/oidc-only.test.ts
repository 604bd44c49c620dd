import { expect, test } from 'vitest';
import { openTab } from '../support/console.ts';
import { goodPassword, person } from '../support/people.ts';
import { useService } from '../support/service.ts';

/** No one listens at the issuer: the service starts without its provider. */
const service = useService({
  projections: false,
  config: { oidcIssuer: 'http://localhost:9', oidcClientId: 'scanlog', oidcOnly: true },
});

test('OIDC_ONLY hides passwords and passkeys, and refuses them; API keys keep working', async () => {
  const { keys } = await service.account();
  const tab = openTab(service.urls[0] ?? '');
  const { text } = await tab.get('/console');
  expect(text).toContain('Sign in with localhost:9');
  expect(text).not.toContain('name="password"');
  expect(text).not.toContain('/console/passkey');
  const password = await tab.form('/console/session', { email: 'ada@example.com', password: 'a long password' });
  expect([password.status, password.text]).toEqual([
    403,
    expect.stringContaining('People sign in at localhost:9 only.'),
  ]);
  const passkey = await tab.form('/console/passkey', { step: 'x', response: '{}' });
  expect([passkey.status, passkey.text]).toEqual([403, expect.stringContaining('People sign in at localhost:9 only.')]);
  expect((await tab.signIn(keys.live)).status).toBe(303);
});

test('an invitation signs no one in with OIDC_ONLY: a new person gets no password, and a known one signs in first', async () => {
  const account = await service.account();
  const ana = await person(service);
  const invite = async (email: string) => {
    const { body } = await account.live.post('/v1/account/invitations', { email, role: 'viewer' });
    return body.url.slice(body.url.indexOf('#') + 1);
  };
  const tab = openTab(service.urls[0] ?? '');
  const token = await invite('new@example.com');
  const form = await tab.form('/console/invitation', { token });
  expect(form.text).not.toContain('type="password"');
  const joined = await tab.form('/console/invitation', { token, name: 'Ben', password: goodPassword });
  expect([joined.status, joined.text]).toEqual([200, expect.stringContaining('Sign in at localhost:9 now.')]);
  const users = await service.database.sql`SELECT password_hash FROM users WHERE email = 'new@example.com'`;
  expect(users).toEqual([{ password_hash: null }]);
  const known = { token: await invite(ana.email), password: goodPassword };
  const refused = await tab.form('/console/invitation', known);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('people sign in at localhost:9 only')]);
  expect(tab.cookie).toBeUndefined();
});

test('the sign-in at a provider that is down shows one clear page', async () => {
  const { status, text } = await openTab(service.urls[0] ?? '').get('/console/oidc/start');
  expect([status, text]).toEqual([503, expect.stringContaining('localhost:9 does not answer as it should')]);
});
