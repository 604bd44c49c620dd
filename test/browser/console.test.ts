import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { created, type Json } from '../support/api.ts';
import {
  accessibilityViolations,
  type ConsolePage,
  downloaded,
  focused,
  horizontalOverflow,
  openAccountMenu,
  useConsole,
} from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { unknownKey } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { answer, useReceiver } from '../webhooks/receiver.ts';
import { mayCallTests, newPath } from '../webhooks/webhook-support.ts';

const service = useService({ config: mayCallTests });
const receiver = useReceiver();

let account: TestAccount;
let allowErrors: ConsolePage['allowErrors'];
let takeError: ConsolePage['takeError'];
let page: Page;
let url: string;
useConsole(service, { plan: 'business' }, (opened) => {
  ({ account, allowErrors, page, takeError, url } = opened);
});

const button = (name: string | RegExp) => page.getByRole('button', { name });
const link = (name: string | RegExp) => page.getByRole('link', { name });
const field = (name: string) => page.getByLabel(name, { exact: true });
const dialog = () => page.getByRole('dialog');
const choose = (group: string, name: string) =>
  page.getByRole('group', { name: group, exact: true }).getByRole('radio', { name, exact: true }).check();
/** The second one has the rules whose result depends on colors and width. */
const screens = [
  { colorScheme: 'light', width: 1280, rules: 'all' },
  { colorScheme: 'dark', width: 390, rules: ['color-contrast', 'scrollable-region-focusable'] },
] as const;

/** Rows of choices of which a part is out of sight. */
const cutChoices = `[...document.querySelectorAll('.segments')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map(({ textContent }) => textContent)`;

const openList = () => page.goto(`${url}/console`);
const uniqueCode = (prefix: string) => `${prefix}-${Math.random().toString(36).slice(2, 8)}`;

/** Creates a code and opens its page. */
async function openCode(fields: Record<string, unknown> = {}): Promise<Json> {
  const code = await created(account.live, fields);
  await page.goto(`${url}/console/codes/${code.id}`);
  await page.getByRole('heading', { name: code.name, level: 1 }).waitFor();
  return code;
}

/** The value of a figure above the chart. */
const figure = (name: string) =>
  page.locator('.figures div', { has: page.getByText(name, { exact: true }) }).locator('dd');

const scan = (code: { short_code: string }, headers: Record<string, string> = {}) =>
  fetch(`${url}/${code.short_code}`, { redirect: 'manual', headers });

describe('signing in and out', () => {
  test('rejects a wrong key, accepts the right one, and signs out', async () => {
    await openList();
    await openAccountMenu(page);
    await button('Sign out').click();
    await page.getByText('I lost my API key').click();
    await page.getByText('./scanlog account key').waitFor();
    await page.getByText('Sign in with an API key').click();
    await page.getByLabel('API key').fill(unknownKey());
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('does not exist').waitFor();
    await takeError('401');
    await page.getByLabel('API key').fill(account.keys.live);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Create your first QR code' }).waitFor();
    const stored = await page.evaluate('JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])');
    expect(stored, 'script can read neither the key nor the session').toBe('["",{},{}]');
  });

  test('switches between live and test mode with keys of both modes', async () => {
    await created(account.test, { name: 'Test code' });
    await openList();
    await openAccountMenu(page);
    await button('Add test mode').click();
    await field('Test API key').fill(account.keys.test);
    await dialog().getByRole('button', { name: 'Sign in' }).click();
    await link('Test code').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/test');
    await openAccountMenu(page);
    await page.getByRole('navigation', { name: 'Mode' }).getByRole('link', { name: 'Live' }).click();
    await page.getByRole('heading', { name: 'Create your first QR code' }).waitFor();
  });

  test('opens the console from a link on another site', async () => {
    await page.goto('about:blank');
    await page.setContent(`<a href="${url}/console/account">Open the console</a>`);
    await link('Open the console').click();
    await page.getByRole('heading', { name: 'Business plan' }).waitFor();
  });

  test('says that the key of the session was revoked, and leads to the sign-in page', async () => {
    allowErrors(/401/);
    await openList();
    const keys = (await account.live.get('/v1/account/keys')).body.data;
    const sessionKey = keys.find(({ mode }: Json) => mode === 'live');
    const other = (await account.live.post('/v1/account/keys', { name: 'Other', mode: 'live' })).body.key;
    await service.client(0, other).delete(`/v1/account/keys/${sessionKey.id}`);
    // The page finds out by itself, since it reads the list every few seconds.
    await dialog().getByText('The API key of your session was revoked.').waitFor();
    await button('Go to the sign-in page').click();
    await page.getByRole('heading', { name: 'Sign in to Scanlog' }).waitFor();
  });
});

