import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { created, type Json } from '../support/api.ts';
import { type ConsolePage, darkPhone, expectUsable, useConsole } from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService();
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';

let account: TestAccount;
let page: Page;
let takeError: ConsolePage['takeError'];
let url: string;
useConsole(service, { plan: 'business', browser: darkPhone }, (opened) => {
  ({ account, page, takeError, url } = opened);
});

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const aCode = (): Promise<Json> => created(account.live, { name: 'First' });

describe('on a phone in the dark', () => {
  test('the time machine shows by keyboard what a code was and how it was scanned, restores it, and words a conflict', async () => {
    const code = await aCode();
    const path = `/v1/qrcodes/${code.id}`;
    for (const address of ['198.51.100.1', '198.51.100.2'])
      await service.client(0).get(`/${code.short_code}`, { 'user-agent': iphone, 'x-forwarded-for': address });
    await service.allStored();
    await eventually(async () =>
      expect((await account.live.get(`${path}/analytics`)).body).toMatchObject({ summary: { total_scans: 2 } }),
    );
    await account.live.patch(path, { name: 'Second', destination_url: 'https://example.com/second', tags: ['new'] });
    await account.live.patch(path, { active: false });

    await page.goto(`${url}/console/codes/${code.id}?tab=history`);
    const machine = page.getByRole('region', { name: 'Time machine' });
    await machine.getByText('This is the code as it is now.').waitFor();
    const slider = machine.getByRole('slider');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Version 5, /);
    await slider.focus();
    await page.keyboard.press('Home');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Version 1, /);
    await machine.getByText(/^2 scans by 2 visitors until it was changed/).waitFor();
    // The version and its scans are two requests.
    await eventually(async () =>
      expect(await machine.locator('.differs dt').allTextContents()).toEqual([
        ...['Name Different now', 'Destination Different now', 'Tags Different now'],
      ]),
    );
    await expectUsable(page);
    await page.keyboard.press('ArrowRight');
    await machine.getByText(/^0 scans/).waitFor();
    await button('Earlier version').click();

    // Someone else is faster.
    await button('Restore version 1').click();
    await account.live.patch(path, { name: 'Third' });
    await dialog().getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByRole('heading', { name: 'This code was changed meanwhile' }).waitFor();
    expect((await account.live.get(path)).body.name).toBe('Third');
    await button('Look again').click();
    await takeError('412');

    await page.getByRole('heading', { name: 'Third', level: 1 }).waitFor();
    await button('Restore version 1').click();
    await eventually(async () =>
      expect(await dialog().locator('dt').allTextContents()).toEqual(['Name', 'Destination', 'Tags']),
    );
    expect(await dialog().textContent()).toContain('The code stays paused.');
    await expectUsable(page);
    await dialog().getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByRole('heading', { name: 'First', level: 1 }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Restored version 1' }).waitFor();
    expect((await account.live.get(path)).body).toMatchObject({
      name: 'First',
      destination_url: code.destination_url,
      status: 'paused',
    });
  });

  test('what a revoked key did is undone after a preview', async () => {
    const code = await aCode();
    const key = (await account.live.post('/v1/account/keys', { name: 'Leaked', mode: 'live' })).body;
    const leaked = service.client(0, key.key);
    await leaked.patch(`/v1/qrcodes/${code.id}`, { destination_url: 'https://evil.example', active: false });
    const phishing = await created(leaked, { name: 'Phishing' });
    await account.live.patch(`/v1/qrcodes/${code.id}`, { name: 'Kept' });

    await page.goto(`${url}/console/account/keys`);
    await button('Revoke Leaked').click();
    await button('Revoke key').click();
    await page.getByText('Revoked keys (1)').click();
    await button('Undo changes by Leaked').click();
    await expectUsable(page);
    await button('Last 24 hours').click();
    await button('Show what would change').click();
    await page.getByRole('heading', { name: 'Undo 3 changes?' }).waitFor();
    expect(await dialog().locator('.changes-list section').allTextContents()).toEqual([
      'PhishingStatus: active → paused',
      'KeptDestination: https://evil.example → https://example.com/menuStatus: paused → active',
    ]);
    await expectUsable(page);
    expect((await account.live.get(`/v1/qrcodes/${phishing.id}`)).body.status).toBe('active');
    await button('Undo 3 changes').click();
    await page.getByText('Undone: 3 changes.').waitFor();
    await eventually(async () => {
      const { body } = await account.live.get(`/v1/qrcodes/${code.id}`);
      expect(body).toMatchObject({ name: 'Kept', destination_url: 'https://example.com/menu', status: 'active' });
    });
  });

  test('leaving unsaved rules asks first, by a tab, a link and Back; new rules take the time zone of the account', async () => {
    await account.live.patch('/v1/account', { timezone: 'Asia/Kolkata' });
    const code = await aCode();
    await page.goto(`${url}/console/codes/${code.id}`);
    await page.getByRole('radio', { name: 'Where it leads' }).check();
    await button('Add rule').click();
    await button('Days').click();
    const zone = page.getByLabel('Time zone');
    expect(await zone.inputValue()).toBe('Asia/Kolkata');
    expect(await zone.locator('optgroup').first().getAttribute('label')).toBe('Of your account');

    const asks = page.getByRole('heading', { name: 'Leave without saving?' });
    const leads = page.getByRole('radio', { name: 'Where it leads' });
    await page.getByRole('radio', { name: 'History' }).click();
    await asks.waitFor();
    await expectUsable(page);
    await button('Stay here').click();
    expect(await leads.isChecked()).toBe(true);
    await page.getByRole('link', { name: 'All codes' }).click();
    await asks.waitFor();
    await page.keyboard.press('Escape');
    await page.goBack();
    await asks.waitFor();
    await button('Stay here').click();
    await page.getByText('Unsaved changes').waitFor();
    await page.getByRole('radio', { name: 'History' }).click();
    await button('Discard changes').click();
    await page.getByRole('group', { name: 'List of changes' }).waitFor();
  });
});
