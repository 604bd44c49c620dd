import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { darkPhone, expectUsable, useConsole } from '../support/console-page.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { codeOf, mayCallTests, newPath, scanCode } from '../webhooks/webhook-support.ts';

const service = useService({ config: mayCallTests });
const receiver = useReceiver();

let account: TestAccount;
let page: Page;
let url: string;
useConsole(service, { browser: darkPhone }, (opened) => {
  ({ account, page, url } = opened);
});

const button = (name: string) => page.getByRole('button', { name, exact: true });

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
  await button('Remove').click();
  await button('Remove webhook').click();
  await page.getByRole('heading', { name: 'Webhooks for events' }).waitFor();
  expect((await account.live.get('/v1/webhooks')).body).toEqual({ data: [] });
});
