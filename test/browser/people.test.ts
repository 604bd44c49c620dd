import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Role } from '../../events/roles.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { addMember } from '../../src/people/members.ts';
import { created } from '../support/api.ts';
import { type ConsolePage, darkPhone, downloaded, expectUsable, signIn, useConsole } from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { goodPassword, person, signedIn, type TestPerson } from '../support/people.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ projections: false });

let account: TestAccount;
let page: Page;
let url: string;
let open: ConsolePage['open'];
useConsole(service, { plan: 'business', isSignedIn: false, expectedErrors: /status of 4\d\d/ }, (opened) => {
  ({ account, page, url, open } = opened);
});

const button = (name: string | RegExp, on = page) => on.getByRole('button', { name, exact: true });
const field = (name: string, on = page) => on.getByLabel(name, { exact: true });
const dialog = (on = page) => on.getByRole('dialog');
const members = (on = page) => on.goto(`${url}/console/account/members`);

/** A new member of the account, signed in as the form does, without loading the pages before and after it. */
async function join(on: Page, name: string, role: Role): Promise<TestPerson> {
  const member = await person(service, { account: account.id, role, name });
  const response = await on.request.post(`${url}/console/session`, {
    form: { email: member.email, password: goodPassword },
    headers: { 'sec-fetch-site': 'same-origin' },
    maxRedirects: 0,
  });
  expect(response.status(), await response.text()).toBe(303);
  return member;
}

/** Lets the last proof of every session be too old for what could hand over an account. */
const ageProofs = () => service.database.sql`
  UPDATE console_sessions SET proven_at = now() - interval '1 hour', last_proof_at = now() - interval '1 hour'`;

describe('members', () => {
  test('are invited by a link; a viewer sees everything and can change nothing; roles and removal work at once', async () => {
    const code = await created(account.live, { name: 'Menu' });
    await join(page, 'Ann Owner', 'owner');
    await members();
    await page.getByText('The only owner can neither leave nor get another role').waitFor();
    await button('Actions for Ann Owner').click();
    expect(await button('Leave account').isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await field('Role of Ann Owner').isDisabled()).toBe(true);
    await expectUsable(page, 'members');

    await button('Invite').click();
    await field('E-mail').fill('vic');
    await button('Create invitation').click();
    await dialog().getByText('Enter an e-mail address').waitFor();
    await field('E-mail').fill('vic@example.com');
    await dialog()
      .getByRole('radio', { name: /^Viewer/ })
      .check();
    await expectUsable(page, 'the invitation');
    await button('Create invitation').click();
    await dialog().getByText('Valid once, for 7 days').waitFor();
    await expectUsable(page, 'the link');
    const link = (await dialog().locator('code').textContent()) ?? '';
    await button('Done').click();
    await button('Revoke invitation of vic@example.com').waitFor();

    const opened = await open(darkPhone);
    const viewer = opened.page;
    await viewer.goto(link);
    await field('Your name', viewer).fill('Vic Viewer');
    await field('Password', viewer).fill(goodPassword);
    await button('Join the account', viewer).click();
    await viewer.getByText('You can view this account.').waitFor();
    await viewer.getByRole('link', { name: 'Menu' }).waitFor();
    expect(await viewer.getByRole('link', { name: 'Create code' }).count()).toBe(0);
    await expectUsable(viewer, 'the list of a viewer');
    await viewer.goto(`${url}/console/codes/${code.id}?tab=leads`);
    await viewer.getByText('Who goes where?').waitFor();
    expect(await button('Edit', viewer).count()).toBe(0);
    expect(await field('Destination', viewer).isDisabled()).toBe(true);
    await viewer.goto(`${url}/console/codes/new`);
    await viewer.getByText('you need to be an editor').waitFor();
    await viewer.goto(`${url}/console/account/webhook`);
    await viewer.getByText('you need to be an owner').waitFor();
    await viewer.goto(`${url}/console/account/keys`);
    await viewer.getByText('Create a separate key').waitFor();
    expect(await viewer.getByRole('button', { name: /^(Create|Rotate|Revoke|Undo)/ }).count()).toBe(0);
    await members(viewer);
    await viewer.getByText('Ann Owner').waitFor();
    expect(await viewer.getByRole('button', { name: /^(Invite|Actions for Ann)/ }).count()).toBe(0);
    expect(await viewer.locator('main').getByText('@example.com').count(), 'only the own address').toBe(1);
    await expectUsable(viewer, 'members, for a viewer');

    await page.reload();
    await field('Role of Vic Viewer').selectOption('Editor');
    await page.getByText('Vic Viewer is now an editor.').waitFor();
    expect(await page.getByText('Pending invitations').count()).toBe(0);
    await viewer.goto(`${url}/console`);
    await viewer.getByRole('link', { name: 'Create code' }).waitFor();
    await viewer.goto(`${url}/console/account`);
    await viewer.getByText('What only owners can change').waitFor();
    await button('Actions for Vic Viewer').click();
    await button('Remove').click();
    await expectUsable(page, 'removing');
    await button('Remove member').click();
    await page.getByText('Vic Viewer removed.').waitFor();
    await viewer.reload();
    await viewer.getByText('You are no longer a member of this account.').waitFor();
    await opened.close(url);
  });

  test('are named in history and audit log, and undone; after their deletion they are former members', async () => {
    const code = await created(account.live, { name: 'Menu' });
    const history = () => page.goto(`${url}/console/codes/${code.id}?tab=history`);
    const opened = await open();
    const editor = opened.page;
    const { email } = await join(editor, 'Ed Editor', 'editor');
    await editor.goto(`${url}/console/codes/${code.id}`);
    await button('Pause', editor).click();
    await button('Resume', editor).waitFor();

    await join(page, 'Ann Owner', 'owner');
    await history();
    await page.getByLabel('History').getByText('by Ed Editor').waitFor();
    expect(await page.getByTitle(/^usr_/).first().textContent()).toBe('Ed Editor');
    await members();
    await button('Actions for Ed Editor').click();
    await button('Undo changes').click();
    await button('Show what would change').click();
    await button('Undo 1 change').click();
    await page.getByText('Undone: 1 change.').waitFor();

    await editor.goto(`${url}/console/you`);
    await button('Delete my user', editor).click();
    await field('Your e-mail address, to confirm', editor).fill(email);
    await expectUsable(editor, 'deleting');
    await dialog(editor).getByRole('button', { name: 'Delete my user' }).click();
    await editor.getByRole('heading', { name: 'Sign in to Scanlog' }).waitFor();
    await opened.close(url);
    await history();
    await page.getByLabel('History').getByText('by a former member').waitFor();
    await page.goto(`${url}/console/account/audit`);
    const entries = page.getByLabel('Audit log').getByRole('listitem');
    await entries.getByText('Ann Owner').first().waitFor();
    await entries.getByText('a former member').first().waitFor();
    await expectUsable(page, 'the audit log');
  });
});

