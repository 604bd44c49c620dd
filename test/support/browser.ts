import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { eventually } from './eventually.ts';
import { conditionTimeoutMs } from './limits.ts';

/** A page with a record of its console messages and requests. */
export interface WatchedPage {
  page: Page;
  /** Errors and warnings in the browser console, and uncaught errors. */
  consoleErrors: string[];
  /** Waits for an error that contains `text`, and removes it from `consoleErrors`. */
  takeError(text: string): Promise<void>;
  /** URLs of requests to another host than the host of `url`. */
  externalRequests(url: string): string[];
  /** The number of requests so far. */
  requestCount(): number;
  /** Closes every page that shares its cookies. `url` is the URL of the service. */
  close(url: string): Promise<void>;
}

const defaultScreen = { viewport: { width: 1280, height: 720 }, colorScheme: 'light' } as const;

/**
 * The Chromium of the run. Each opened page has its own cookies. A closed page is emptied and opened again for the next test
 * with the same options: Chromium needs CPU for a new tab, and a second of it to compile the scripts of the site.
 */
export function useBrowser(): { open(options?: BrowserContextOptions): Promise<WatchedPage> } {
  let browser: Browser;
  beforeAll(async () => {
    const response = await fetch(inject('browserUrl'));
    const address = await response.text();
    expect(response.status, address).toBe(200);
    browser = await chromium.connect(address);
  });
  // Closes the contexts of this file and the connection; Chromium serves the other files.
  afterAll(() => browser?.close());

  /** Closed pages by the options of their contexts. */
  const closed = new Map<string, Page[]>();

  async function newPage(options: BrowserContextOptions): Promise<Page> {
    // An animation costs CPU, and a click waits for its end.
    const context = await browser.newContext({ reducedMotion: 'reduce', ...defaultScreen, ...options });
    context.setDefaultTimeout(conditionTimeoutMs);
    return context.newPage();
  }

  return {
    async open(options = {}) {
      const { viewport, colorScheme } = { ...defaultScreen, ...options };
      const key = JSON.stringify(options);
      const page = closed.get(key)?.pop() ?? (await newPage(options));
      return {
        ...watch(page),
        async close(url) {
          await empty(page, url);
          if (viewport !== null) await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme });
          closed.set(key, [...(closed.get(key) ?? []), page]);
        },
      };
    },
  };
}

/** Leaves nothing of a test in the page, which stays on the site: otherwise Chromium ends its process and forgets its scripts. */
async function empty(page: Page, url: string): Promise<void> {
  const context = page.context();
  await Promise.all(
    context
      .pages()
      .filter((other) => other !== page)
      .map((other) => other.close()),
  );
  await page.goto(`${url}/healthz`);
  for (const event of watchedEvents) page.removeAllListeners(event);
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await context.clearCookies();
}

const watchedEvents = ['request', 'console', 'pageerror'] as const;

function watch(page: Page): Omit<WatchedPage, 'close'> {
  const requestUrls: URL[] = [];
  const consoleErrors: string[] = [];
  page.on('request', (request) => requestUrls.push(new URL(request.url())));
  page.on('console', (message) => {
    // The page retries a 503 by itself, but the browser still logs it as an error.
    const isUnavailable = message.text().includes('status of 503');
    if (['error', 'warning'].includes(message.type()) && !isUnavailable) consoleErrors.push(message.text());
  });
  page.on('pageerror', (error) => consoleErrors.push(error.message));
  const takeError = (text: string) =>
    eventually(() => {
      const at = consoleErrors.findIndex((error) => error.includes(text));
      expect(at, `no error with "${text}" among ${JSON.stringify(consoleErrors)}`).not.toBe(-1);
      consoleErrors.splice(at, 1);
    });
  const externalRequests = (url: string) =>
    requestUrls
      .filter(({ protocol, host }) => !['data:', 'blob:'].includes(protocol) && host !== new URL(url).host)
      .map(({ href }) => href);
  return { page, consoleErrors, takeError, externalRequests, requestCount: () => requestUrls.length };
}
