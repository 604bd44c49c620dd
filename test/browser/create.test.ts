import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { scan } from '../qr/support.ts';
import { created, type Json, newCode } from '../support/api.ts';
import {
  accessibilityViolations,
  downloaded,
  focused,
  focusedAfterPress,
  horizontalOverflow,
  openAccountMenu,
  signIn,
  useConsole,
} from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ alertPollMs: 100 });

let account: TestAccount;
let page: Page;
let url: string;
let allowErrors: (pattern: RegExp) => void;
useConsole(service, { plan: 'pro' }, (opened) => {
  ({ account, page, url, allowErrors } = opened);
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const field = (name: string) => page.getByLabel(name, { exact: true });
const alerts = () => page.getByRole('alert').allTextContents();
const unique = (prefix: string) => `${prefix}-${Math.random().toString(36).slice(2, 8)}`;
const newest = async (): Promise<Json> => {
  const [{ id }] = (await account.live.get('/v1/qrcodes')).body.data;
  return (await account.live.get(`/v1/qrcodes/${id}`)).body;
};

describe('the create form', () => {
  test('on a phone: the button stays in reach, the first wrong field gets the focus, errors clear as they are corrected', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 700 });
    await page.goto(`${url}/console/codes/new`);
    await page.getByText('Do not print yet').waitFor();
    await page.getByText('PUBLIC_URL').waitFor();
    for (const scrollTop of [0, 600, 99_999]) {
      await page.evaluate(`scrollTo(0, ${scrollTop})`);
      const box = await button('Create code').boundingBox();
      expect((box?.y ?? 9_999) + (box?.height ?? 0), `scrolled to ${scrollTop}`).toBeLessThanOrEqual(700);
      const preview = await page.getByRole('complementary', { name: 'Preview' }).boundingBox();
      expect(preview?.y, `the preview, scrolled to ${scrollTop}`).toBeGreaterThanOrEqual(0);
    }
    const form = await page.locator('form.create').boundingBox();
    expect(form?.height, 'what most codes need').toBeLessThan(1500);
    expect(await focusedAfterPress(button('Create code')), 'what is typed at once belongs to it').toBe('Name');
    expect(await alerts()).toEqual(['Enter a name.', expect.stringContaining('Enter a destination')]);
    const isVisible = `(() => {
        const { left, top, width, height } = document.activeElement.getBoundingClientRect();
        return document.activeElement.contains(document.elementFromPoint(left + width / 2, top + height / 2));
      })()`;
    expect(await page.evaluate(isVisible), 'nothing covers it').toBe(true);
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await horizontalOverflow(page)).toBe(0);

    await page.keyboard.type('Menu');
    expect(await alerts()).toEqual([expect.stringContaining('Enter a destination')]);
    for (const [text, error] of [
      ['mailto:me@cafe.de', 'mailto: links cannot be destinations'],
      ['htp:/cafe', '“htp:/” is misspelled'],
      ['=HYPERLINK(1)', 'This is not the address of a web page'],
    ] as const) {
      await field('Destination').fill(text);
      await button('Create code').click();
      await eventually(async () => expect(await alerts()).toEqual([expect.stringContaining(error)]));
      expect(await focused(page)).toBe('Destination');
    }
    await field('Destination').fill('cafe');
    expect(await alerts()).toEqual([]);
    await page.getByText('“cafe” has no dot').waitFor();
    await field('Destination').fill('example.com/menu');
    await button('Create code').click();
    await page.getByRole('heading', { name: 'Menu', level: 1 }).waitFor();
    expect(await newest()).toMatchObject({ name: 'Menu', destination_url: 'https://example.com/menu' });

    await button('Download').click();
    await page.getByRole('dialog').getByText('Do not print yet').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await button('Edit').click();
    await field('Destination').fill('tel:12345');
    await button('Save').click();
    await page.getByRole('alert').getByText('tel: links cannot be destinations').waitFor();
    expect(await focused(page)).toBe('Destination');
    await field('Destination').fill('tel.example.com');
    expect(await alerts()).toEqual([]);
  });

  test('is filled in by “Duplicate”, and refuses a short link that differs only in case', async () => {
    const style = { dotsType: 'dots', dotsColor: '#7A1F4B' };
    const taken = unique('Terrace');
    const terrace = await created(account.live, {
      name: 'Terrace',
      destination_url: 'https://example.com/terrace?a=1',
      short_code: taken,
      style,
      max_scans: 5,
      tags: ['summer'],
      note: 'Inside',
    });
    await page.goto(`${url}/console/codes/${terrace.id}`);
    await button('More actions').click();
    await page.getByRole('link', { name: 'Duplicate' }).click();
    await page.getByText('A copy of “Terrace” with a new short link.').waitFor();
    expect(await field('Name').inputValue()).toBe('Terrace copy');
    expect(await field('Note').inputValue()).toBe('Inside');
    allowErrors(/422/); // If the text is proofed before the font has arrived.
    const frame = (name: string) =>
      page.getByRole('group', { name: 'Frame', exact: true }).getByRole('radio', { name }).first();
    await frame('Label below').check();
    await field('Frame text').fill('قائمة');
    const refusal = 'Frames have no Arabic characters, only Latin, Greek and Cyrillic letters.';
    await page.getByRole('alert').filter({ hasText: refusal }).waitFor();
    await page.getByRole('complementary', { name: 'Preview' }).getByText(refusal).waitFor();
    await frame('None').check();
    await field('Short link').fill(taken.toUpperCase());
    await page.getByText(`is taken by "${taken}", which differs only in case`).waitFor();
    await page.getByText('Short link, tags and note').click();
    await field('Short link').waitFor({ state: 'hidden' });
    await button('Create code').click();
    await eventually(async () => expect(await focused(page), 'its part of the form opens').toBe('Short link'));
    await field('Short link').fill('');
    await button('Create code').click();
    await page.getByRole('heading', { name: 'Terrace copy', level: 1 }).waitFor();
    const copy = await newest();
    expect(copy).toMatchObject({
      name: 'Terrace copy',
      destination_url: 'https://example.com/terrace?a=1',
      style,
      max_scans: 5,
      tags: ['summer'],
      note: 'Inside',
    });
    expect(copy.short_code).not.toBe(taken);
  });

  test('says that the plan is full before it is filled in, as the import does; not in test mode', async () => {
    const qrcodes = Array.from({ length: 50 }, () => newCode());
    expect((await account.live.post('/v1/qrcodes/bulk', { qrcodes })).status).toBe(201);
    for (const path of ['/codes/new', '/codes/import']) {
      await page.goto(`${url}/console${path}`);
      await page.getByText('50 of 50 codes of the pro plan are in use').waitFor();
      expect(await accessibilityViolations(page), path).toEqual([]);
    }
    await page.goto(`${url}/console/codes/new`);
    await page.getByText('Your plan is full.').waitFor();
    expect(await button('Create code').isDisabled()).toBe(true);

    // The sign-in replaces the token of the session: a request of the page that is under way would be refused.
    await page.waitForLoadState('networkidle');
    await openAccountMenu(page);
    await button('Add test mode').click();
    await field('Test API key').fill(account.keys.test);
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/console/test');
    await page.locator('.test-band').waitFor();
    await page.goto(`${url}/console/test/codes/new`);
    await eventually(async () => expect(await button('Create code').isEnabled()).toBe(true));
    expect(await page.getByText('Your plan is full.').count()).toBe(0);
  });
});

