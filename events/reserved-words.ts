import { problemWithShortCodeFormat } from './fields.ts';

/**
 * Words that could be chosen as short codes before they were reserved. Such a code keeps its link: the service answers only requests
 * that are not for the link (src/service/app.ts).
 */
const reservedLater: ReadonlySet<string> = new Set(['mcp']);

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
  'u',
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
  'internal',
  ...reservedLater,
]);

export const maxShortCodeLength = 50;

export const isReserved = (shortCode: string) => reservedWords.has(shortCode.toLowerCase());

/** Whether a code of an earlier version may have this reserved word as its short code. */
export const isReservedLater = (shortCode: string) => reservedLater.has(shortCode.toLowerCase());

/** Why a short code is invalid ("must …"), or undefined. */
export function problemWithShortCode(shortCode: string): string | undefined {
  const problem = problemWithShortCodeFormat(shortCode);
  if (problem !== undefined) return problem;
  return isReserved(shortCode) ? `must not be "${shortCode}": the service itself uses that word` : undefined;
}

/**
 * Returns a function that reads the short code in a URL: its only path segment, after the path of `shortBaseUrl`. It returns
 * undefined for every other path. It works on the text, because parsing a URL for every scan would cost more than the rest of
 * the routing.
 *
 * @example
 * const shortCodeOf = shortCodeReader('https://go.example.com/s');
 * shortCodeOf('https://go.example.com/s/menu?table=3'); // 'menu'
 * shortCodeOf('https://go.example.com/v1/qrcodes'); // undefined
 */
export function shortCodeReader(shortBaseUrl: string): (url: string) => string | undefined {
  const prefix = new URL(shortBaseUrl).pathname.replace(/\/+$/, '');
  return (url) => {
    const from = url.indexOf('/', 8);
    let to = url.length;
    for (let i = from + 1; i < to; i++) {
      const c = url.charCodeAt(i);
      if (c === 63 /* ? */ || c === 35 /* # */) to = i;
    }
    let path = url.slice(from, to);
    if (prefix !== '' && path.startsWith(`${prefix}/`)) path = path.slice(prefix.length);
    if (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1);
    const segment = path.slice(1);
    if (segment === '' || segment.includes('/')) return undefined;
    if (isReserved(segment) && !isReservedLater(segment)) return undefined;
    // Shared pages are under /s and links to unsubscribe under /u, too: their tokens are longer than short codes.
    return (prefix === '/s' || prefix === '/u') && segment.length > maxShortCodeLength ? undefined : segment;
  };
}
