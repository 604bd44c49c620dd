import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { created, type Json, newCode } from '../support/api.ts';
import { accessibilityViolations, downloaded, expectUsable, focused, useConsole } from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { readZip } from '../support/zip.ts';

const service = useService();
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';

let account: TestAccount;
let page: Page;
let url: string;
let allowErrors: (pattern: RegExp) => void;
useConsole(service, { browser: { acceptDownloads: true } }, (opened) => {
  ({ account, page, url, allowErrors } = opened);
});

/** Opens the console of an account with `count` codes, named "Code 1" to "Code <count>". */
async function openWith(count: number): Promise<void> {
  const qrcodes = Array.from({ length: count }, (_, i) => newCode({ name: `Code ${i + 1}` }));
  expect((await account.live.post('/v1/qrcodes/bulk', { qrcodes })).status).toBe(201);
  await page.goto(`${url}/console`);
}

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const link = (name: string | RegExp) => page.getByRole('link', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const names = () => page.locator('table .name').allTextContents();
const shows = (expected: string[]) => eventually(async () => expect(await names()).toEqual(expected));
const codeNames = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => `Code ${from - i}`);
const query = () => new URL(page.url()).search;

describe('the pages of a list', () => {
  test('are numbered and undone by Back, and their codes are selected, edited and undone together', async () => {
    await openWith(47);
    await page.setViewportSize({ width: 1280, height: 700 });
    await shows(codeNames(47, 28));
    await link('Next page').click();
    await shows(codeNames(27, 8));
    await eventually(async () => {
      expect(await page.evaluate(`document.activeElement.getAttribute('aria-label')`)).toBe(
        'List of codes, page 2 of 3',
      );
      const top = await page.evaluate('document.activeElement.getBoundingClientRect().top');
      expect(top).toBeGreaterThanOrEqual(0);
      expect(top).toBeLessThan(100);
    });
    await link('Page 3').click();
    await shows(codeNames(7, 1));
    expect(await link('Page 3').getAttribute('aria-current')).toBe('page');
    await page.goBack();
    await shows(codeNames(27, 8));
    await page.getByLabel('Per page').selectOption('50');
    await shows(codeNames(47, 1));
    expect(query()).toBe('?limit=50');
    expect(await accessibilityViolations(page)).toEqual([]);

    await page.goto(`${url}/console/codes?page=99`);
    await page.getByRole('heading', { name: 'Page 99 is past the end' }).waitFor();
    await link('Go to the last page').click();
    await shows(codeNames(7, 1));
    await page.goto(`${url}/console?page=abc&sort=size&status=gone`);
    await shows(codeNames(47, 28));
    await page.getByText('have no effect on this page: “page=abc”, “sort=size”, “status=gone”.').waitFor();

    const destinations = async () => {
      const { data } = (await account.live.get('/v1/qrcodes?limit=100')).body;
      return new Set(data.map(({ destination_url }: Json) => destination_url));
    };
    const before = await destinations();
    await page.getByLabel('Select all codes on this page').press('Space');
    await button('Select all 47').press('Enter');
    await page.getByText('47 codes selected').waitFor();
    expect(await focused(page), 'the button is gone').toBe('47 codes selected');
    await button('Edit').press('Enter');
    allowErrors(/400 \(Bad Request\)/);
    await dialog().getByLabel('New destination of all codes').fill('https://example.com/all');
    await dialog().getByLabel('Find in destinations').fill('https://example.com');
    await page.keyboard.press('Enter');
    await dialog().getByText('Replace a text, or set a new destination, but not both.').waitFor();
    await dialog().getByLabel('New destination of all codes').fill('');
    await dialog().getByLabel('Replace with').fill('https://new.example');
    expect(await accessibilityViolations(page), 'edit').toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Change 47 codes?' }).waitFor();
    expect(await dialog().getByRole('listitem').count()).toBe(47);
    expect(await accessibilityViolations(page), 'preview').toEqual([]);
    expect(await destinations(), 'nothing is changed yet').toEqual(before);
    await dialog().getByRole('button', { name: 'Change 47 codes' }).press('Enter');
    await page.getByText('47 codes changed.').waitFor();
    // It stays while it has the focus.
    await button('Undo').focus();
    expect([...(await destinations())].every((to) => String(to).startsWith('https://new.example'))).toBe(true);
    await button('Undo').press('Enter');
    await page.getByText('Undone.').waitFor();
    expect(await destinations()).toEqual(before);

    await button('Edit').press('Enter');
    await dialog().getByRole('radio', { name: 'Pause' }).check();
    await dialog().getByLabel('Tags to add').fill('Winter');
    await page.keyboard.press('Enter');
    await button('Show what would change').press('Enter');
    await page.getByRole('heading', { name: 'Change 47 codes?' }).waitFor();
    await dialog().getByText('Winter').first().waitFor();
    await dialog().getByRole('button', { name: 'Change 47 codes' }).press('Enter');
    await page.getByText('47 codes changed.').waitFor();
    await button('Undo').focus();
    const changed = async () => (await account.live.get('/v1/qrcodes?tag=Winter&status=paused')).body.pagination.total;
    expect(await changed()).toBe(47);
    await button('Undo').press('Enter');
    await eventually(async () => expect(await changed()).toBe(0));
  });

  test('find a code by its short link or id, and keep the search on the way back from it', async () => {
    await openWith(3);
    const [code] = (await account.live.get('/v1/qrcodes?q=Code+2')).body.data;
    const search = page.getByLabel('Search codes');
    await search.fill(code.short_url);
    await shows(['Code 2']);
    await search.fill(code.id);
    await shows(['Code 2']);
    await search.fill('code 3');
    await shows(['Code 3']);
    await link('Code 3').click();
    await page.getByRole('heading', { name: 'Code 3', level: 1 }).waitFor();
    const view = (name: string) => page.getByRole('radio', { name, exact: true });
    await view('History').check();
    await page.reload();
    expect(await view('History').isChecked()).toBe(true);
    await page.getByRole('group', { name: 'List of changes' }).waitFor();
    await view('Analytics').check();
    await page.getByLabel('Period').selectOption('7d');
    await eventually(async () => expect(query()).toContain('period=7d'));
    await page.goBack();
    await eventually(async () => expect(query()).not.toContain('period=7d'));
    await page.goBack();
    await eventually(async () => expect(await view('History').isChecked()).toBe(true));
    await link('All codes').click();
    await shows(['Code 3']);
    expect(await search.inputValue()).toBe('code 3');
  });
});