describe('codes', () => {
  test('are created with a style whose preview equals the download', async () => {
    const taken = uniqueCode('taken');
    await created(account.live, { short_code: taken });
    await openList();
    await link('Create code').first().click();
    await field('Name').fill('Summer menu');
    await field('Destination').fill('example.com/summer');
    await page.getByText('Short link, tags and note').click();
    await field('Short link').fill(taken);
    await page.getByText('The short link is taken; choose another.').waitFor();
    const available = uniqueCode('summer');
    await field('Short link').fill(available);
    await page.getByText('Available', { exact: true }).waitFor();

    await page.getByRole('radio', { name: 'Forest' }).check();
    await page.getByText('Scans down to').waitFor();
    await page.getByText('Shapes, colors and print').click();
    await field('Dots color').fill('#F2C200');
    await page.getByText('have a contrast of').waitFor();
    await field('Dots color').fill('#7A1F4B');
    await page.getByText('Scans down to').waitFor();
    await choose('Dots', 'Classy rounded');
    await choose('Corner squares', 'Dot');
    await choose('Corner dots', 'Dot');
    await field('Corner dots color').fill('#A9441F');

    const preview = page.getByRole('complementary', { name: 'Preview' }).getByRole('img');
    const previewSvg = await eventually(async () => {
      const source = (await preview.getAttribute('src')) ?? '';
      const svg = decodeURIComponent(source.replace('data:image/svg+xml,', ''));
      expect(svg, 'the preview has the last color').toContain('#A9441F');
      return svg;
    });
    await button('Create code').click();
    await page.getByRole('heading', { name: 'Summer menu', level: 1 }).waitFor();

    const [code] = (await account.live.get('/v1/qrcodes?q=summer')).body.data;
    const summer = (await account.live.get(`/v1/qrcodes/${code.id}`)).body;
    expect(summer).toMatchObject({
      name: 'Summer menu',
      destination_url: 'https://example.com/summer',
      short_code: available,
      status: 'active',
      style: {
        dotsType: 'classy-rounded',
        dotsColor: '#7A1F4B',
        cornersSquareType: 'dot',
        cornersDotType: 'dot',
        cornersDotColor: '#A9441F',
      },
    });
    await button('Download').click();
    await choose('File format', 'SVG');
    await field('Size in pixels').fill('512');
    const svg = await downloaded(page, () => dialog().getByRole('link', { name: 'Download SVG' }).click());
    expect(svg.name).toBe(`${available}.svg`);
    expect(svg.bytes.toString()).toBe(previewSvg);
    await choose('File format', 'PNG');
    await dialog().getByRole('button', { name: '1024' }).click();
    const png = await downloaded(page, () => dialog().getByRole('link', { name: 'Download PNG' }).click());
    expect(png.bytes.readUInt32BE(16), 'the width is as selected').toBe(1024);
  });

  test('are searched, filtered by status and sorted', async () => {
    for (const name of ['Menu', 'Poster', 'Card']) await created(account.live, { name });
    const [card] = (await account.live.get('/v1/qrcodes')).body.data;
    await account.live.patch(`/v1/qrcodes/${card.id}`, { active: false });
    const names = () => page.locator('table .name').allTextContents();
    const shows = (expected: string[]) => eventually(async () => expect(await names()).toEqual(expected));
    await openList();
    await shows(['Card', 'Poster', 'Menu']);
    await page.getByLabel('Sort by').selectOption('name');
    await shows(['Card', 'Menu', 'Poster']);
    await choose('Status', 'Paused');
    await shows(['Card']);
    await choose('Status', 'All');
    await page.getByLabel('Search codes').fill('POST');
    await shows(['Poster']);
    await page.getByLabel('Search codes').fill('nothing like it');
    await button('Clear filters').click();
    await shows(['Card', 'Menu', 'Poster']);
  });

  test('are imported from a pasted table whose errors are shown before anything is sent', async () => {
    const taken = uniqueCode('taken');
    const style = { dotsType: 'dots', dotsColor: '#7A1F4B', frame: { type: 'box' } };
    await created(account.live, { name: 'Existing', short_code: taken, style });
    await openList();
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    await page
      .getByLabel('Paste rows')
      .fill(
        `name\turl\tshort_code\nTable 1\texample.com/1\t\nTable 2\tnonsense://x\t\nTable 3\texample.com/3\t${taken}`,
      );
    await page.getByText('2 rows have errors').waitFor();
    await page.getByText('nonsense: links cannot be destinations').waitFor();
    await page.getByText('The short code is taken').waitFor();
    expect(await button('Create 3 codes').isDisabled()).toBe(true);
    await button('Skip 2 rows').click();
    await page.locator('summary', { hasText: 'Style and print' }).press('Enter');
    await button('Use the style of a code').press('Enter');
    expect(await accessibilityViolations(page), 'choice of a style').toEqual([]);
    await dialog().getByRole('button', { name: 'Existing' }).press('Enter');
    await page.getByText('Every row gets the style of “Existing”').waitFor();
    await choose('Error correction', 'High (Q)');
    expect(await accessibilityViolations(page), 'style').toEqual([]);
    await button('Create 1 code').click();
    await link('Table 1').waitFor();
    const { data } = (await account.live.get('/v1/qrcodes')).body;
    expect(data).toHaveLength(2);
    expect((await account.live.get(`/v1/qrcodes/${data[0].id}`)).body.style).toEqual({
      ...style,
      errorCorrection: 'Q',
    });
  });

  test('have names of any script, written in its direction', async () => {
    await created(account.live, { name: 'قائمة المقهى!' });
    await openList();
    await page.locator('.codes .name:dir(rtl)').press('Enter');
    await page.locator('h1:dir(rtl)').waitFor();
    await button('Edit').press('Enter');
    await dialog().locator('input:dir(rtl)').waitFor();
    await field('Name').fill('Menu');
    await dialog().locator('input:dir(rtl)').waitFor({ state: 'detached' });
  });

  test('are deleted only after the confirmation is typed', async () => {
    // A last refresh of the deleted code may fail.
    allowErrors(/404/);
    const code = await openCode({ name: 'Old flyer' });
    await button('More actions').press('Enter');
    for (const _ of ['Duplicate', 'Password', 'Delete']) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await dialog().waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    expect(await focused(page), 'the focus is back at the menu').toBe('More actions');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    expect(await button('Delete code').isDisabled()).toBe(true);
    await dialog().getByRole('textbox').fill('delete');
    await button('Delete code').click();
    await page.getByRole('heading', { name: 'Create your first QR code' }).waitFor();
    expect((await scan(code)).status).toBe(410);
  });
});

