import { problemWithShortCodeFormat } from '../../events/fields.ts';

/**
 * First path segments that the service uses now or may use later, so they cannot be short codes. A test checks that all
 * routes are listed.
 */
export const reservedWords: ReadonlySet<string> = new Set([
  'v1',
  'healthz',
  'readyz',
  'metrics',
  'swagger',
  'openapi.json',
  'console',
  'images',
  's',
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

export const maxShortCodeLength = 50;

export const isReserved = (shortCode: string) => reservedWords.has(shortCode.toLowerCase());

/** Why a short code is invalid ("must …"), or undefined. */
export function problemWithShortCode(shortCode: string): string | undefined {
  const problem = problemWithShortCodeFormat(shortCode);
  if (problem !== undefined) return problem;
  return isReserved(shortCode) ? `must not be "${shortCode}": the service itself uses that word` : undefined;
}