test('people change their name and password, see their sessions, and download their data', async () => {
  await join(page, 'Ann Owner', 'owner');
  await page.goto(`${url}/console`);
  await page.getByRole('button', { name: 'Menu of Ann Owner' }).click();
  await page.getByRole('link', { name: 'Your profile and sessions' }).click();
  await page.getByText('This one').waitFor();
  await expectUsable(page, 'you');
  await field('Name').fill('Ann Berg');
  await button('Save').click();
  await page.getByText('Profile saved.').waitFor();
  await page.getByRole('button', { name: 'Menu of Ann Berg' }).waitFor();

  await field('Current password').fill('wrong');
  await field('New password').fill('short');
  await button('Change password').click();
  await eventually(async () => expect(await field('New password').getAttribute('aria-invalid')).toBe('true'));
  await field('New password').fill('another-long-and-unusual-one');
  await button('Change password').click();
  await page.getByText('This is not your current password.').waitFor();
  await field('Current password').fill(goodPassword);
  await button('Change password').click();
  await page.getByText('Password changed.').waitFor();

  const { name, bytes } = await downloaded(page, () => button('Download my data').click());
  expect(name).toBe('scanlog-my-data.json');
  expect(bytes.toString()).toContain('Ann Berg');
  await page.setViewportSize(darkPhone.viewport);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectUsable(page, 'you, on a phone in the dark');
});