describe('the display of the list', () => {
  test('is sorted by its headers, has scans of 30 days, and keeps columns, density and views in this browser', async () => {
    await openWith(3);
    const [, second] = (await account.live.get('/v1/qrcodes')).body.data;
    await account.live.patch(`/v1/qrcodes/${second.id}`, { active: false, destination_url: 'https://a.example/' });
    const newest = await created(account.live, { name: 'Code 4' });
    await fetch(newest['short_url'], { redirect: 'manual', headers: { 'user-agent': iphone } });
    await page.setViewportSize({ width: 1920, height: 900 });
    await eventually(async () =>
      expect((await account.live.get('/v1/analytics/aggregate?bots=exclude')).body.summary.total_scans).toBe(1),
    );
    await page.reload();
    const row = page.getByRole('row', { name: /Code 4/ });
    await row.locator('.sparkline').waitFor();
    expect(await row.locator('.recent').textContent()).toBe('1 in 30 days');
    const table = page.getByRole('table');
    expect((await table.boundingBox())?.width, 'the list uses the width').toBeGreaterThan(1800);
    const header = (name: string) => page.getByRole('columnheader', { name, exact: true });
    for (const [name, first, second] of [
      ['Code', 'Code 1', 'Code 4'],
      ['Destination', 'Code 2', 'Code 4'],
      ['Status', 'Code 4', 'Code 2'],
      ['Scans, all time', 'Code 4', 'Code 3'],
    ] as const) {
      await header(name).getByRole('link').press('Enter');
      await eventually(async () => expect((await names())[0], name).toBe(first));
      await header(name).getByRole('link').press('Enter');
      await eventually(async () => expect((await names())[0], `${name}, reversed`).toBe(second));
      expect(await header(name).getAttribute('aria-sort')).not.toBe('none');
    }
    expect(await header('Scans, 30 days').getByRole('link').count(), 'the API cannot sort by it').toBe(0);

    const rowHeight = async () => (await page.getByRole('row').nth(1).boundingBox())?.height ?? 0;
    const comfortable = await rowHeight();
    await button('Display').press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await eventually(async () => expect(await rowHeight()).toBeLessThan(comfortable * 0.7));
    await page.getByRole('checkbox', { name: 'Destination' }).press('Space');
    await header('Destination').waitFor({ state: 'detached' });
    expect(await accessibilityViolations(page), 'display').toEqual([]);
    await page.keyboard.press('Escape');

    await page.getByRole('radio', { name: 'Paused' }).check();
    await shows(['Code 2']);
    await button('Views').press('Enter');
    await button('Save this view').press('Enter');
    const name = dialog().getByLabel('Name');
    await name.press('Enter');
    await dialog().getByText('Give the view a name.').waitFor();
    expect(await accessibilityViolations(page), 'save').toEqual([]);
    await name.fill('On hold');
    await name.press('Enter');
    await button('View: On hold').waitFor();
    await page.goto(`${url}/console`);
    await button('Display').press('Enter');
    await page.getByRole('checkbox', { name: 'Destination' }).press('Space');
    await header('Destination').waitFor();
    await page.keyboard.press('Escape');
    await button('Views').press('Enter');
    await button('On hold').press('Enter');
    await shows(['Code 2']);
    await header('Destination').waitFor({ state: 'detached' });
    expect(query()).toBe('?status=paused&sort=total_scans');
    await button('View: On hold').press('Enter');
    await button('Delete view “On hold”').press('Enter');
    await button('Views').waitFor();
    await button('Undo').press('Enter');
    await button('View: On hold').waitFor();
  });

  test('is used by keys, which do nothing in a field, and a palette finds pages, codes and actions', async () => {
    await openWith(3);
    await shows(codeNames(3, 1));
    const focused = () => page.evaluate('document.activeElement.textContent');
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('j', 'j');
    expect(await focused()).toBe('Code 2');
    await press('k');
    expect(await focused()).toBe('Code 3');
    await press('j', 'Enter');
    await page.getByRole('heading', { name: 'Code 2', level: 1 }).waitFor();
    await page.goBack();
    await shows(codeNames(3, 1));
    await press('/');
    const search = page.getByLabel('Search codes');
    await page.keyboard.type('jck?/ ');
    await press('Control+k');
    expect(await search.inputValue()).toBe('jck?/ ');
    expect(await dialog().count()).toBe(0);
    await search.fill('');
    await shows(codeNames(3, 1));
    await page.getByRole('heading', { level: 1 }).focus();

    await press('Control+k');
    const field = dialog().getByRole('combobox');
    await dialog().getByRole('option', { name: 'Create code' }).waitFor();
    expect(await accessibilityViolations(page), 'palette').toEqual([]);
    await field.fill('code 1');
    const found = dialog().getByRole('option', { name: /^Code 1/ });
    await found.waitFor();
    expect(await field.getAttribute('aria-activedescendant')).toBe(await found.getAttribute('id'));
    await press('Enter');
    await page.getByRole('heading', { name: 'Code 1', level: 1 }).waitFor();
    await press('Meta+k');
    await field.fill('audit');
    await field.press('Enter');
    await page.waitForURL('**/account/audit');
    await press('/');
    await field.fill('nothing like this');
    await dialog().getByText('Nothing found.').waitFor();
    await press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await press('c');
    await page.waitForURL('**/codes/new');
    await page.getByRole('heading', { level: 1 }).focus();
    await press('?');
    await dialog().getByText('Keyboard shortcuts').waitFor();
    expect(await accessibilityViolations(page), 'keys').toEqual([]);
    await dialog()
      .getByLabel(/^Use single keys/)
      .press('Space');
    await press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await press('?', 'Control+k');
    await field.waitFor();
    expect(await dialog().count(), 'single keys are off').toBe(1);
  });
});

