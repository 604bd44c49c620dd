import { expect, test } from 'vitest';
import { openTab } from '../support/console.ts';
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

test('the sign-in at a provider that is down shows one clear page', async () => {
  const { status, text } = await openTab(service.urls[0] ?? '').get('/console/oidc/start');
  expect([status, text]).toEqual([503, expect.stringContaining('localhost:9 does not answer as it should')]);
});
