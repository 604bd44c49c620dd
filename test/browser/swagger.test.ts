import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type ConsolePage, useConsole } from '../support/console-page.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ projections: false });

let account: TestAccount;
let page: Page;
let requestCount: ConsolePage['requestCount'];
useConsole(service, { isSignedIn: false, expectedErrors: /status of 401/ }, async (opened) => {
  ({ account, page, requestCount } = opened);
  await page.goto(`${opened.url}/swagger`);
  await page.locator('.opblock').first().waitFor();
});

const operation = (id: string) => page.locator(`.opblock[id$="-${id}"]`);

/** Enters a key in the Authorize dialog and closes it. */
async function authorize(key: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const dialog = page.locator('.modal-ux');
  await dialog.locator('input').fill(key);
  await dialog.getByRole('button', { name: 'Apply credentials' }).click();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
}

/** Opens an operation, whose values are its examples. */
const openOperation = (id: string) => operation(id).locator('.opblock-summary-control').click();

/** Executes an open operation and returns the status and body that the page shows. */
async function execute(id: string): Promise<{ status: string; body: string }> {
  const block = operation(id);
  await block.getByRole('button', { name: 'Execute' }).click();
  const response = block.locator('.live-responses-table .response');
  await response.waitFor();
  return {
    status: ((await response.locator('.response-col_status').textContent()) ?? '').trim().slice(0, 3),
    body: (await response.locator('.highlight-code pre').first().textContent()) ?? '',
  };
}

// One test, since loading the page costs 5 s of CPU, and opening an operation 3 s.
test('Swagger UI shows every documented operation from its own files, and executes them with the key that was entered', async () => {
  const { paths, webhooks } = (await service.client(0).get('/swagger/json')).body;
  const documented = Object.values<object>({ ...paths, ...webhooks }).flatMap((methods) => Object.keys(methods));
  expect(await page.locator('.opblock').count()).toBe(documented.length);
  expect(await page.title()).toBe('Scanlog API');
  expect(requestCount()).toBeGreaterThanOrEqual(4);

  await openOperation('getAccount');
  const refused = await execute('getAccount');
  expect(refused.status, 'a call without a key is rejected').toBe('401');
  expect(JSON.parse(refused.body).error.code).toBe('unauthorized');

  const { id, live, keys } = account;
  await authorize(keys.live);
  await operation('getAccount').getByRole('button', { name: 'Clear' }).click();
  const response = await execute('getAccount');
  expect(response.status).toBe('200');
  expect(JSON.parse(response.body)).toMatchObject({ id, plan: 'enterprise', mode: 'live' });

  await openOperation('createQrCode');
  const created = await execute('createQrCode');
  expect(created.status, 'the example body creates a code').toBe('201');
  expect((await live.get('/v1/qrcodes')).body.data).toMatchObject([{ id: JSON.parse(created.body).id }]);
});
