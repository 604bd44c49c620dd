import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { created, type Json, newCode } from '../support/api.ts';
import {
  accessibilityViolations,
  darkPhone,
  expectUsable,
  focusedAfterPress,
  signIn,
  useConsole,
} from '../support/console-page.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService();
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';

let account: TestAccount;
let page: Page;
let url: string;
useConsole(service, { plan: 'business', browser: { ...darkPhone, timezoneId: 'America/New_York' } }, async (opened) => {
  ({ account, page, url } = opened);
  await account.live.patch('/v1/account', { timezone: 'Europe/Berlin' });
});

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const field = (name: string) => page.getByLabel(name, { exact: true });
const sentences = () => page.locator('.rule-head .sentence').allTextContents();

describe('where a code leads, on a phone in the dark', () => {
  test('rules are made of sentences, ordered by keyboard, saved at once and tried', async () => {
    const code = await created(account.live, { destination_url: 'https://example.com/menu' });
    await page.goto(`${url}/console/codes/${code.id}?tab=leads`);

    await button('Add rule').click();
    await button('Save').click();
    await page.getByText('Add a condition: without one').waitFor();
    await button('Device').click();
    await page.getByRole('checkbox', { name: 'iPhone or iPad' }).check();
    await button('Country').click();
    await field('Add country').selectOption({ label: 'Germany' });
    await button('Time of day').click();
    await field('from').fill('07:00');
    await field('to').fill('11:00');
    const rule = page.locator('.rule-fields');
    await rule.getByLabel('Destination', { exact: true }).fill('example.com/breakfast');
    await field('Name of the rule').fill('Breakfast');
    await button('Done rule 1').click();

    await button('Add A/B split').click();
    await rule.getByLabel('Destination', { exact: true }).last().fill('example.com/new');
    await rule.getByLabel('Weight', { exact: true }).last().fill('150');
    await expectUsable(page);
    expect(await focusedAfterPress(button('Move rule 2 up')), 'keeps the focus').toBe('Move rule 1 up');
    await page.getByText('This split takes everyone').waitFor();
    await button('Move rule 1 down').press('Enter');
    expect(await sentences()).toEqual([
      'Breakfast: On iPhone or iPad, in Germany, from 7:00 to 11:00 → example.com/breakfast',
      'Everyone → 25% example.com/menu, 75% example.com/new',
    ]);
    await button('Save').click();
    await page.getByText('Saved. It applies to the next scan.').waitFor();
    const { rules } = (await account.live.get(`/v1/qrcodes/${code.id}`)).body;
    expect(rules[0].when).toEqual({
      devices: ['ios'],
      countries: ['DE'],
      hours: { from: '07:00', to: '11:00' },
      timezone: 'Europe/Berlin',
    });
    expect(rules[1].split.map(({ weight }: Json) => weight)).toEqual([50, 150]);

    const who = page.getByRole('region', { name: 'Who goes where?' });
    await who.getByLabel('Country').selectOption({ label: 'Germany' });
    await who.getByLabel('Time (empty for now)').fill('2026-07-01T07:30');
    await who.getByRole('button', { name: 'Show where it leads' }).click();
    await who.getByText('example.com/breakfast').waitFor();
    await who.getByText('By rule 1: Breakfast.').waitFor();
    await who.getByLabel('Time (empty for now)').fill('2026-07-01T11:00');
    await who.getByRole('button', { name: 'Show where it leads' }).click();
    await who.getByText('By rule 2, an A/B split').waitFor();
    await who.getByRole('button', { name: 'Another visitor' }).waitFor();

    await page.getByRole('radio', { name: 'History' }).check();
    await page.getByText('Added: Breakfast: On iPhone or iPad, in Germany').waitFor();
    await fetch(`${url}/${code.short_code}`, { redirect: 'manual', headers: { 'user-agent': iphone } });
    await page.getByRole('radio', { name: 'Analytics' }).check();
    await page.getByRole('cell', { name: 'Everyone, variant B' }).waitFor();
    await page.getByRole('columnheader', { name: 'Share of scans' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  test('a schedule, a limit and tags are set, shown and filtered by', async () => {
    const body = { qrcodes: [newCode({ name: 'Terrace' }), newCode({ name: 'Bar' })] };
    const [terrace] = (await account.live.post('/v1/qrcodes/bulk', body)).body.data;
    await page.goto(`${url}/console/codes/${terrace.id}?tab=leads`);
    await page.getByText('Schedule and limit').click();
    await field('Starts').fill('2036-07-01T09:00');
    await field('Ends').fill('2036-06-01T09:00');
    await field('Scan limit').fill('500');
    await button('Save').click();
    await page.getByText('The end must be after the start.').waitFor();
    await field('Ends').fill('2036-08-01T09:00');
    await button('Save').click();
    await page.getByText('0 of 500 scans used, 500 left').waitFor();
    await page.getByText('Scheduled', { exact: true }).waitFor();
    const saved = (await account.live.get(`/v1/qrcodes/${terrace.id}`)).body;
    expect([saved.starts_at, saved.availability], 'summer in Berlin').toEqual([
      '2036-07-01T07:00:00.000Z',
      'scheduled',
    ]);
    await field('Tags').fill('Outside');
    await field('Tags').press('Enter');
    await button('Remove Outside').waitFor();
    await expectUsable(page);

    await page.goto(`${url}/console`);
    await page.getByRole('row', { name: 'Terrace' }).getByText('Scheduled', { exact: true }).waitFor();
    await page.getByLabel('Select Bar').check();
    await button('Tag').click();
    await field('Tags to add').fill('Inside');
    await field('Tags to add').press('Enter');
    await button('Save tags').click();
    await page.getByText('1 code tagged.').waitFor();
    await page.getByRole('link', { name: 'Codes tagged Inside' }).waitFor();
    await expectUsable(page);
    await field('Tag').selectOption('Outside');
    await page.getByRole('link', { name: 'Bar' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('tag')).toBe('Outside');
    await page.getByRole('link', { name: 'Terrace' }).waitFor();
  });
});

test('an account that has no time zone is asked once, and every page shows times in the one it has', async () => {
  const code = await created(account.live, { name: 'Menu' });
  const note = (zone: string) => page.locator('.zone-note', { hasText: `Times are in ${zone}` });
  const shown = (iso: string, timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(
      new Date(iso),
    );
  await page.goto(`${url}/console/codes/${code.id}?tab=history`);
  await note('Europe/Berlin').waitFor();
  const title = await page.locator('.history time').first().getAttribute('title');
  expect(title, 'of the account, not of the browser').toContain(shown(code['created_at'], 'Europe/Berlin'));
  for (const path of ['/live', '/analytics', `/codes/${code.id}`, '/account/audit']) {
    await page.goto(`${url}/console${path}`);
    await note('Europe/Berlin').waitFor();
    expect(await page.locator('.zone-note').count(), path).toBe(1);
  }
  expect(await page.getByRole('region', { name: 'Time zone' }).count(), 'it was chosen').toBe(0);

  const other = await service.account();
  await signIn(page, url, other.keys.live);
  await page.goto(`${url}/console/live`);
  await note('UTC').waitFor();
  await button('Use America/New York').waitFor();
  await expectUsable(page);
  await button('Use America/New York').press('Enter');
  await note('America/New York').waitFor();
  expect((await other.live.get('/v1/account')).body.timezone).toBe('America/New_York');

  const third = await service.account();
  await signIn(page, url, third.keys.live);
  await page.goto(`${url}/console/live`);
  await button('Keep UTC').press('Enter');
  await button('Keep UTC').waitFor({ state: 'detached' });
  await page.reload();
  await note('UTC').waitFor();
  expect(await button('Keep UTC').count(), 'it is remembered').toBe(0);
});
