import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { scan } from '../qr/support.ts';
import { newCode } from '../support/api.ts';
import { darkPhone, downloaded, expectUsable, useConsole } from '../support/console-page.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService();

let account: TestAccount;
let page: Page;
let url: string;
useConsole(service, { browser: { ...darkPhone, acceptDownloads: true } }, (opened) => {
  ({ account, page, url } = opened);
});

test('proof while creating, download in millimeters, and a label sheet, on a phone in dark colors', async () => {
  const { body: code } = await account.live.post('/v1/qrcodes', newCode({ name: 'Table 1' }));

  await page.goto(`${url}/console/codes/new`);
  await page.getByText(/^Scans down to 1\d mm$/).waitFor();
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
