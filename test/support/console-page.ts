import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Plan } from '../../events/plans.ts';
import { useBrowser, type WatchedPage } from './browser.ts';
import type { TestAccount, TestService } from './service.ts';

/** A phone in the dark. */
export const darkPhone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;

interface ConsoleOptions {
  plan?: Plan;
  /** False for tests that need something in the account first, and then call `signInOn`. */
  isSignedIn?: boolean;
  /** Matches what the page may log as errors, besides nothing. */
  expectedErrors?: RegExp;
  browser?: BrowserContextOptions;
}

export interface ConsolePage extends WatchedPage {
  url: string;
  account: TestAccount;
  /** Opens another page with its own cookies. */
  open(options?: BrowserContextOptions): Promise<WatchedPage>;
}

/**
 * A new account for each test, and a page that is signed in to its console. `begin` receives them before the test. The
 * page must not log errors or request anything from another host.
 */
export function useConsole(
  service: TestService,
  options: ConsoleOptions,
  begin: (opened: ConsolePage) => unknown,
): void {
  const { plan, isSignedIn = true, expectedErrors, browser: contextOptions } = options;
  const browser = useBrowser();
  let watched: WatchedPage;
  let url: string;
  beforeEach(async () => {
    url = service.urls[0] as string;
    const account = await service.account(plan);
    watched = await browser.open(contextOptions);
    if (isSignedIn) await signInOn(watched.page, url, account.keys.live);
    await begin({ ...watched, url, account, open: browser.open });
  });
  afterEach(async () => {
    const { consoleErrors, externalRequests } = watched;
    expect(consoleErrors.filter((text) => !expectedErrors?.test(text))).toEqual([]);
    expect(externalRequests(url), 'no request goes to another host').toEqual([]);
    await watched.close(url);
  });
}

/** Signs in through the form. */
export async function signInOn(page: Page, url: string, key: string): Promise<void> {
  await page.goto(`${url}/console`);
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'QR codes' }).waitFor();
}

/** Runs `click`, which must start a download, and returns the downloaded file. */
export async function downloaded(page: Page, click: () => Promise<void>): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

interface Violation {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary: string }[];
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Violations on the current page that axe rates serious or critical. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  // The page's Content-Security-Policy blocks injected script elements; `evaluate` is not subject to it.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axeSource);
  const violations = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return (violations as Violation[])
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}

/** By how many pixels the page is wider than the window. */
export const horizontalOverflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Buttons, links and fields on the page of less than 24 × 24 pixels, without links within a sentence. */
export const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(`
    [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary')]
      .map((element) => element.closest('label') ?? element)
      .filter((element) => !(element.matches('a') && element.closest('p, td, dd, .hint')))
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 1 && (box.width < 24 || box.height < 24))
      .map(({ element, box }) => element.outerHTML.slice(0, 120) + ' ' + box.width + ' × ' + box.height)`);

/** Expects a page that is accessible, as wide as the window, and whose controls a finger can hit. */
export async function expectUsable(page: Page, message?: string): Promise<void> {
  expect(await accessibilityViolations(page), message).toEqual([]);
  expect(await horizontalOverflow(page), message).toBe(0);
  expect(await smallTargets(page), message).toEqual([]);
}
