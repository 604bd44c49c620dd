import { expect, test } from 'vitest';
import { newCode } from '../support/api.ts';
import { useBrowser } from '../support/browser.ts';
import {
  accessibilityViolations,
  downloaded,
  horizontalOverflow,
  signInOn,
  smallTargets,
} from '../support/console-page.ts';
import { eventually } from '../support/eventually.ts';
import { useService } from '../support/service.ts';

const service = useService();
const browser = useBrowser();
const phoneScreen = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const;

test('the live page shows scans as they happen, the audit log who did what, on a phone in the dark', async () => {
  const url = service.urls[0] as string;
  const account = await service.account('business');
  const { body: code } = await account.live.post('/v1/qrcodes', newCode({ name: 'Poster' }));
  const scan = () => fetch(`${url}/${code.short_code}`, { redirect: 'manual' });
  const { page, consoleErrors } = await browser.open(phoneScreen);
  await signInOn(page, url, account.keys.live);
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
  expect([await accessibilityViolations(page), await smallTargets(page), await horizontalOverflow(page)]).toEqual([
    [],
    [],
    0,
  ]);

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
  expect([await accessibilityViolations(page), await smallTargets(page), await horizontalOverflow(page)]).toEqual([
    [],
    [],
    0,
  ]);
  expect(consoleErrors).toEqual([]);
  await page.context().close();
});
