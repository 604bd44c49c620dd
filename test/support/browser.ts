import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';

const quiet = [
  '--no-sandbox',
  '--headless=new',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A page, and what its owner would like to know of it. */
export interface Watched {
  page: Page;
  /** Errors and warnings in the browser's console, and errors that nobody caught. */
  complaints: string[];
  /** Requests to anywhere but `url`. */
  strangers(url: string): string[];
  /** How many requests were made. */
  requests(): number;
}

/** One Chromium for the file; each page that is opened has cookies of its own. */
export function useBrowser(): { open(options?: BrowserContextOptions): Promise<Watched> } {
  let browser: Browser;
  beforeAll(async () => {
    const executablePath = process.env['SCANLOG_BROWSER'];
    if (executablePath === undefined) throw new Error('SCANLOG_BROWSER must name a Chromium');
    browser = await chromium.launch({ executablePath, args: quiet });
  });
  afterAll(() => browser.close());
  return {
    async open(options = {}) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      page.setDefaultTimeout(10_000);
      const requested: URL[] = [];
      const complaints: string[] = [];
      page.on('request', (request) => requested.push(new URL(request.url())));
      page.on('console', (message) => {
        // A part that is busy may say so, and is asked again; the browser would report it all the same.
        const isBusy = message.text().includes('status of 503');
        if (['error', 'warning'].includes(message.type()) && !isBusy) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      const strangers = (url: string) =>
        requested
          .filter(({ protocol, host }) => !['data:', 'blob:'].includes(protocol) && host !== new URL(url).host)
          .map(({ href }) => href);
      return { page, complaints, strangers, requests: () => requested.length };
    },
  };
}
