import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { created, type Json } from '../support/api.ts';
import { accessibilityViolations, expectUsable, useConsole } from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService();

let account: TestAccount;
let page: Page;
let url: string;
let menu: Json;

const agents = {
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1',
  android:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
  bot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
};

const scan = (code: { short_code: string }, agent: keyof typeof agents, address: string) =>
  fetch(`${url}/${code.short_code}`, {
    redirect: 'manual',
    headers: { 'x-forwarded-for': address, 'user-agent': agents[agent] },
  });

/** Four scans by people, one of them returning, and one by a bot. */
useConsole(service, { plan: 'business' }, async (opened) => {
  ({ account, page, url } = opened);
  menu = await created(account.live, { name: 'Menu', tags: ['Tables'] });
  const poster = await created(account.live, { name: 'Poster' });
  await scan(menu, 'iphone', '8.8.8.8');
  await scan(menu, 'iphone', '8.8.8.8');
  await scan(menu, 'android', '8.8.4.4');
  await scan(menu, 'bot', '8.8.8.8');
  await scan(poster, 'iphone', '8.8.8.8');
  await eventually(async () => {
    const { summary } = (await account.live.get('/v1/analytics/aggregate')).body;
    expect(summary.total_scans).toBe(5);
  });
});

const link = (name: string | RegExp) => page.getByRole('link', { name });
const region = (name: string) => page.getByRole('region', { name });
const filters = () => page.getByRole('list', { name: 'Filters' }).getByRole('listitem');
const query = () => new URL(page.url()).searchParams;

/** Waits until the figure above the chart starts with this number. */
const shows = (name: string, text: string) =>
  eventually(async () => {
    const card = page.locator('.figures div', { has: page.getByText(name, { exact: true }) });
    expect(await card.locator('dd').textContent()).toMatch(new RegExp(`^${text}\\b`));
  });

/** Waits until everything on the page belongs to its URL: what is being replaced is faint meanwhile. */
const settled = () => eventually(async () => expect(await page.locator('[aria-busy="true"]').count()).toBe(0));

const listsCodes = (names: string[]) =>
  eventually(async () =>
    expect(await region('Table of codes').getByRole('rowheader').allTextContents()).toEqual(names),
  );

