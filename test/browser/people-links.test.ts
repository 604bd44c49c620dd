import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createInvitation } from '../../src/people/invitations.ts';
import { createLink, type LinkKind, urlOfLink } from '../../src/people/links.ts';
import { createSetupLink } from '../../src/people/setup.ts';
import { type ConsolePage, darkPhone, expectUsable, useConsole } from '../support/console-page.ts';
import { goodPassword, person } from '../support/people.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ projections: false, config: { signup: 'open' } });

let account: TestAccount;
let page: Page;
let url: string;
let open: ConsolePage['open'];
useConsole(service, { isSignedIn: false, expectedErrors: /status of 40\d/ }, (opened) => {
  ({ account, page, url, open } = opened);
});

const field = (name: string, on = page) => on.getByLabel(name, { exact: true });
const sql = () => service.database.sql;

/** The page of a link, after its script has sent the token. */
async function openLink(kind: LinkKind, token: string, on = page): Promise<void> {
  await on.goto(urlOfLink(url, kind, token));
  await field('Password', on).waitFor();
  expect(on.url(), 'the token stays out of the history').toBe(`${url}/console/${kind}`);
}

// One test, because a set-up link works only before there is a user.
test('links lead to forms that can be used with a keyboard, on a phone, in the dark and without script', async () => {
  const setup = await createSetupLink(sql(), new Date());
  if (setup === undefined) throw new Error('there is a user already');
  await openLink('setup', setup.token);
  await expectUsable(page, 'setup');
  const by = { actor: 'operator', now: new Date() };
  const invitation = await createInvitation(sql(), account.id, { email: 'ben@example.com', role: 'viewer' }, by);
  await openLink('invitation', invitation.token);
  await expectUsable(page, 'invitation');
  const { id } = await person(service);
  await openLink('reset', (await createLink(sql(), 'reset', { user: id }, new Date())).token);
  await expectUsable(page, 'reset');
  await field('Password').fill('Password123!');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('must not be a common password').waitFor();
  await expectUsable(page, 'an error');
  await page.goto(`${url}/console/sign-up`);
  await expectUsable(page, 'sign-up');

  const phone = await open(darkPhone);
  await phone.page.goto(`${url}/console`);
  await expectUsable(phone.page, 'sign-in on a phone');
  await openLink('invitation', invitation.token, phone.page);
  await expectUsable(phone.page, 'invitation on a phone');
  await phone.close(url);
  await joinWithoutScript();
});

async function joinWithoutScript(): Promise<void> {
  const by = { actor: 'operator', now: new Date() };
  const { token } = await createInvitation(sql(), account.id, { email: 'eve@example.com', role: 'viewer' }, by);
  const plain = await open({ javaScriptEnabled: false });
  await plain.page.goto(urlOfLink(url, 'invitation', token));
  await field('The part of the link after #', plain.page).fill(token);
  await plain.page.keyboard.press('Enter');
  await field('Your name', plain.page).fill('Eve');
  await field('Password', plain.page).fill(goodPassword);
  await plain.page.keyboard.press('Enter');
  await plain.page.getByText('The console needs JavaScript.').waitFor();
  expect((await account.live.get('/v1/account/members')).body.data).toMatchObject([{ name: 'Eve', role: 'viewer' }]);
  await plain.page.context().close();
}
