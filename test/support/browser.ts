import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
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
  /** URLs of requests to another host than that of `url`. */
  externalRequests(url: string): string[];
  /** The number of requests so far. */
  requestCount(): number;
  /** Closes every page that shares its cookies. `url` is that of the service. */
  close(url: string): Promise<void>;
}

/**
 * The Chromium of the run. Each opened page has its own cookies. It gets the browser context of a closed page with the same
 * options: the cookies are deleted, but the compiled scripts of the site save a second of CPU.
 */
export function useBrowser(): { open(options?: BrowserContextOptions): Promise<WatchedPage> } {
  let browser: Browser;
  beforeAll(async () => {
    const answer = await fetch(inject('browserUrl'));
    const address = await answer.text();
    expect(answer.status, address).toBe(200);
    browser = await chromium.connect(address);
  });
  // Closes the contexts of this file and the connection; Chromium serves the other files.
  afterAll(() => browser?.close());

  const optionsOf = new Map<BrowserContext, string>();
  const parked = new Set<Page>();

  async function contextFor(options: BrowserContextOptions): Promise<BrowserContext> {
    const wanted = JSON.stringify(options);
    const unused = browser
      .contexts()
      .find((context) => optionsOf.get(context) === wanted && context.pages().every((page) => parked.has(page)));
    await unused?.clearCookies();
    // An animation costs CPU, and a click waits for its end.
    const context = unused ?? (await browser.newContext({ reducedMotion: 'reduce', ...options }));
    context.setDefaultTimeout(conditionTimeoutMs);
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