test('the account has analytics over all codes, whose filters are in the URL and undone by Back', async () => {
  await page.goto(`${url}/console`);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Analytics' }).click();
  await shows('Scans', '4');
  await page.getByText('none in the 30 days before').first().waitFor({ state: 'attached' });
  await page.getByText('Last 30 days, without scans by bots.').waitFor();
  await page.getByText('New 3 (100%)').waitFor();

  await link('+1 bot').click();
  await shows('Scans', '5');
  expect(query().get('bots')).toBe('include');
  await page.goBack();
  await shows('Scans', '4');

  await region('Devices').getByRole('link', { name: 'Android' }).click();
  await shows('Scans', '1');
  await region('Countries').getByRole('link', { name: 'United States' }).click();
  await eventually(async () =>
    expect(await filters().allTextContents()).toEqual([
      'Country: United States',
      'Device: Android',
      'Remove all filters',
    ]),
  );
  expect([query().get('device'), query().get('country')]).toEqual(['android', 'US']);
  await listsCodes(['Menu']);
  await page.reload();
  await shows('Scans', '1');
  await page.goBack();
  await eventually(async () => expect(await filters().allTextContents()).toEqual(['Device: Android']));
  await link('Remove filter Device: Android').click();
  await shows('Scans', '4');

  await page.getByRole('button', { name: 'All tags' }).click();
  await page.getByRole('dialog').getByLabel('Tables').check();
  expect(await accessibilityViolations(page), 'tags').toEqual([]);
  await page.getByRole('button', { name: 'Show 1 tag' }).click();
  await shows('Scans', '3');
  await listsCodes(['Menu']);
  await link('Remove filter Tag: Tables').click();
  await shows('Scans', '4');

  await page.getByText('So far', { exact: true }).waitFor();
  await settled();
  const map = page.getByRole('group', { name: 'Map of scans by country and city' });
  const onMap = (kind: 'Countries' | 'Cities') => map.getByRole('group', { name: kind }).getByRole('link');
  for (const kind of ['Countries', 'Cities'] as const)
    expect(await onMap(kind).getAttribute('tabindex'), `${kind} are one stop of Tab`).toBe('0');
  await onMap('Countries').focus();
  await page.keyboard.press('End');
  await page.getByText('United States: 4 scans, 100%', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await eventually(async () => expect(query().get('country')).toBe('US'));
  await page.goBack();
  await onMap('Cities').focus();
  await page.getByText('Mountain View, United States: 4 scans, 100%', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await eventually(async () => expect([query().get('city'), query().get('country')]).toEqual(['Mountain View', 'US']));
  await page.goBack();

  await settled();
  const heatMap = region('Scans by weekday and hour').getByRole('table');
  expect(await heatMap.getByRole('rowheader').count()).toBe(7);
  expect(await heatMap.getByRole('columnheader').count()).toBe(25);
  const cells = await heatMap.getByRole('cell').allTextContents();
  expect(cells.reduce((sum, text) => sum + Number(text), 0)).toBe(4);
  expect(await accessibilityViolations(page)).toEqual([]);

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Account' }).click();
  await page.getByLabel('Time zone').selectOption('Pacific/Auckland');
  await page.getByText('Days and times are now in Pacific/Auckland').first().waitFor();
  expect(await accessibilityViolations(page), 'account').toEqual([]);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Analytics' }).click();
  await page.locator('.zone-note', { hasText: 'Times are in Pacific/Auckland' }).waitFor();
  await shows('Scans', '4');
});

test('codes are selected and compared, and the page of a code keeps period and filters, on a phone in dark colors', async () => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${url}/console`);
  const overview = region('Last 30 days');
  await overview.getByRole('link', { name: '+1 bot' }).click();
  await overview.getByText('1 bot included').waitFor();
  await overview.getByRole('link', { name: '5' }).click();
  await shows('Scans', '5');
  expect(query().get('bots')).toBe('include');

  await page.getByRole('button', { name: 'All codes' }).click();
  await page.getByRole('dialog').getByLabel('Poster').check();
  expect(await accessibilityViolations(page), 'dialog').toEqual([]);
  await page.getByRole('button', { name: 'Show 1 code' }).click();
  await shows('Scans', '1');
  await listsCodes(['Poster']);
  await link('Remove filter Code: Poster').click();
  await shows('Scans', '5');
  await settled();
  // A heat map of few scans has one shade; the text must be legible on all of them.
  await page.evaluate(`document.querySelectorAll('.heat-map tbody td').forEach((cell, i) => {
    cell.className = 'level-' + ((i % 5) + 1);
    cell.textContent = '4';
  })`);
  await expectUsable(page);

  await page.getByLabel('Period').selectOption('7d');
  await region('Table of codes').getByRole('link', { name: 'Menu' }).click();
  await page.getByRole('heading', { name: 'Menu', level: 1 }).waitFor();
  await shows('Scans', '4');
  expect([query().get('period'), query().get('bots')]).toEqual(['7d', 'include']);
  await page.getByLabel('Bots').selectOption('only');
  await shows('Scans', '1');
  await page.locator('.figures dd > a').first().click();
  await page.getByRole('cell', { name: 'Bot' }).waitFor();
  expect(await page.getByRole('row').count(), 'the header and the scan by the bot').toBe(2);
});

test('periods that the arrow keys pass over are not read, and are not in the history', async () => {
  const tab = await page.context().newPage();
  // Moved by hand: on a slow machine, a key may come later than the pause that chooses an option.
  await tab.clock.install();
  await tab.goto(`${url}/console/analytics`);
  await tab.getByText('Last 30 days, without scans by bots.').waitFor();
  await tab.getByLabel('Period').focus();
  await tab.clock.pauseAt(Date.now() + 60_000);
  for (const _ of ['24 hours', 'year', 'month', 'month', 'week', 'week', 'yesterday', 'today', '7 days']) {
    await tab.keyboard.press('ArrowUp');
    await tab.clock.runFor(200);
  }
  await tab.clock.resume();
  await tab.getByText('Today, without scans by bots.').waitFor();
  await tab.goBack();
  await tab.getByText('Last 30 days, without scans by bots.').waitFor();
  await tab.close();
});

test('the page is printed in light colors, its chart too', async () => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`${url}/console/analytics?period=7d`);
  await page.locator('.canvas canvas').waitFor();
  const drawing = `document.querySelector('.canvas canvas').toDataURL()`;
  await settled();
  const dark = await page.evaluate(drawing);
  // In the task after the event, before a frame: the browser prints as soon.
  const printed = await page.evaluate(`new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(${drawing});
    dispatchEvent(new Event('beforeprint'));
    port2.postMessage(undefined);
  })`);
  expect(printed).not.toBe(dark);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  await eventually(async () => expect(await page.evaluate(drawing)).toBe(printed));
});

test('the crosshair of the chart is moved by keys, and says what is there', async () => {
  await page.goto(`${url}/console/analytics?period=7d`);
  const crosshair = page.getByLabel('Scans at');
  await page.locator('.canvas canvas').waitFor();
  await crosshair.focus();
  const point = page.locator('.plot > .point');
  await point.getByText('4 scans').waitFor();
  expect(await crosshair.getAttribute('aria-valuetext')).toMatch(
    /, so far, 4 scans, 3 visitors, 0 in the week before$/,
  );
  await page.keyboard.press('ArrowLeft');
  await point.getByText('0 scans').waitFor();
  expect(await crosshair.getAttribute('aria-valuetext')).toMatch(/, 0 scans, 0 visitors/);
  await page.keyboard.press('Tab');
  await point.waitFor({ state: 'detached' });
});

test('the chart of a code marks where its destination changed, by keyboard and in the table, and a page names unknown parameters', async () => {
  await account.live.patch(`/v1/qrcodes/${menu['id']}`, { destination_url: 'https://example.com/winter' });
  await page.goto(`${url}/console/codes/${menu['id']}?periode=7d`);
  await page.getByText('A parameter of this URL has no effect on this page: “periode”.').waitFor();
  const marks = page.getByRole('group', { name: 'Changes of the destination' });
  await marks.getByRole('button', { name: /so far: Destination changed to example\.com\/winter$/ }).focus();
  await marks.locator('.point').getByText('Destination changed to example.com/winter').waitFor();
  await page.locator('summary', { hasText: 'View as table' }).press('Enter');
  await page.getByRole('cell', { name: /Destination changed to example\.com\/winter/ }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await link('Remove it').press('Enter');
  await page.locator('.ignored-parameters').waitFor({ state: 'detached' });
  expect(query().size).toBe(0);
  await page.goto(`${url}/console/codes/${menu['id']}?period=7x&bots=only`);
  await page.getByText('A parameter of this URL has no effect on this page: “period=7x”.').waitFor();
  await link('Remove it').press('Enter');
  await page.locator('.ignored-parameters').waitFor({ state: 'detached' });
  expect(query().toString(), 'what has an effect stays').toBe('bots=only');
});
