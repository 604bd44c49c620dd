import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { newCode } from '../support/api.ts';
import { darkPhone, downloaded, expectUsable, useConsole } from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService();

let account: TestAccount;
let page: Page;
let url: string;
useConsole(service, { plan: 'business', browser: darkPhone }, (opened) => {
  ({ account, page, url } = opened);
});

test('the live page shows scans as they happen, the audit log who did what, on a phone in the dark', async () => {
  const { body: code } = await account.live.post('/v1/qrcodes', newCode({ name: 'Poster' }));
  const scan = () => fetch(`${url}/${code.short_code}`, { redirect: 'manual' });
  await page.getByRole('link', { name: 'Live', exact: true }).click();
  await page.getByText('Connected.').waitFor();
  const scans = page.getByRole('list', { name: 'Latest scans, newest first' }).getByRole('listitem');
  await scan();
  await eventually(async () => expect(await scans.count()).toBe(1));
  expect(await scans.first().textContent()).toContain('Poster');
  await page.getByRole('button', { name: 'Pause' }).click();
  await scan();
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
