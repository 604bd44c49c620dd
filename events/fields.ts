/**
 * What a name, a destination and a short code may be. Each check answers with what would be right ("must …"), or with
 * nothing when the value is.
 */

const control = /\p{Cc}/u;

export function faultOfName(name: string): string | undefined {
  const length = [...name.trim()].length;
  if (length < 1 || length > 255) return 'must have 1 to 255 characters besides surrounding spaces';
  if (control.test(name.trim()) || !name.isWellFormed()) return 'must not contain control characters';
  return undefined;
}

/** `shortOrigin`: where short links live; a code that leads there could lead to itself. */
export function faultOfDestination(destination: string, shortOrigin: string): string | undefined {
  if ([...destination].length > 2048) return `must have at most 2,048 characters`;
  if (!/^https?:\/\//i.test(destination)) return `must be an absolute URL that begins with http:// or https://`;
  if (/[\s\p{Cc}]/u.test(destination) || !destination.isWellFormed())
    return `must not contain spaces or control characters; write a space as %20`;
  // A parser skips any number of slashes to find a host; other software takes the host to be empty.
  if (/^https?:\/\/[/\\]/i.test(destination) || !URL.canParse(destination))
    return `must be a URL with a valid host, such as https://example.com/menu`;
  if (sameOrigin(new URL(destination), new URL(shortOrigin)))
    return `must not lead to ${shortOrigin}, where short links live: that would be a loop`;
  return undefined;
}

// "example.com." is the same host as "example.com", and http: of a host commonly leads to its https:.
const sameOrigin = (a: URL, b: URL) =>
  a.port === b.port && a.hostname.replace(/\.$/, '') === b.hostname.replace(/\.$/, '');

/**
 * Every first path segment that the service serves, or may come to serve: as a short code it would hide a page.
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

export function faultOfShortCode(shortCode: string): string | undefined {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{1,48}[A-Za-z0-9]$/.test(shortCode))
    return 'must have 3 to 50 letters, digits, "-" or "_", the first and the last a letter or digit';
  if (isReserved(shortCode)) return `must not be "${shortCode}": the service itself uses that word`;
  return undefined;
}
