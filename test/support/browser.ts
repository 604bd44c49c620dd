import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';

const chromiumArguments = [
  '--no-sandbox',
  '--headless=new',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A page with a record of its console messages and requests. */
export interface WatchedPage {
  page: Page;
  /** Errors and warnings in the browser console, and uncaught errors. */
  consoleErrors: string[];
  /** URLs of requests to another host than that of `url`. */
  externalRequests(url: string): string[];
  /** The number of requests so far. */
  requestCount(): number;
}

/** One Chromium for the test file; each opened page has its own cookies. */
export function useBrowser(): { open(options?: BrowserContextOptions): Promise<WatchedPage> } {
  let browser: Browser;
  beforeAll(async () => {
    const executablePath = process.env['SCANLOG_BROWSER'];
    if (executablePath === undefined) throw new Error('SCANLOG_BROWSER must be the path of a Chromium executable');
    browser = await chromium.launch({ executablePath, args: chromiumArguments });
  });
  afterAll(() => browser.close());
  return {
    async open(options = {}) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      page.setDefaultTimeout(10_000);
      const requestUrls: URL[] = [];
      const consoleErrors: string[] = [];
      page.on('request', (request) => requestUrls.push(new URL(request.url())));
      page.on('console', (message) => {
        // The page retries a 503 by itself, but the browser still logs it as an error.
        const isUnavailable = message.text().includes('status of 503');
        if (['error', 'warning'].includes(message.type()) && !isUnavailable) consoleErrors.push(message.text());
      });
      page.on('pageerror', (error) => consoleErrors.push(error.message));
      const externalRequests = (url: string) =>
        requestUrls
          .filter(({ protocol, host }) => !['data:', 'blob:'].includes(protocol) && host !== new URL(url).host)
          .map(({ href }) => href);
      return { page, consoleErrors, externalRequests, requestCount: () => requestUrls.length };
    },
  };
}