describe('selected codes', () => {
  test('are paused, resumed, downloaded as a ZIP file and deleted together, by keyboard alone', async () => {
    await openWith(4);
    await shows(codeNames(4, 1));
    const statuses = async () => (await account.live.get('/v1/qrcodes')).body.data.map(({ status }: Json) => status);
    for (const name of ['Select Code 4', 'Select Code 2']) {
      await page.getByLabel(name, { exact: true }).focus();
      await page.keyboard.press('Space');
    }
    await page.getByText('2 codes selected').waitFor();
    await button('Pause 2').press('Enter');
    await page.getByText('2 codes paused.').waitFor();
    expect(await statuses()).toEqual(['paused', 'active', 'paused', 'active']);
    // In a dialog, too, which makes everything outside it inert.
    await button('Tag').press('Enter');
    await dialog().getByRole('button', { name: 'Undo' }).press('Enter');
    await dialog().getByText('2 codes resumed.').waitFor();
    expect(await focused(page), 'the focus is back where it was').toBe('Tags to add');
    expect(await statuses()).toEqual(['active', 'active', 'active', 'active']);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await page.getByText('2 codes resumed.').waitFor();
    await button('Pause 2').press('Enter');
    await page.getByText('2 codes paused.').waitFor();
    expect(await statuses()).toEqual(['paused', 'active', 'paused', 'active']);
    await page.getByLabel('Select all codes on this page').press('Space');
    await page.getByText('4 codes selected').waitFor();
    await button('Resume 2').press('Enter');
    await eventually(async () => expect(await statuses()).toEqual(['active', 'active', 'active', 'active']));
    await button('Pause 4').waitFor();

    await button('Download ZIP').press('Enter');
    await dialog().getByRole('radio', { name: 'PNG' }).press('ArrowRight');
    expect(await accessibilityViolations(page)).toEqual([]);
    const zip = await downloaded(page, () => dialog().getByRole('button', { name: 'Download ZIP' }).press('Enter'));
    await dialog().waitFor({ state: 'detached' });
    expect(zip.name).toMatch(/^qr-codes-[\d-]+\.zip$/);
    const { data } = (await account.live.get('/v1/qrcodes')).body;
    const shortCodes = data.map(({ short_url }: Json) => new URL(short_url).pathname.slice(1));
    const files = readZip(zip.bytes);
    expect(files.map(({ name }) => name)).toEqual(shortCodes.map((code: string) => `${code}.svg`));
    const single = await account.live.get(`/v1/qrcodes/${data[0].id}/download?format=svg&size=1024`);
    expect(files[0]?.bytes.toString()).toBe(single.text);

    await page.getByLabel('Select Code 1', { exact: true }).press('Space');
    await button('Delete').press('Enter');
    await eventually(async () => expect(await page.evaluate('document.activeElement.tagName')).toBe('INPUT'));
    await page.keyboard.type('delete');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('3 codes deleted.').waitFor();
    await shows(['Code 1']);
    await page.getByText('selected').waitFor({ state: 'detached' });
  });
});

