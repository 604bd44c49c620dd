import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Plan } from '../../events/plans.ts';
import { useBrowser, type WatchedPage } from './browser.ts';
import type { TestAccount, TestService } from './service.ts';

/** A phone in the dark. */
export const darkPhone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;

interface ConsoleOptions {
  plan?: Plan;
  /** False for pages that need no session. */
  isSignedIn?: boolean;
  /** Matches what the page may log as errors, besides nothing. */
  expectedErrors?: RegExp;
  browser?: BrowserContextOptions;
}

export interface ConsolePage extends WatchedPage {
  url: string;
  account: TestAccount;
  /** Lets the page log errors that match, in this test. */
  allowErrors(pattern: RegExp): void;
  /** Opens another page with its own cookies. */
  open(options?: BrowserContextOptions): Promise<WatchedPage>;
}

/**
 * A new account for each test, and an empty page with the cookies of a session in its console. `begin` receives them
 * before the test. The page must not log errors or request anything from another host.
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
  let allowed: RegExp[];
  beforeEach(async () => {
    url = service.urls[0] as string;
    allowed = expectedErrors === undefined ? [] : [expectedErrors];
    const account = await service.account(plan);
    watched = await browser.open(contextOptions);
    if (isSignedIn) await signIn(watched.page, url, account.keys.live);
    await begin({ ...watched, url, account, open: browser.open, allowErrors: (pattern) => allowed.push(pattern) });
  });
  afterEach(async () => {
    const { consoleErrors, externalRequests } = watched;
    expect(consoleErrors.filter((text) => !allowed.some((pattern) => pattern.test(text)))).toEqual([]);
    expect(externalRequests(url), 'no request goes to another host').toEqual([]);
    await watched.close(url);
  });
}

/** Signs in as the form does, without loading the pages before and after it. */
export async function signIn(page: Page, url: string, key: string): Promise<void> {
  const response = await page.request.post(`${url}/console/session`, {
    form: { key },
    headers: { 'sec-fetch-site': 'same-origin' },
    maxRedirects: 0,
  });
  expect(response.status(), await response.text()).toBe(303);
}

/** What has the focus: its label, or its text. */
export const focused = (page: Page): Promise<string> => page.evaluate(focusedLabel);

const focusedLabel = `
  document.activeElement.getAttribute('aria-label') ??
  document.activeElement.labels?.[0]?.textContent ??
  document.activeElement.textContent`;

/**
 * Presses a button, and returns what has the focus in the task after it, before the browser has drawn a frame: a user types on
 * as fast.
 */
export const focusedAfterPress = (button: Locator): Promise<string> => button.evaluate(pressAndTellFocus);

/** A function of the browser's, because Playwright calls no text with the element. */
const pressAndTellFocus = new Function(
  'button',
  `return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(${focusedLabel});
    button.focus();
    button.click();
    port2.postMessage(undefined);
  })`,
) as (button: unknown) => Promise<string>;

/** Opens the menu with the mode, help and sign-out. */
export const openAccountMenu = (page: Page): Promise<void> =>
  page.getByRole('button', { name: /^Account menu/ }).click();

/** Runs `click`, which must start a download, and returns the downloaded file. */
export async function downloaded(page: Page, click: () => Promise<void>): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  const chunks = await (await download.createReadStream()).toArray();
  return { name: download.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What axe reports about the current page, of all rules or of those named. Of a page with a modal dialog only the dialog is
 * looked at: what is behind it cannot be used.
 */
export async function accessibilityViolations(page: Page, rules: 'all' | readonly string[] = 'all'): Promise<string[]> {
  // The page's Content-Security-Policy blocks injected script elements; `evaluate` is not subject to it.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axeSource);
  // Without `preload`, which fetches style sheets again for a rule that is not enabled.
  const options = { resultTypes: ['violations'], preload: false, ...(rules === 'all' ? {} : { runOnly: rules }) };
  const violations = await page.evaluate(
    `axe.run([...document.querySelectorAll('dialog:modal')].at(-1) ?? document, ${JSON.stringify(options)})
      .then(({ violations }) => violations)`,
  );
  return (violations as Violation[]).flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
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