describe('the import', () => {
  test('converts the encoding, names unused columns, lists wrong rows first and corrects them in place', async () => {
    const taken = unique('Taken');
    await created(account.live, { short_code: taken });
    await page.goto(`${url}/console/codes/import`);
    const given = unique('tuer');
    const table = [
      'Name,Destination,Short link,Notes',
      `Tür,example.com/1,${new URL(url).host}/${given},front`,
      'Zwei,=HYPERLINK(1),,',
      `Drei,example.com/3,${taken.toUpperCase()},`,
      `Vier,example.com/4,${given.toUpperCase()},`,
    ].join('\r\n');
    const file = { name: 'codes.csv', mimeType: 'text/csv', buffer: Buffer.from(table, 'latin1') };
    const choose = () => page.locator('input[type=file]').setInputFiles(file);
    await choose();
    await page
      .getByText('It was converted from windows-1252. Check that these words are spelled right: Tür.')
      .waitFor();
    await page.getByText('Not used: “Notes”.').waitFor();
    await page.getByText('3 rows have errors').waitFor();
    await page.getByText('The short code is already used in line 2').waitFor();
    const lines = () => page.locator('.rows tbody td.number').allTextContents();
    expect(await lines(), 'wrong rows first').toEqual(['3', '4', '5', '2']);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 700 });
    expect(await horizontalOverflow(page)).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);

    await field('Destination, line 3').fill('example.com/2');
    await page.getByText('2 rows have errors').waitFor();
    expect(await focused(page), 'the row stays while it is corrected').toBe('Destination, line 3');
    await field('Short link, line 4').fill('');
    await field('Short link, line 5').fill(unique('four'));
    await page.getByText('All rows are valid').waitFor();

    await choose();
    await page.getByText('3 rows have errors').waitFor();
    expect(await field('Destination, line 3').inputValue(), 'the same file is read again').toBe('=HYPERLINK(1)');
    await field('Destination, line 3').fill('example.com/2');
    await button('Skip 2 rows').click();
    await button('Create 2 codes').click();
    await page.getByRole('link', { name: 'Tür' }).waitFor();
    const codes = (await account.live.get('/v1/qrcodes')).body.data;
    expect(codes.map(({ name, destination_url, short_url }: Json) => [name, destination_url, short_url])).toEqual(
      expect.arrayContaining([
        ['Tür', 'https://example.com/1', `${url}/${given}`],
        ['Zwei', 'https://example.com/2', expect.any(String)],
      ]),
    );
  });
});