describe('one code', () => {
  test('is edited, scanned, paused, resumed and restored to a previous destination; the page updates itself', async () => {
    const code = await openCode({ destination_url: 'https://example.com/first' });
    const content = await page.getByLabel('Period').boundingBox();
    expect(content?.y, 'the header leaves room for the content').toBeLessThan(450);
    await button('Edit').click();
    await field('Name').fill('Renamed');
    await field('Destination').fill('https://example.com/second');
    await field('Note').fill('Beside the door\nof the terrace');
    await button('Save').click();
    await page.getByRole('heading', { name: 'Renamed', level: 1 }).waitFor();
    expect(await page.locator('.details .note dd').textContent()).toBe('Beside the door\nof the terrace');

    const [total] = await page.locator('.details .figure').all();
    expect(await total?.textContent()).toBe('0');
    for (let i = 0; i < 3; i++) {
      const response = await scan(code, { 'x-forwarded-for': `198.51.100.${i}` });
      expect(response.headers.get('location')).toBe('https://example.com/second');
    }
    await eventually(async () => expect(await total?.textContent()).toBe('3'));

    await button('Pause').click();
    await button('Undo').click();
    await page.getByText('Code resumed.').waitFor();
    expect((await scan(code)).headers.get('location')).toBe('https://example.com/second');
    await button('Pause').click();
    await page.locator('.badge.paused').waitFor();
    expect((await scan(code)).status).toBe(404);
    await button('Resume').click();
    await page.locator('.badge.active').first().waitFor();

    await choose('View', 'History');
    // The time machine above shows the newest change as well.
    const history = page.getByRole('region', { name: 'History' });
    await history.getByText('Renamed from').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Created' }).getByRole('button').click();
    await dialog().getByRole('button', { name: 'Restore destination' }).click();
    await history.getByText('from example.com/second to example.com/first').waitFor();
    expect((await scan(code)).headers.get('location')).toBe('https://example.com/first');
  });
});

