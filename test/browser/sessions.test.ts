import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { created, type Json } from '../support/api.ts';
import {
  accessibilityViolations,
  type ConsolePage,
  expectUsable,
  focused,
  focusedAfterPress,
  horizontalOverflow,
  openAccountMenu,
  signIn,
  useConsole,
} from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';

// With an address that a phone could open, the console shows the code that signs it in.
const service = useService({ projections: false, config: { publicUrl: 'http://qr.example' } });
const phoneScreen = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const;

let account: TestAccount;
let page: Page;
let url: string;
let open: ConsolePage['open'];
useConsole(service, { plan: 'business', expectedErrors: /status of (400|401|404|409)/ }, (opened) => {
  ({ account, page, url, open } = opened);
});

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const field = (name: string) => page.getByLabel(name, { exact: true });
const dialog = () => page.getByRole('dialog');
const codeTotal = async ({ live }: TestAccount): Promise<number> =>
  (await live.get('/v1/qrcodes')).body.pagination.total;

/** Types into the form of a new code, which nothing may lose. */
async function beginCode(): Promise<void> {
  await page.goto(`${url}/console/codes/new`);
  await field('Name').fill('Half-typed');
  await field('Destination').fill('https://example.com/typed');
}

/** Signs in again in the dialog, and creates the code with what was typed before. */
async function finishCode(): Promise<void> {
  await dialog().getByLabel('Live API key').fill(account.keys.live);
  await page.keyboard.press('Enter');
  await dialog().waitFor({ state: 'detached' });
  expect(await field('Name').inputValue()).toBe('Half-typed');
  await button('Create code').click();
  await page.getByRole('heading', { name: 'Half-typed', level: 1 }).waitFor();
}

describe('two tabs', () => {
  test('of two accounts do not write into each other’s account', async () => {
    const other = await service.account('business');
    await beginCode();
    expect(await page.locator('header .account-name').textContent()).toContain('Test');
    const tab = await page.context().newPage();
    await tab.goto(`${url}/console`);
    await openAccountMenu(tab);
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByText('Sign in with an API key').click();
    await tab.getByLabel('API key').fill(other.keys.live);
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Create your first QR code' }).waitFor();

    await page.bringToFront();
    await page.keyboard.press('Enter');
    await dialog().getByText('You are now signed in to another account').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect([await codeTotal(account), await codeTotal(other)]).toEqual([0, 0]);
    await dialog().getByLabel('Live API key').fill(other.keys.live);
    await page.keyboard.press('Enter');
    await dialog().getByText('belongs to another account').waitFor();
    await finishCode();
    expect([await codeTotal(account), await codeTotal(other)]).toEqual([1, 0]);
    await tab.bringToFront();
    await tab.getByRole('dialog').getByText('You are now signed in to another account').waitFor();
    await tab.getByRole('button', { name: 'Reload the page' }).click();
    await tab.getByRole('link', { name: 'Half-typed' }).waitFor();
  });

  test('refuse a test key of another account with words, and accept one of their own', async () => {
    const other = await service.account();
    await page.goto(`${url}/console`);
    await openAccountMenu(page);
    await button('Add test mode').click();
    await field('Test API key').fill(other.keys.test);
    await page.keyboard.press('Enter');
    await dialog().getByText('belongs to another account, “Test”').waitFor();
    await field('Test API key').fill(account.keys.test);
    await page.keyboard.press('Enter');
    await page.getByText('Test codes work like live codes').waitFor();
  });
});

describe('an ended session', () => {
  test('keeps the half-typed form, says why it ended, and goes on after signing in again', async () => {
    await beginCode();
    await service.database.sql`UPDATE console_sessions SET ends_at = now() - interval '1 second'`;
    await page.keyboard.press('Enter');
    await dialog().getByText('Your session has expired.').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await dialog().count(), 'Escape does not close it').toBe(1);
    await finishCode();

    await service.database.sql`UPDATE console_sessions SET ends_at = now(), ended_at = now()`;
    await dialog().getByText('Your session was ended on another device.').waitFor();
    // As in another tab, whose cookies are the same.
    await signIn(page, url, account.keys.live);
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await dialog().waitFor({ state: 'detached' });
  });

  test('does not end the next one with a refusal that arrives late', async () => {
    // A page without tags: the request that is held must be the one of the page that stays open.
    await page.goto(`${url}/console/account/sessions`);
    await page.getByText('This one').waitFor();
    await service.database.sql`UPDATE console_sessions SET ends_at = now() - interval '1 second'`;
    const isSignedIn = Promise.withResolvers<void>();
    const statuses: number[] = [];
    await page.route(/\/api\/tags/, async (route) => {
      const response = await route.fetch();
      if (statuses.push(response.status()) === 1) await isSignedIn.promise;
      await route.fulfill({ response });
    });
    // Not with the pointer: another request may have been refused already, and the dialog is in front then.
    await page.getByRole('link', { name: 'Analytics', exact: true }).dispatchEvent('click');
    await dialog().getByText('Your session has expired.').waitFor();
    await eventually(() => expect(statuses).toEqual([401]));
    await dialog().getByLabel('Live API key').fill(account.keys.live);
    await page.keyboard.press('Enter');
    await dialog().waitFor({ state: 'detached' });
    expect(statuses, 'nothing but the late refusal repeats the request').toEqual([401]);
    isSignedIn.resolve();
    await eventually(() => expect(statuses).toEqual([401, 200]));
    expect(await dialog().count()).toBe(0);
    await page.unroute(/\/api\/tags/);
  });

  test('leads back to the page and its query', async () => {
    const code = await created(account.live, { name: 'Deep' });
    await page.goto(`${url}/console`);
    await openAccountMenu(page);
    await button('Sign out').click();
    await page.goto(`${url}/console/codes/${code.id}?tab=history`);
    await page.getByText('Sign in with an API key').click();
    await page.getByLabel('API key').fill(account.keys.live);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Deep' }).waitFor();
    expect(new URL(page.url()).search).toBe('?tab=history');
  });
});