test('a session that ends while the page is open goes on in place, with the password and a recovery code', async () => {
  const ann = await join(page, 'Ann Owner', 'owner');
  const [recovery = ''] = await turnOnCodes(ann);
  await page.goto(`${url}/console/codes/new`);
  await field('Name').fill('Half-typed');
  await field('Destination').fill('https://example.com/typed');
  await service.database.sql`
    UPDATE console_sessions SET ends_at = now(), ended_at = now() WHERE user_id = ${ann.id}`;
  await page.keyboard.press('Enter');
  await dialog().getByText('Your session was ended on another device.').waitFor();
  await expectUsable(page, 'the password');
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await dialog().getByText('The e-mail address or the password is wrong.').waitFor();
  await field(`Password of ${ann.email}`).fill(goodPassword);
  await page.keyboard.press('Enter');
  await dialog().getByRole('heading', { name: 'Enter your code' }).waitFor();
  await expectUsable(page, 'the code');
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await dialog().getByText('This code is wrong or was used already.').waitFor();
  await field('One-time code').fill(recovery);
  await page.keyboard.press('Enter');
  await dialog().waitFor({ state: 'detached' });
  expect(await field('Name').inputValue()).toBe('Half-typed');
  await button('Create code').click();
  await page.getByRole('heading', { name: 'Half-typed', level: 1 }).waitFor();
});

/** Sets up one-time codes of the person, and returns the recovery codes. */
async function turnOnCodes(member: TestPerson): Promise<string[]> {
  const tab = await signedIn(service, member);
  const { body } = await tab.send('POST', '/console/api/me/totp');
  const code = new TOTP({ secret: Secret.fromBase32(body.secret) }).generate();
  return (await tab.send('POST', '/console/api/me/totp/confirm', { code })).body.recovery_codes;
}

describe('what could hand over the account', () => {
  test('asks a person for the password, and is done once it was given', async () => {
    await join(page, 'Ann Owner', 'owner');
    await members();
    await button('Invite').click();
    await field('E-mail').fill('ed@example.com');
    await ageProofs();
    await button('Create invitation').click();
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
    await expectUsable(page, 'the question');
    await page.keyboard.press('Escape');
    await page.getByText('Nothing was done, because you did not confirm').waitFor();
    expect((await account.live.get('/v1/account/invitations')).body.data).toEqual([]);

    await button('Create invitation').click();
    await field('Password').fill('wrong');
    await button('Confirm').click();
    await page.getByText('This is not your password.').waitFor();
    await field('Password').fill(goodPassword);
    await page.keyboard.press('Enter');
    await dialog().getByText('Valid once, for 7 days').waitFor();
  });

  test('asks a session with keys for a key', async () => {
    await signIn(page, url, account.keys.live);
    await page.goto(`${url}/console/account/keys`);
    await button('Create key').click();
    await field('Name').fill('Website');
    await ageProofs();
    await dialog().getByRole('button', { name: 'Create key' }).click();
    await field('API key of this session').fill(account.keys.live);
    await button('Confirm').click();
    await dialog().getByText('API key created').waitFor();
  });
});

test('people with several accounts switch between them; a page of the other account says so', async () => {
  const { sql } = service.database;
  const other = await createAccount(sql, { name: 'Other', plan: 'business', now: new Date() });
  await created(service.client(0, other.live.secret), { name: 'Of the other' });
  const { id } = await join(page, 'Ann Owner', 'owner');
  await addMember(sql, other.id, id, 'viewer', { actor: 'operator', now: new Date() });
  await page.goto(`${url}/console`);
  await page.getByRole('button', { name: 'Switch account, now Test' }).click();
  await button(/^Other/).click();
  await page.getByText('You can view this account.').waitFor();
  await page.getByRole('link', { name: 'Of the other' }).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${url}/console`);

  const switcher = page.getByRole('button', { name: 'Switch account, now Other' });
  await switcher.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await expectUsable(page, 'the switcher');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Switch account, now Test' }).waitFor();
  await page.getByRole('heading', { name: 'Create your first QR code' }).waitFor();

  await tab.bringToFront();
  await tab.getByText('Switched to another account').waitFor();
  await button('Switch back to Other', tab).click();
  await dialog(tab).waitFor({ state: 'detached' });
  await tab.close();

  await page.reload();
  await page.keyboard.press('Control+K');
  await page.keyboard.type('switch to test');
  await page.getByRole('option', { name: 'Switch to Test', exact: true }).click();
  await page.getByRole('button', { name: 'Switch account, now Test' }).waitFor();
  await page.setViewportSize(darkPhone.viewport);
  await expectUsable(page, 'the header on a phone');
});