describe('analytics', () => {
  test('show no bar of new and returning visitors for a code without scans', async () => {
    await openCode();
    await page.getByRole('heading', { name: 'No scans yet' }).waitFor();
    expect(await figure('New and returning visitors').textContent()).toMatch(/^New 0\s*Returning 0\s*$/);
    expect(await page.locator('.figures .track').count()).toBe(0);
  });

  test('show new scans, split them by destination and export them', async () => {
    const code = await openCode({ destination_url: 'https://example.com/first' });
    await page.getByRole('heading', { name: 'No scans yet' }).waitFor();
    const iphone =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1';
    const from = (address: string) => scan(code, { 'x-forwarded-for': address, 'user-agent': iphone });
    await from('8.8.8.8');
    await from('8.8.8.8');
    await account.live.patch(`/v1/qrcodes/${code.id}`, { destination_url: 'https://example.com/second' });
    await from('1.1.1.1');

    const shows = (name: string, text: string) =>
      eventually(async () => expect(await figure(name).textContent()).toContain(text));
    await shows('Scans', '3');
    await shows('Visitors', '2');
    await shows('New and returning visitors', 'New 2 (100%)');
    await shows('New and returning visitors', 'Returning 0 (0%)');
    await eventually(async () => expect(await page.locator('.figures .track').count()).toBe(1));
    await page.getByRole('region', { name: 'Devices' }).getByText('iPhone and iPad').waitFor();
    await page.getByRole('region', { name: 'Countries' }).getByText('United States').waitFor();
    await page.getByRole('link', { name: 'IP Geolocation by DB-IP' }).waitFor();
    const split = page.getByRole('region', { name: 'Scans by destination' }).getByRole('row');
    await eventually(async () =>
      expect(await split.allTextContents()).toEqual([
        'DestinationIn useScansVisitors',
        expect.stringMatching(/^example\.com\/first.*21$/),
        expect.stringMatching(/^example\.com\/second.*now11$/),
      ]),
    );

    // Figures have a scan as soon as it is inserted, exports when the insert is confirmed.
    const linesOf = (text: string) => text.trim().split('\r\n');
    await eventually(async () => {
      const { text } = await account.live.get(`/v1/qrcodes/${code.id}/analytics/export?format=csv`);
      expect(linesOf(text)).toHaveLength(4);
    });
    const csv = await downloaded(page, () => link('CSV').click());
    const lines = linesOf(csv.bytes.toString());
    expect(lines).toHaveLength(4);
    expect(lines[0], 'what a report needs').toMatch(/,destination_url,name,tags,domain$/);
    const json = await downloaded(page, () => link('JSON').click());
    expect(JSON.parse(json.bytes.toString()).data).toHaveLength(3);

    await page.getByLabel('Period').selectOption('24h');
    await page.getByText('View as table').click();
    const table = page.getByRole('region', { name: 'Table of scans over time' }).getByRole('row');
    await eventually(async () => expect(await table.count(), '24 hours and the header').toBe(25));
    await choose('View', 'Scans');
    await page.getByRole('cell', { name: 'Returning' }).waitFor();
    await eventually(async () => expect(await page.getByRole('row').count()).toBe(4));
  });
});

