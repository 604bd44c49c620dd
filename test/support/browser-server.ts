import { type BrowserServer, chromium } from 'playwright-core';
import { conditionTimeoutMs } from './limits.ts';

const chromiumArguments = [
  '--no-sandbox',
  '--headless=new',
  '--disable-gpu',
  // A process less for each page to talk to: a seventh of Chromium's CPU.
  '--in-process-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * One Chromium for all test files, since each start costs two seconds of CPU. It is started by the first GET of `url`, which
 * returns the address that Playwright connects to.
 */
export function serveBrowser(): { url: string; stop(): Promise<void> } {
  let browser: Promise<BrowserServer> | undefined;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch() {
      browser ??= launch();
      return new Response((await browser).wsEndpoint());
    },
  });
  return {
    url: server.url.href,
    async stop() {
      const started = await browser?.catch(() => undefined);
      await started?.close();
      await server.stop(true);
    },
  };
}

function launch(): Promise<BrowserServer> {
  const executablePath = process.env['SCANLOG_BROWSER'];
  if (executablePath === undefined) throw new Error('SCANLOG_BROWSER must be the path of a Chromium executable');
  return chromium.launchServer({
    executablePath,
    args: chromiumArguments,
    host: '127.0.0.1',
    timeout: conditionTimeoutMs,
    // Vitest stops the servers of the run, and this one with them.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}