describe('sessions', () => {
  test('are listed, a phone is signed in by a scanned code, and ends when its session is ended', async () => {
    await page.goto(`${url}/console/account/sessions`);
    await page.getByText('This one').waitFor();
    const [created] = await Promise.all([page.waitForResponse(/sessions\/phone/), button('Sign in my phone').click()]);
    const { token } = (await created.json()) as Json;
    await page.getByAltText('QR code that signs in your phone').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);

    const opened = await open({ ...phoneScreen, userAgent: iphone });
    const phone = opened.page;
    await phone.goto(`${url}/console/phone#${token}`);
    await phone.getByText('Sign in to the account Test on this device?').waitFor();
    expect(phone.url(), 'the token is not in the address').toBe(`${url}/console/phone`);
    expect(await accessibilityViolations(phone)).toEqual([]);
    expect(await horizontalOverflow(phone)).toBe(0);
    await phone.getByRole('button', { name: 'Sign in' }).click();
    await phone.getByRole('heading', { name: 'Create your first QR code' }).waitFor();
    await dialog().getByText('Safari on iPhone is signed in').waitFor();
    await button('Done').click();

    await phone.goto(`${url}/console/account/sessions`);
    await phone.getByText('Safari on iPhone').waitFor();
    await expectUsable(phone);
    await button('End Safari on iPhone').click();
    await button('End session').click();
    await page.getByText('1 session ended.').waitFor();
    await phone.reload();
    await phone.getByText('Your session was ended on another device.').waitFor();

    await phone.goto(`${url}/console/phone#${token}`);
    await phone.getByText('has expired or was already used').waitFor();
    await opened.close(url);
  });

  test('show a new key until it is confirmed, and give the focus back', async () => {
    await page.goto(`${url}/console/account/keys`);
    expect(await focusedAfterPress(button('Create key')), 'keys pressed at once belong to its first field').toBe(
      'Name',
    );
    await page.keyboard.type('Website');
    await page.keyboard.press('Enter');
    const secret = dialog().locator('code');
    await secret.waitFor();
    await eventually(async () => expect(await focused(page)).toBe('Copy API key'));
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await secret.textContent()).toMatch(/^sk_live_/);
    await button('Done').click();
    await dialog().waitFor({ state: 'detached' });
    await eventually(async () => expect(await focused(page)).toBe('Create key'));
    await button('Revoke Website').click();
    await eventually(async () => expect(await focused(page)).toBe('Cancel'));
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await eventually(async () => expect(await focused(page)).toBe('Revoke Website'));
  });
});

const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1';

test('a key is created with a preset, and its session shows only what the key may do', async () => {
  const code = await created(account.live, { name: 'Menu', tags: ['Summer'] });
  await page.goto(`${url}/console/account/keys`);
  await button('Create key').click();
  await field('Name').fill('Client');
  await dialog().getByRole('radio', { name: 'Custom' }).check();
  expect(await dialog().getByRole('checkbox').count()).toBe(8);
  await expectUsable(page, 'the form');
  await dialog().getByRole('radio', { name: 'Read only' }).check();
  await dialog().getByLabel('Expires').selectOption('30 days');
  await field('Networks (optional)').fill('10.0.0.0/33');
  await dialog().getByRole('button', { name: 'Create key' }).click();
  await dialog().getByText('must be an IP address or CIDR range').waitFor();
  await field('Networks (optional)').fill('127.0.0.0/8 ::1');
  await dialog().getByRole('button', { name: 'Create key' }).click();
  const secret = (await dialog().locator('code').textContent()) ?? '';
  await button('Done').click();
  await page.getByText('only from 127.0.0.0/8, ::1').waitFor();

  const opened = await open(phoneScreen);
  const client = opened.page;
  await signIn(client, url, secret);
  await client.goto(`${url}/console`);
  await client.getByText('Limited key.').waitFor();
  await client.getByRole('link', { name: 'Menu' }).waitFor();
  expect(await client.getByRole('link', { name: 'Create code' }).count()).toBe(0);
  await expectUsable(client, 'the list');
  await client.goto(`${url}/console/codes/${code.id}?tab=leads`);
  await client.getByText('Who goes where?').waitFor();
  expect(await client.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  expect(await client.getByLabel('Destination', { exact: true }).isDisabled()).toBe(true);
  await expectUsable(client, 'the code');
  await client.goto(`${url}/console/codes/new`);
  await client.getByText('cannot create and change codes').waitFor();
  await client.goto(`${url}/console/account/keys`);
  await client.getByText('Client', { exact: true }).waitFor();
  expect(await client.getByRole('button', { name: /^(Create|Rotate|Revoke)/ }).count()).toBe(0);
  await opened.close(url);

  await button('Rotate Client').click();
  await button('Rotate key').click();
  await dialog().getByText('API key rotated').waitFor();
  await button('Done').click();
  await page.getByText('rotated, old secret ends').waitFor();
});
