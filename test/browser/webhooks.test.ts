import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { accessibilityViolations, horizontalOverflow, signInOn, smallTargets } from '../support/console-page.ts';
import { useService } from '../support/service.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { codeOf, mayCallTests, newPath, scanCode } from '../webhooks/webhook-support.ts';

const service = useService({ config: mayCallTests });
const receiver = useReceiver();
const browser = useBrowser();

test('a webhook is created with filters, gets a replay of what it missed, is paused, resumed and removed', async () => {
  const url = service.urls[0] as string;
  const account = await service.account();
  const code = await codeOf(account.live);
  await scanCode(url, code, 3);
  const { page, consoleErrors } = await browser.open({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await signInOn(page, url, account.keys.live);
  await page.goto(`${url}/console/account/webhook`);
  await page.getByRole('link', { name: 'New webhook' }).click();
  const path = newPath();
  await page.getByLabel('URL', { exact: true }).fill(receiver.url(path));
  await page.getByLabel('Description').fill('Warehouse');
  await page.getByLabel('A code was deleted').uncheck();
  expect([await accessibilityViolations(page), await smallTargets(page), await horizontalOverflow(page)]).toEqual([
    [],
    [],
    0,
  ]);
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
  expect([await accessibilityViolations(page), await smallTargets(page), await horizontalOverflow(page)]).toEqual([
    [],
    [],
    0,
  ]);

  await button('Pause').click();
  await page.getByText('Webhook paused.').waitFor();
  await button('Resume').click();
  await page.getByText('Webhook resumed.').waitFor();
  await button('Remove').click();
  await button('Remove webhook').click();
  await page.getByRole('heading', { name: 'Webhooks for events' }).waitFor();
  expect((await account.live.get('/v1/webhooks')).body).toEqual({ data: [] });
  expect(consoleErrors).toEqual([]);
  await page.context().close();
}, 60_000);
