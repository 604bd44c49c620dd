import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
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
  /** Closes every page that shares its cookies. `url` is that of the service. */
  close(url: string): Promise<void>;
}

/**
 * One Chromium for the test file. Each opened page has its own cookies. It gets the browser context of a closed page with
 * the same options: the cookies are deleted, but the compiled scripts of the site save a second of CPU.
 */
export function useBrowser(): { open(options?: BrowserContextOptions): Promise<WatchedPage> } {
  let browser: Browser;
  beforeAll(async () => {
    const executablePath = process.env['SCANLOG_BROWSER'];
    if (executablePath === undefined) throw new Error('SCANLOG_BROWSER must be the path of a Chromium executable');
    browser = await chromium.launch({ executablePath, args: chromiumArguments });
  });
  afterAll(() => browser.close());

  const optionsOf = new Map<BrowserContext, string>();
  const parked = new Set<Page>();

  async function contextFor(options: BrowserContextOptions): Promise<BrowserContext> {
    const wanted = JSON.stringify(options);
    const unused = browser
      .contexts()
      .find((context) => optionsOf.get(context) === wanted && context.pages().every((page) => parked.has(page)));
    await unused?.clearCookies();
    const context = unused ?? (await browser.newContext(options));
    optionsOf.set(context, wanted);
    return context;
  }

  /** Keeps one page of the context: without a page of the site, Chromium ends its process and forgets its scripts. */
  async function close(context: BrowserContext, url: string): Promise<void> {
    const [first, ...others] = context.pages();
    await Promise.all(others.map((page) => page.close()));
    if (first === undefined || parked.has(first)) return;
    parked.add(first);
    await first.goto(`${url}/healthz`);
  }

  return {
    async open(options = {}) {
      const context = await contextFor(options);
      const page = await context.newPage();
      return { ...watch(page), close: (url) => close(context, url) };
    },
  };
}

function watch(page: Page): Omit<WatchedPage, 'close'> {
  page.setDefaultTimeout(30_000);
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
}
