import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

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
  await page.evaluate(axeSource);
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