describe('the import of links of another service', () => {
  test('recognizes the service, shows what would come and why not, then imports it with links to the codes', async () => {
    const given = unique('bit');
    await page.goto(`${url}/console/codes/import`);
    await page.getByLabel('Links of another service').check();
    await page.waitForURL('**/codes/import?from=service');
    const table = [
      'Bitlink,Long URL,Title,Color',
      `https://bit.ly/${given},https://example.com/menu,Menu,red`,
      'https://bit.ly/a,https://example.com/short,Too short,red',
    ].join('\n');
    const buffer = Buffer.from(table);
    await page.locator('input[type=file]').setInputFiles({ name: 'links.csv', mimeType: 'text/csv', buffer });
    await page.getByText('“links.csv” looks like an export of Bitly.').waitFor();
    expect(await field('Service').inputValue()).toBe('bitly');
    await button('Check').click();
    await page.getByText('1 link can be imported, 1 not possible.').waitFor();
    await page.getByText('Not possible: short code "a" must have 3 to 50').waitFor();
    await page.getByText('Not read: “Color”.').waitFor();
    expect(await page.getByText('has no effect on this page').count()).toBe(0);
    expect((await account.live.get(`/v1/qrcodes?q=${given}`)).body.pagination.total).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 700 });
    expect(await horizontalOverflow(page)).toBe(0);

    await button('Import 1 link').click();
    await page.getByText('1 link was imported, 1 not possible.').waitFor();
    await page.locator('.rows').getByRole('link').click();
    await page.getByRole('heading', { name: 'Menu' }).waitFor();
    const response = await fetch(`${url}/${given}`, { redirect: 'manual' });
    expect(response.headers.get('location')).toBe('https://example.com/menu');
  });
});