describe('account settings', () => {
  test('manage test keys only in test mode, and explain why', async () => {
    await openList();
    await openAccountMenu(page);
    await button('Add test mode').click();
    await field('Test API key').fill(account.keys.test);
    await dialog().getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Test codes work like live codes').waitFor();
    await page.goto(`${url}/console/test/account/keys`);
    await page.getByText('In test mode, you can manage test keys only').waitFor();
    await page.getByText('Test key', { exact: true }).waitFor();
    expect(await page.getByText('Live key', { exact: true }).count()).toBe(0);
    await button('Create key').click();
    await page.getByText('Switch to live mode to create a live key').waitFor();
    expect(await dialog().getByRole('group', { name: 'Mode' }).count()).toBe(0);
    await field('Name').fill('Script');
    await dialog().getByRole('button', { name: 'Create key' }).click();
    expect(await dialog().locator('code').textContent()).toMatch(/^sk_test_/);
    await button('Done').click();
  });

  test('create a key that is shown once, works, and stops working when revoked', async () => {
    await page.goto(`${url}/console/account/keys`);
    const badge = await page.locator('.badge.live').boundingBox();
    expect(badge?.width, 'the badge is as wide as its text').toBeLessThan(100);
    await button('Create key').click();
    await field('Name').fill('Website');
    await choose('Mode', 'Test');
    await dialog().getByRole('button', { name: 'Create key' }).click();
    const secret = await dialog().locator('code').textContent();
    expect(secret).toMatch(/^sk_test_\w{43}$/);
    expect((await service.client(0, secret ?? '').get('/v1/account')).body).toMatchObject({ mode: 'test' });
    await button('Done').click();
    await page.getByText('Website').waitFor();
    expect(await page.content(), 'the key is no longer on the page').not.toContain(secret);

    await button('Revoke Website').click();
    await button('Revoke key').click();
    await page.getByText('Website revoked.').waitFor();
    expect((await service.client(0, secret ?? '').get('/v1/account')).status).toBe(401);
  });

  test('add, test and rotate a webhook, show its deliveries and resend a failed one', async () => {
    await page.goto(`${url}/console/account`);
    await link('Webhook').click();
    await page.getByRole('heading', { name: 'No webhook yet' }).waitFor();
    await field('Webhook URL').fill('ftp://example.com');
    await button('Add webhook').click();
    await page.getByText('The webhook URL must begin with https:// or http://').waitFor();
    await takeError('400');

    await field('Webhook URL').fill('hook.invalid/scans');
    await button('Add webhook').click();
    await page.getByText('Webhook saved.').waitFor();
    expect(await field('Webhook URL').inputValue()).toBe('https://hook.invalid/scans');

    const path = newPath();
    receiver.behave(path, answer(200, 'thank you'));
    await field('Webhook URL').fill(receiver.url(path));
    await button('Save').click();
    // The button is disabled while the URL is being saved, too.
    await eventually(async () =>
      expect((await account.live.get('/v1/account/webhook')).body.url).toBe(receiver.url(path)),
    );
    await button('Send test event').click();
    await page.getByText('Your server responded with 200').waitFor();
    await page.getByText('thank you').waitFor();
    const { secret } = (await account.live.get('/v1/account/webhook')).body;
    expect(await page.content(), 'the secret is hidden at first').not.toContain(secret);
    await button('Reveal').click();
    await page.getByText(secret).waitFor();
    await button('Rotate').click();
    await button('Rotate secret').click();
    await page.getByText('also signed with the previous secret').waitFor();
    expect(await page.content()).not.toContain(secret);

    receiver.behave(path, answer(500, 'no room'));
    await scan(await created(account.live));
    const delivery = page.getByRole('region', { name: 'Deliveries' }).getByRole('listitem');
    await delivery.getByText('Pending').waitFor();
    await delivery.getByText('HTTP 500').waitFor();
    await delivery.locator('summary').click();
    await delivery.getByText('"event": "scan.created"').waitFor();
    await delivery.getByText('Your server responded with 500').first().waitFor();
    await delivery.getByText('no room').first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    receiver.behave(path, answer(204));
    await delivery.getByRole('button', { name: 'Resend' }).click();
    await delivery.getByText('Delivered').waitFor();

    // The list of deliveries may be refreshed between the removal and its response.
    allowErrors(/404/);
    await button('Remove').click();
    await button('Remove webhook').click();
    await page.getByRole('heading', { name: 'No webhook yet' }).waitFor();
  });

  test('show plan, limits and usage', async () => {
    await created(account.live);
    await openList();
    await link('Account').click();
    await page.getByRole('heading', { name: 'Business plan' }).waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByRole('button', { name: 'Plan and usage' }).click();
    await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'Create key' }).waitFor();
    await page.getByRole('button', { name: 'API keys', expanded: false }).click();
    await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: 'Plan and usage' }).click();
    expect(await page.getByLabel('Live codes used').getAttribute('value')).toBe('1');
    await page.getByText('of 250').waitFor();
  });
});

