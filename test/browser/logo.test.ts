import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { png } from '../logos/pictures.ts';
import { scan } from '../qr/support.ts';
import type { Json } from '../support/api.ts';
import { accessibilityViolations, darkPhone, expectUsable, useConsole } from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService();

let account: TestAccount;
let page: Page;
let url: string;
useConsole(service, { plan: 'business', browser: darkPhone }, (opened) => {
  ({ account, page, url } = opened);
});

test('a code gets a cropped logo, a frame and a gradient on a phone, with the keyboard, and its copy keeps them', async () => {
  await page.goto(`${url}/console/codes/new`);
  await page.getByLabel('Name', { exact: true }).fill('Menu');
  await page.getByLabel('Destination', { exact: true }).fill('https://example.com/menu');

  await page.getByRole('radio', { name: 'Label below' }).check();
  await page.getByLabel('Frame text').fill('Меню');
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