describe('a static code', () => {
  test('is filled in, previewed and downloaded by keyboard on a dark phone', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 700 });
    await page.goto(`${url}/console/codes/new`);
    await page.getByLabel('Changeable link').focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText('it cannot be changed once it is printed').waitFor();
    await page.getByText('Your code appears here.').waitFor();
    await button('Download PNG').click();
    await eventually(async () => expect(await focused(page)).toBe('Network name'));
    expect(await alerts()).toEqual(['Enter the network name.', 'Enter the password.']);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.type('Café; Süd');
    await field('Password').fill('short');
    expect(await alerts()).toEqual([expect.stringContaining('Password must have 8 to 63 bytes')]);
    await field('Password').fill('espresso');
    expect(await alerts()).toEqual([]);
    await page.getByAltText('QR code with the access to a Wi-Fi network').waitFor();
    await page.getByText(/Scans down to/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await horizontalOverflow(page)).toBe(0);
    const { name, bytes } = await downloaded(page, () => button('Download PNG').click());
    expect(name).toBe('wifi.png');
    expect(await scan(bytes)).toEqual(['WIFI:T:WPA;S:Café\\; Süd;P:espresso;;']);

    await page.getByLabel('Event', { exact: true }).check();
    await field('Name of the event').fill('Fête');
    await field('Begin').fill('2026-06-01T19:00');
    await page.getByAltText('QR code with an event').waitFor();
    await page.getByLabel('Text', { exact: true }).check();
    await field('Text').last().fill('x'.repeat(2_400));
    await button('Download PNG').click();
    await page.getByRole('alert').getByText('69 more than').waitFor();
    expect((await account.live.get('/v1/qrcodes')).body.pagination.total, 'nothing is stored').toBe(0);
  });
});

