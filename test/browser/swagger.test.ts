import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useService } from '../support/service.ts';

const quiet = [
  '--no-sandbox',
  '--headless=new',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const service = useService();
let browser: Browser;
let page: Page;
let requested: URL[];
let complaints: string[];

beforeAll(async () => {
  const executablePath = process.env['SCANLOG_BROWSER'];
  if (executablePath === undefined) throw new Error('SCANLOG_BROWSER must name a Chromium');
  browser = await chromium.launch({ executablePath, args: quiet });
});
afterAll(() => browser.close());

beforeEach(async () => {
  page = await browser.newPage();
  requested = [];
  complaints = [];
  page.on('request', (request) => requested.push(new URL(request.url())));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${service.urls[0]}/swagger`);
  await page.locator('.opblock').first().waitFor();
});
afterEach(() => page.close());

const operation = (id: string) => page.locator(`.opblock[id$="-${id}"]`);

/** Fills in and closes the Authorize dialog. */
async function authorize(key: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const dialog = page.locator('.modal-ux');
  await dialog.locator('input').fill(key);
  await dialog.getByRole('button', { name: 'Apply credentials' }).click();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
}

/** Executes an operation with what the page suggests, and answers with status and body that it shows. */
async function execute(id: string): Promise<{ status: string; body: string }> {
  const block = operation(id);
  await block.locator('.opblock-summary-control').click();
  await block.getByRole('button', { name: 'Execute' }).click();
  const answer = block.locator('.live-responses-table .response');
  await answer.waitFor();
  return {
    status: ((await answer.locator('.response-col_status').textContent()) ?? '').trim().slice(0, 3),
    body: (await answer.locator('.highlight-code pre').first().textContent()) ?? '',
  };
}

const strangers = () =>
  requested.filter(({ protocol, host }) => {
    return protocol !== 'data:' && host !== new URL(service.urls[0] as string).host;
  });

describe('Swagger UI', () => {
  test('shows every documented operation, with its own files only, and without complaint', async () => {
    const { paths } = (await service.client(0).get('/swagger/json')).body;
    const documented = Object.values<object>(paths).flatMap((methods) => Object.keys(methods));
    expect(await page.locator('.opblock').count()).toBe(documented.length);
    expect(await page.title()).toBe('Scanlog API');
    expect(requested.length).toBeGreaterThanOrEqual(4);
    expect(strangers(), 'no request leaves the machine').toEqual([]);
    expect(complaints).toEqual([]);

    const { status, body } = await execute('get_qrcodes');
    expect(status, 'a call without a key shows the refusal').toBe('401');
    expect(JSON.parse(body).error.code).toBe('unauthorized');
  });

  test('with a key from the Authorize dialog, calls through the page are answered', async () => {
    const { id, live, keys } = await service.account();
    await authorize(keys.live);

    const account = await execute('get_account');
    expect(account.status).toBe('200');
    expect(JSON.parse(account.body)).toMatchObject({ id, plan: 'enterprise', mode: 'live' });

    const created = await execute('post_qrcodes');
    expect(created.status, 'the example that the page suggests makes a code').toBe('201');
    expect((await live.get('/v1/qrcodes')).body.data).toMatchObject([{ id: JSON.parse(created.body).id }]);

    expect(strangers(), 'no request leaves the machine').toEqual([]);
    expect(complaints).toEqual([]);
  });
});
