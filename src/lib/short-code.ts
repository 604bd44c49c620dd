import { faultOfShortCodeFormat } from '../../events/fields.ts';

/**
 * Every first path segment that the service serves, or may serve in the future: as a short code it would hide a page.
 * A test compares this with the routes.
 */
export const reservedWords: ReadonlySet<string> = new Set([
  'v1',
  'healthz',
  'readyz',
  'metrics',
  'swagger',
  'console',
  'images',
  'favicon.ico',
  'robots.txt',
  '.well-known',
  'admin',
  'api',
  'assets',
  'docs',
  'login',
  'logout',
  'static',
]);

export const isReserved = (shortCode: string) => reservedWords.has(shortCode.toLowerCase());

/** What is wrong with a short code ("must …"), or undefined. */
export function faultOfShortCode(shortCode: string): string | undefined {
  const fault = faultOfShortCodeFormat(shortCode);
  if (fault !== undefined) return fault;
  return isReserved(shortCode) ? `must not be "${shortCode}": the service itself uses that word` : undefined;
}
