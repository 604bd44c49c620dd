import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { png } from '../logos/images.ts';
import { scan } from '../qr/support.ts';
import { created, type Json } from '../support/api.ts';
import {
  accessibilityViolations,
  type ConsolePage,
  darkPhone,
  downloaded,
  expectUsable,
  useConsole,
} from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { codeOf, mayCallTests, newPath, scanCode } from '../webhooks/webhook-support.ts';

const service = useService({ config: mayCallTests });
const receiver = useReceiver();

let account: TestAccount;
let allowErrors: ConsolePage['allowErrors'];
let page: Page;
let url: string;
useConsole(service, { plan: 'business', browser: darkPhone }, (opened) => {
  ({ account, allowErrors, page, url } = opened);
});

const button = (name: string) => page.getByRole('button', { name, exact: true });

describe('on a phone in the dark', () => {
  test('the live page shows scans as they happen, the audit log who did what', async () => {
    const code = await created(account.live, { name: 'Poster' });
    const scanPoster = () => fetch(`${url}/${code.short_code}`, { redirect: 'manual' });
    await page.goto(`${url}/console`);
    await page.getByRole('link', { name: 'Live', exact: true }).click();
    await page.getByText('Connected.').waitFor();
    const scans = page.getByRole('list', { name: 'Latest scans, newest first' }).getByRole('listitem');
    await scanPoster();
    await eventually(async () => expect(await scans.count()).toBe(1));
    expect(await scans.first().textContent()).toContain('Poster');
    await page.getByRole('button', { name: 'Pause' }).click();
    await scanPoster();
    await page.getByText('Paused. 1 newer scan.').waitFor();
    expect(await scans.count()).toBe(1);
    await page.getByRole('button', { name: 'Resume' }).click();
    await eventually(async () => expect(await scans.count()).toBe(2));
    await expectUsable(page);

    await page.goto(`${url}/console/account/audit`);
    await page.getByText('Signed in to the console').waitFor();
    await page.getByLabel('Done by').selectOption('operator');
    await page.getByText('Signed in to the console').waitFor({ state: 'detached' });
    const { name, bytes } = await downloaded(page, () => page.getByRole('button', { name: 'Export' }).click());
    expect(name).toBe('audit.ndjson');
    const types = bytes
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types).toEqual(['account.created', 'key.created', 'key.created']);
    await expectUsable(page);
  });

  test('a code gets a cropped logo, a frame and a gradient with the keyboard, and its copy keeps them', async () => {
    await page.goto(`${url}/console/codes/new`);
    await page.getByLabel('Name', { exact: true }).fill('Menu');
    await page.getByLabel('Destination', { exact: true }).fill('https://example.com/menu');

    await page.getByRole('radio', { name: 'Label below' }).check();
    await page.getByLabel('Frame text').fill('Меню');
    await page.getByText('Shapes, colors and print').click();
    await page.getByRole('group', { name: 'Dots gradient' }).first().getByRole('radio', { name: 'Linear' }).check();
    await page.getByLabel('Logo file').setInputFiles({
      name: 'logo.png',
      mimeType: 'image/png',
      buffer: png({ width: 300, height: 200 }),
    });
    await page.getByLabel('Zoom').press('ArrowRight');
    await page.getByLabel('Left to right').press('ArrowLeft');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Use this crop' }).press('Enter');
    await page.getByRole('radio', { name: 'Logo 1, PNG, 512 × 512' }).waitFor();

    // The preview has the logo and the text.
    const preview = page.getByRole('complementary', { name: 'Preview' }).getByRole('img');
    await eventually(async () => {
      const drawn = decodeURIComponent((await preview.getAttribute('src')) ?? '');
      expect(drawn).toContain('<image ');
      expect(drawn.match(/<path /g)).toHaveLength(6);
    });
    await expectUsable(page);

    // A logo that does not fit is named at once, and shown again when it fits.
    const status = page.getByRole('complementary', { name: 'Preview' }).getByRole('status');
    const [size, margin] = [page.getByLabel('Logo size'), page.getByLabel('Logo margin')];
    const fitting = { size: await size.inputValue(), margin: await margin.inputValue() };
    for (const slider of [size, margin]) await slider.press('End');
    await eventually(async () =>
      expect(await status.textContent()).toMatch(/The logo is too large.*Lower the logo size/s),
    );
    expect(decodeURIComponent((await preview.getAttribute('src')) ?? '')).not.toContain('<image ');
    await size.fill(fitting.size);
    await margin.fill(fitting.margin);
    await eventually(async () => expect(await status.textContent()).not.toContain('too large'));

    await page.getByRole('button', { name: 'Create code' }).click();
    await page.waitForURL(/\/codes\/qr_/);
    const id = /qr_\w+/.exec(page.url())?.[0];
    const { body: code }: Json = await account.live.get(`/v1/qrcodes/${id}`);
    expect(code.style).toMatchObject({
      logo: { id: expect.stringMatching(/^logo_/) },
      frame: { type: 'label-bottom', text: 'Меню' },
      dotsGradient: { type: 'linear' },
    });
    const image = await fetch(`${url}/images/${id}/public`);
    expect(await scan(new Uint8Array(await image.arrayBuffer()))).toEqual([code.short_url]);

    await page.goto(`${url}/console/codes/new?from=${id}`);
    await page.getByRole('button', { name: 'Create code' }).click();
    await page.waitForURL((to) => /qr_/.test(to.pathname) && !to.pathname.includes(id as string));
    const copy: Json = await account.live.get(`/v1/qrcodes/${/qr_\w+/.exec(page.url())?.[0]}`);
    expect(copy.body.style).toEqual(code.style);
  });

  test('a proof while creating, a download in millimeters, and a label sheet', async () => {
    const code = await created(account.live, { name: 'Table 1' });

    await page.goto(`${url}/console/codes/new`);
    await page.getByText(/^Scans down to 1\d mm$/).waitFor();
    await page.getByText('Shapes, colors and print').click();
    await page.getByLabel('Dots color', { exact: true }).fill('#CCCCCC');
    await page.getByText('Some scanners fail').waitFor();
    await page.getByText('The dots (#CCCCCC)').waitFor();

    await page.goto(`${url}/console/codes/${code.id}`);
    await page.getByText(/^Scans down to 1\d mm$/).waitFor();
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByRole('radio', { name: 'Millimeters' }).check();
    await page.getByLabel('Width in millimeters').first().fill('25.4');
    await page.getByText('300 pixels wide.').waitFor();
    await expectUsable(page);
    const png = await downloaded(page, () => page.getByRole('link', { name: 'Download PNG' }).click());
    expect(await scan(png.bytes)).toEqual([code.short_url]);
    await page.getByRole('radio', { name: 'PDF' }).check();
    await page.getByRole('radio', { name: 'CMYK' }).check();
    const pdf = await downloaded(page, () => page.getByRole('link', { name: 'Download PDF' }).click());
    expect(pdf.name).toBe(`${code.short_code}.pdf`);
    expect(pdf.bytes.toString('latin1')).toContain('/MediaBox[0 0 72 72]');

    await page.goto(`${url}/console`);
    await page.getByRole('checkbox', { name: /Table 1/ }).check();
    await page.getByRole('button', { name: 'Print', exact: true }).click();
    await page.getByLabel('Label sheet').selectOption('letter-3x10');
    await page.getByLabel('Labels already used on the first sheet').fill('30');
    await page.getByText('Enter a number from 0 to 29.').waitFor();
    await page.getByLabel('Labels already used on the first sheet').fill('4');
    await page.getByText('1 label on 1 sheet').waitFor();
    await expectUsable(page);
    const sheet = await downloaded(page, () => page.getByRole('button', { name: 'Download PDF' }).click());
    expect(sheet.name).toMatch(/^labels-.*\.pdf$/);
    expect(sheet.bytes.toString('latin1')).toContain('/MediaBox[0 0 612 792]');
  });

  test('a webhook is created with filters, gets a replay of what it missed, is paused, resumed and removed', async () => {
    const code = await codeOf(account.live);
    await scanCode(url, code, 3);
    await page.goto(`${url}/console/account/webhook`);
    await page.getByRole('link', { name: 'New webhook' }).click();
    const path = newPath();
    await page.getByLabel('URL', { exact: true }).fill(receiver.url(path));
    await page.getByLabel('Description').fill('Warehouse');
    await page.getByLabel('A code was deleted').uncheck();
    await expectUsable(page);
    await button('Create webhook').click();
    await page.getByText('Webhook created.').waitFor();
    const [webhook] = (await account.live.get('/v1/webhooks')).body.data;
    expect(webhook).toMatchObject({ description: 'Warehouse', qr_ids: null, active: true });
    expect(webhook.events).not.toContain('code.deleted');

    await button('Replay events').click();
    await button('Start replay').click();
    await page.getByText('Replay of 4 events started.').waitFor();
    await page.getByText('4 of 4 sent').waitFor();
    expect(await receiver.gets(path, 4)).toHaveLength(4);
    await page.getByRole('region', { name: 'Deliveries' }).getByText('Delivered').nth(1).waitFor();
    await expectUsable(page);

    await button('Pause').click();
    await page.getByText('Webhook paused.').waitFor();
    await button('Resume').click();
    await page.getByText('Webhook resumed.').waitFor();
    // A last refresh of the removed webhook may fail.
    allowErrors(/404/);
    await button('Remove').click();
    await button('Remove webhook').click();
    await page.getByRole('heading', { name: 'Webhooks for events' }).waitFor();
    expect((await account.live.get('/v1/webhooks')).body).toEqual({ data: [] });
  });
});
