import { canonicalHost } from './hosts.ts';

/**
 * Validation of names, notes, destinations and short codes. Each function returns what the value must be ("must …"), or
 * undefined if it is valid.
 */

const control = /\p{Cc}/u;

export function problemWithName(name: string): string | undefined {
  const length = [...name.trim()].length;
  if (length < 1 || length > 255) return 'must have 1 to 255 characters besides surrounding spaces';
  if (control.test(name.trim()) || !name.isWellFormed()) return 'must not contain control characters';
  return undefined;
}

export const maxNoteLength = 500;

export function problemWithNote(note: string): string | undefined {
  if ([...note].length > maxNoteLength) return `must have at most ${maxNoteLength} characters`;
  if (control.test(note.replaceAll('\n', '')) || !note.isWellFormed())
    return 'must not contain control characters other than line breaks';
  return undefined;
}

/** `ownUrls` are the origins of this service: a code that leads there could lead to itself. */
export function problemWithDestination(destination: string, ...ownUrls: string[]): string | undefined {
  if ([...destination].length > 2048) return `must have at most 2,048 characters`;
  if (!/^https?:\/\//i.test(destination)) return `must be an absolute URL that begins with http:// or https://`;
  if (/[\s\p{Cc}]/u.test(destination) || !destination.isWellFormed())
    return `must not contain spaces or control characters; write a space as %20`;
  // Bidirectional controls make a URL look like a different one.
  if (/\p{Bidi_Control}/u.test(destination))
    return `must not contain characters that change the direction of text; percent-encode them if they are intended`;
  // WHATWG parsers skip any number of slashes before the host; other software reads an empty host.
  if (/^https?:\/\/[/\\]/i.test(destination) || !URL.canParse(destination))
    return `must be a URL with a valid host, such as https://example.com/menu`;
  const [, authority = ''] = /^https?:\/\/([^/?#]*)/i.exec(destination) ?? [];
  // Browsers end the host at a backslash, other software does not.
  if (authority.includes('\\')) return `must not have a backslash before the path; begin the path with /`;
  // User info looks like the host: https://bank.example@evil.example.
  if (authority.includes('@'))
    return `must not have a user name or password before the host; remove everything up to the @`;
  const own = ownUrls.find((url) => isSameService(new URL(destination), new URL(url)));
  return own === undefined ? undefined : `must not lead to ${own}, an address of this service: that would be a loop`;
}

/** Treats the default ports 80 and 443 as equal, since http: of a host usually redirects to its https:. */
function isSameService(a: URL, b: URL): boolean {
  const portOf = ({ port, protocol }: URL) => (port === '' ? (protocol === 'https:' ? '443' : '80') : port);
  const [one, other] = [portOf(a), portOf(b)];
  const isDefault = (port: string) => port === '80' || port === '443';
  return hostOrLoopback(a) === hostOrLoopback(b) && (one === other || (isDefault(one) && isDefault(other)));
}

/** The canonical host, with "localhost" for all loopback names. */
function hostOrLoopback({ hostname }: URL): string {
  const host = canonicalHost(hostname);
  return loopback.test(host) ? 'localhost' : host;
}

/** Canonical hosts of this computer. */
const loopback = /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])$/;

/** Paths of the service itself are excluded elsewhere (reserved-words.ts). */
export function problemWithShortCodeFormat(shortCode: string): string | undefined {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{1,48}[A-Za-z0-9]$/.test(shortCode)) return undefined;
  return 'must have 3 to 50 letters, digits, "-" or "_", the first and the last a letter or digit';
}
