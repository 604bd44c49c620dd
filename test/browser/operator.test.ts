import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { created } from '../support/api.ts';
import { darkPhone, expectUsable, useConsole } from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { signedInPerson, type TestPerson } from '../support/operators.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ projections: false });

let account: TestAccount;
let page: Page;
let url: string;
/** Without projections there are no analytics. */
const options = { isSignedIn: false, expectedErrors: /status of (403|503)/ };
useConsole(service, options, (opened) => {
  ({ account, page, url } = opened);
});

const link = (name: string) => page.getByRole('link', { name, exact: true });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const dialog = () => page.getByRole('dialog');

async function signInAs({ token }: TestPerson, target = page): Promise<void> {
  await target.context().addCookies([{ name: 'scanlog_session', value: token, url: `${url}/console` }]);
}

/** Opens a part of the operator's console as a new operator. */
async function openAs(path: string): Promise<TestPerson> {
  const person = await signedInPerson(service, { isOperator: true });
  await signInAs(person);
  await page.goto(`${url}/console/operator${path}`);
  await page.getByRole('heading', { name: 'Operator', level: 1 }).waitFor();
  return person;
}

describe('an operator', () => {
  test('finds an account, suspends it with a reason by keyboard, resumes it and deletes it', async () => {
    const person = await openAs('');
    await page.getByLabel('Search accounts').fill(account.id);
    await page.keyboard.press('Enter');
    const found = page.getByRole('region', { name: 'Accounts' }).getByRole('listitem');
    // Until the response has arrived, the list has all accounts.
    await eventually(async () => expect(await found.count()).toBe(1));
    await found.getByRole('link').click();
    await page.getByRole('heading', { name: /^Test/, level: 2 }).waitFor();
    await page.getByText('Live key', { exact: false }).first().waitFor();
    await button('Suspend').press('Enter');
    await page.keyboard.type('Unpaid since March');
    await page.keyboard.press('Enter');
    await page.getByText('Account suspended.').waitFor();
    expect((await account.live.get('/v1/account')).status).toBe(403);
    await page.getByText('Unpaid since March').first().waitFor();
    await button('Resume').click();
    await button('Resume account').click();
    await page.getByText('Suspension ended.').waitFor();
    expect((await account.live.get('/v1/account')).status).toBe(200);

    await button('Change plan').click();
    await dialog().getByLabel('Plan').selectOption('free');
    await dialog().getByRole('button', { name: 'Change plan' }).click();
    await page.getByText('Test is on the free plan.').waitFor();

    await button('Delete').click();
    expect(await button('Delete account').isDisabled()).toBe(true);
    await dialog().getByLabel('Type the account ID to delete it').fill(account.id);
    await page.keyboard.press('Enter');
    await page.getByText('Test is deleted.', { exact: false }).waitFor();
    expect((await account.live.get('/v1/account')).status).toBe(401);

    await link('Audit').click();
    const first = page.getByRole('list').filter({ hasText: 'Account deleted' }).getByRole('listitem').first();
    await eventually(async () => {
      expect(await first.textContent()).toContain(person.name);
    });
  });

  test('takes a code down, blocks a host, and puts both back', async () => {
    const code = await created(account.live, { name: 'Poster', destination_url: 'https://shop.example/x' });
    const open = async () => (await service.client(0).send(`/${code.short_code}`, {})).status;
    await openAs('/codes');
    await page.getByText('No code is taken down').waitFor();
    await page.getByLabel('Search codes of all accounts').fill('shop.example');
    await page.keyboard.press('Enter');
    await button('Take down Poster').click();
    await dialog().getByLabel('Reason').fill('Phishing');
    await page.keyboard.press('Enter');
    await button('Put back Poster').waitFor();
    expect(await open()).toBe(410);
    await button('Put back Poster').click();
    await dialog().getByRole('button', { name: 'Put back' }).click();
    await button('Take down Poster').waitFor();
    expect(await open()).toBe(302);

    await link('Blocked hosts').click();
    await button('Block a host').click();
    await dialog().getByLabel('Host').fill('shop.example');
    await page.keyboard.press('Enter');
    await button('Unblock shop.example').waitFor();
    expect(await open()).toBe(410);
    await button('Unblock shop.example').click();
    await dialog().getByRole('button', { name: 'Unblock' }).click();
    await page.getByText('No host is blocked').waitFor();
    expect(await open()).toBe(302);
  });

  test('disables a person, who is signed out', async () => {
    const person = await signedInPerson(service);
    await openAs('/people');
    await button(`Disable: ${person.name}`).click();
    await dialog().getByRole('button', { name: 'Disable' }).click();
    await button(`Enable: ${person.name}`).waitFor();
    expect((await person.tab.get('/console/api/account')).status).toBe(401);
  });
});

test('a person who is no operator sees neither the link nor the pages', async () => {
  await signInAs(await signedInPerson(service));
  await page.goto(`${url}/console/operator`);
  await page.getByRole('heading', { name: 'For operators only' }).waitFor();
  expect(await link('Operator').count()).toBe(0);
});

test.each([
  ['a desktop', undefined],
  ['a phone in the dark', darkPhone],
])('every page is usable on %s', async (_, screen) => {
  if (screen !== undefined) {
    await page.setViewportSize(screen.viewport);
    await page.emulateMedia({ colorScheme: screen.colorScheme });
  }
  await created(account.live, {
    name: 'Poster',
    destination_url: `https://${'long'.repeat(12)}.example/${'x'.repeat(80)}`,
  });
  const { id } = await openAs('');
  await expectUsable(page, 'accounts');
  for (const [path, text] of [
    [`/accounts/${account.id}`, 'Recent events'],
    ['/codes?q=long', 'Poster'],
    ['/hosts', 'No host is blocked'],
    [`/people?q=${id}`, 'You'],
    ['/health', 'Processes'],
    ['/audit', 'Account created'],
  ]) {
    await page.goto(`${url}/console/operator${path}`);
    await page
      .getByText(text as string, { exact: false })
      .first()
      .waitFor();
    await expectUsable(page, path);
  }
});