describe('an alert', () => {
  test('is created, seen under the bell by keyboard, and paused on a dark phone', async () => {
    await account.live.post('/v1/qrcodes/bulk', { qrcodes: Array.from({ length: 46 }, () => newCode()) });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 700 });
    await page.goto(`${url}/console/account/alerts`);
    await page.getByRole('button', { name: 'Create alert' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Tell me when').selectOption('limit_near');
    await dialog.getByLabel('Name (optional)').fill('Our plan');
    await dialog.getByRole('button', { name: 'Create alert' }).click();
    await dialog.waitFor({ state: 'detached' });
    await eventually(async () => expect((await account.live.get('/v1/alerts/raised')).body.data).toHaveLength(1));
    await page.reload();
    const bell = page.getByRole('button', { name: 'Alerts: 1 thing needs attention' });
    await bell.waitFor();
    expect(await horizontalOverflow(page)).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await bell.press('Enter');
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('hardly any codes left');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/console/account`);
    await page.goto(`${url}/console/account/alerts`);
    await page.getByText('46 of the 50 QR codes').waitFor();
    await page.getByRole('button', { name: 'Pause Our plan' }).click();
    await page.getByRole('button', { name: 'Resume Our plan' }).waitFor();
  });
});

describe('a shared page', () => {
  test('is created, opened without a session, changed and ended on a dark phone', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 700 });
    await created(account.live, { name: 'Terrace' });
    await page.goto(`${url}/console/account/shares`);
    await page.getByText('No shared pages yet').waitFor();
    await button('Create page').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Create page' }).click();
    await eventually(async () => expect(await alerts()).toEqual(['Enter a name.', 'Choose at least one code.']));
    await field('Name').fill('Summer');
    await dialog.getByLabel('Terrace').check();
    await field('Password').fill('sunflower');
    expect(await alerts()).toEqual([]);
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create page' }).click();
    const link = await page.getByRole('link', { name: 'Open Summer' }).getAttribute('href');
    await page.getByRole('button', { name: 'Copy link of Summer' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await horizontalOverflow(page)).toBe(0);

    allowErrors(/status of (401|403)/);
    await page.context().clearCookies();
    await page.goto(String(link));
    expect(await accessibilityViolations(page)).toEqual([]);
    await field('Password').fill('wrong');
    await button('Open').click();
    await page.getByRole('alert').getByText('The password is wrong.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await field('Password').fill('sunflower');
    await button('Open').click();
    await page.getByRole('heading', { name: 'Summer' }).waitFor();
    await page.getByText('No scans in this period.').waitFor();
    await page.getByRole('link', { name: '12 months' }).click();
    await page.getByRole('link', { name: '12 months' }).and(page.locator('[aria-current]')).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await horizontalOverflow(page)).toBe(0);

    await signIn(page, url, account.keys.live);
    await page.goto(`${url}/console/account/shares`);
    await created(account.live, { name: 'Bar', tags: ['Drinks'] });
    await button('Change Summer').click();
    await field('Name').fill('Autumn');
    await dialog.getByRole('radio', { name: 'Tags', exact: true }).check();
    await dialog.getByPlaceholder('Add tag').fill('Drinks');
    await dialog.getByPlaceholder('Add tag').press('Enter');
    await dialog.getByLabel('Remove the password').check();
    await field('Ends (optional)').fill('2200-01-01T12:00');
    await field('Websites that may embed it (optional)').fill('https://example.com/path');
    expect(await accessibilityViolations(page)).toEqual([]);
    allowErrors(/status of (400|401|403)/);
    await button('Save').click();
    await eventually(async () =>
      expect(await alerts()).toEqual([expect.stringContaining('address of a website without a path')]),
    );
    await field('Websites that may embed it (optional)').fill('https://example.com');
    await button('Save').click();
    await page.getByText('codes with drinks').waitFor();
    expect(await horizontalOverflow(page)).toBe(0);
    const [changed] = (await account.live.get('/v1/shares')).body.data;
    expect(changed).toMatchObject({
      name: 'Autumn',
      url: link,
      qr_ids: null,
      tags: ['drinks'],
      has_password: false,
      frame_origins: ['https://example.com'],
      expires_at: expect.stringContaining('2200-01-01'),
    });
    await eventually(async () => {
      const opened = await fetch(String(link));
      expect([opened.status, opened.headers.get('content-security-policy')]).toEqual([
        200,
        expect.stringContaining('frame-ancestors https://example.com'),
      ]);
    });
    await button('End Autumn').click();
    await button('End page').click();
    await page.getByText('No shared pages yet').waitFor();
    expect((await fetch(String(link))).status).toBe(404);
  });
});

describe('a report', () => {
  test('is set up, changed and removed on a dark phone; without SMTP_URL it says what would be mailed', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 700 });
    await created(account.live, { name: 'Terrace' });
    await page.goto(`${url}/console/account/reports`);
    await page.getByText('has not set SMTP_URL').waitFor();
    await button('Create report').click();
    const dialog = page.getByRole('dialog');
    await field('Name').fill('Monthly');
    await dialog.getByLabel('Terrace').check();
    allowErrors(/status of 400/);
    await field('E-mail addresses').fill('ada@example.com\ngrace');
    await dialog.getByRole('button', { name: 'Create report' }).click();
    await eventually(async () =>
      expect(await alerts()).toEqual(['Must be an e-mail address such as ada@example.com.']),
    );
    await field('E-mail addresses').fill('ada@example.com');
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create report' }).click();
    await page.getByText('Would be mailed to ada@example.com once SMTP_URL is set.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await horizontalOverflow(page)).toBe(0);

    await button('Change Monthly').click();
    await field('Name').fill('Weekly');
    await dialog.getByRole('radio', { name: 'Every week' }).check();
    await field('Language').selectOption('ja');
    await button('Save').click();
    await eventually(async () =>
      expect(await alerts()).toEqual([expect.stringContaining('PDF files lack the letters')]),
    );
    await field('Language').selectOption('de');
    expect(await alerts()).toEqual([]);
    await button('Save').click();
    await page.getByText('Weekly', { exact: true }).first().waitFor();
    await dialog.waitFor({ state: 'detached' });
    const [changed] = (await account.live.get('/v1/reports')).body.data;
    expect(changed).toMatchObject({ name: 'Weekly', every: 'week', language: 'de' });
    const preview = await page.getByRole('link', { name: 'Preview Weekly' }).getAttribute('href');
    expect(new URL(String(preview), url).searchParams.get('language')).toBe('de');
    await button('Remove Weekly').click();
    await button('Remove report').click();
    await page.getByText('No reports yet').waitFor();
    expect((await account.live.get('/v1/reports')).body.data).toEqual([]);
  });
});

describe('a destination with something wrong', () => {
  test('is shown whole in the list, on the page of its code and in the history', async () => {
    const { id } = await created(account.live, { destination_url: 'https://mailto/me' });
    await page.goto(`${url}/console`);
    await page.getByRole('cell', { name: 'https://mailto/me', exact: true }).waitFor();
    await page.goto(`${url}/console/codes/${id}?tab=history`);
    await page.getByRole('link', { name: 'https://mailto/me', exact: true }).waitFor();
    await page.getByRole('listitem').getByText('https://mailto/me').waitFor();
  });
});
