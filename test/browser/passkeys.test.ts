import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type ConsolePage, expectUsable, useConsole } from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { goodPassword, person } from '../support/people.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
let opened: ConsolePage;
let page: Page;
useConsole(service, { isSignedIn: false }, (console) => {
  opened = console;
  page = console.page;
});

/** A device with a fingerprint sensor, whose owner always touches it. */
async function addAuthenticator(): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
}

const button = (name: string) => page.getByRole('button', { name, exact: true });

test('a person adds a passkey, signs in with it without an address, proves a session again, and removes it', async () => {
  const { url } = opened;
  const user = await person(service, { account: opened.account.id });
  await addAuthenticator();
  await page.goto(`${url}/console/you`);
  await page.getByLabel('E-mail').fill(user.email);
  await page.getByLabel('Password').fill(goodPassword);
  await button('Sign in').click();
  await button('Add a passkey').click();
  await page.getByText('Passkey added.').waitFor();
  await page.getByLabel('Security history').getByText('Passkey added: Chrome on Linux computer').waitFor();
  await expectUsable(page);
  await page.getByRole('button', { name: /^Rename / }).click();
  await page.getByLabel('Name', { exact: true }).last().fill('My laptop');
  await button('Rename').last().click();
  await page.getByText('My laptop').waitFor();

  await page.context().clearCookies();
  await page.goto(`${url}/console/you`);
  await page.getByRole('link', { name: 'Sign in with a passkey' }).click();
  await expectUsable(page);
  await button('Use a passkey').click();
  await page.getByText('My laptop').waitFor();
  const { sql } = service.database;
  const [session] =
    await sql`SELECT signed_in_by FROM console_sessions WHERE user_id = ${user.id} ORDER BY created_at DESC`;
  expect(session).toEqual({ signed_in_by: 'passkey' });

  // A session that ends while the page is open is signed in again on the page.
  opened.allowErrors(/status of 401/);
  await sql`UPDATE console_sessions SET ends_at = now(), ended_at = now()`;
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  await expectUsable(page, 'the dialog');
  await button('Use a passkey').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await eventually(async () =>
    expect(await sql`SELECT signed_in_by FROM console_sessions WHERE ended_at IS NULL`).toEqual([
      { signed_in_by: 'passkey' },
    ]),
  );

  await sql`UPDATE console_sessions SET last_proof_at = now() - interval '1 hour', proven_at = now() - interval '1 hour'`;
  opened.allowErrors(/status of 403/);
  await page.getByRole('button', { name: 'Remove My laptop' }).click();
  await button('Remove').last().click();
  await button('Use a passkey').click();
  await eventually(async () => expect(await sql`SELECT FROM user_passkeys`).toHaveLength(0));
});