describe('every page', () => {
  test('has no serious accessibility violation and fits the screen: desktop in light, phone in dark colors', async () => {
    const code = await created(account.live, { name: 'Menu' });
    const destination_url = `https://example.com/${'long/'.repeat(40)}`;
    await account.live.patch(`/v1/qrcodes/${code.id}`, { destination_url });
    await created(account.live, { name: 'W'.repeat(120), status: 'draft' });
    await scan(code);
    const isUsableEverywhere = async (what: string) => {
      for (const { colorScheme, width, rules } of screens) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        expect(await accessibilityViolations(page, rules), `${what}, ${colorScheme}`).toEqual([]);
        expect(await horizontalOverflow(page), `${what}, ${width}`).toBe(0);
        expect(await page.evaluate(cutChoices), `choices of ${what}, ${width}`).toEqual([]);
      }
    };
    const { body: domain } = await account.live.post('/v1/domains', { name: 'go.example-cafe.com' });
    const paths = [
      `/account/domains/${domain.id}`,
      ...['', '/analytics', '/codes/new', '/codes/import', '/account', '/account/keys', '/account/webhook', '/nowhere'],
      // With the widest table of all guides.
      '/docs/operations.md',
      ...['analytics', 'scans', 'history'].map((tab) => `/codes/${code.id}?tab=${tab}`),
    ];
    for (const path of paths) {
      await page.goto(`${url}/console${path}`);
      await page.locator('h1, .empty h2').first().waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      await isUsableEverywhere(path);
    }
    for (const [name, title] of [
      ['Edit', 'Edit code'],
      ['Download', 'Download'],
      ['Delete', 'Delete Menu?'],
    ] as const) {
      if (name === 'Delete') {
        await button('More actions').click();
        await isUsableEverywhere('menu of a code');
      }
      await button(name).click();
      await dialog().getByRole('heading', { name: title }).waitFor();
      await isUsableEverywhere(title);
      await page.keyboard.press('Escape');
      await dialog().waitFor({ state: 'detached' });
    }
    await openAccountMenu(page);
    await isUsableEverywhere('account menu');
    await button('Sign out').click();
    await page.getByRole('heading', { name: 'Sign in to Scanlog' }).waitFor();
    await isUsableEverywhere('sign-in page');
  });

  test('keeps the chosen theme after a reload', async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await openList();
    await button('Switch to dark theme').click();
    await page.reload();
    expect(await page.locator('html').getAttribute('data-theme'), 'as rendered by the server').toBe('dark');
    await button('Switch to light theme').waitFor();
  });
});