describe('on a phone', () => {
  test('the list uses its width, targets are large enough, and tables show that they scroll', async () => {
    await openWith(21);
    const [code] = (await account.live.get('/v1/qrcodes')).body.data;
    await fetch(code.short_url, { redirect: 'manual' });
    await eventually(async () =>
      expect((await account.live.get('/v1/analytics/aggregate')).body.summary.total_scans).toBe(1),
    );
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 800 });
    await page.reload();
    const overview = page.getByRole('region', { name: 'Last 30 days' });
    await overview.waitFor();
    const [card, figures] = await Promise.all([overview.boundingBox(), overview.locator('dl').boundingBox()]);
    expect(figures?.width).toBeGreaterThan((card?.width ?? 0) * 0.8);
    await page.getByLabel('Select Code 21', { exact: true }).check();
    await button('Pause 1').waitFor();
    for (const path of [
      '',
      `/codes/${code.id}?tab=scans&bots=include`,
      `/codes/${code.id}?tab=history`,
      '/account/webhook',
    ]) {
      if (path !== '') await page.goto(`${url}/console${path}`);
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      await expectUsable(page, path);
    }
    await page.goto(`${url}/console/codes/${code.id}?tab=scans&bots=include`);
    const table = page.getByRole('region', { name: 'Scans' });
    await table.getByRole('table').waitFor();
    const scroll = `document.querySelector('.scroll')`;
    expect(await page.evaluate(`${scroll}.scrollWidth > ${scroll}.clientWidth`)).toBe(true);
    expect(await page.evaluate(`getComputedStyle(${scroll}).backgroundImage`)).toContain('gradient');
  });
});
