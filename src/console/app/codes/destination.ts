import { problemWithDestination } from '../../../../events/fields.ts';
import { reachOf } from '../../../lib/private-host.ts';

/** What a user typed as a URL: completed where it is clear what is meant, or why it cannot be one. */
type Completed = { url: string; error?: undefined } | { url: string; error: string };

const label = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?`;
/** A host name, IPv4 or IPv6 address, with an optional port, path, query and fragment. */
const hostAndRest = new RegExp(
  String.raw`^(?<host>${label}(?:\.${label})*\.?|\[[\da-f:.]+\])(?::(?<port>\d{1,5}))?(?:[/?#].*)?$`,
  'isu',
);
const scheme = /^(?<name>[a-z][a-z0-9+.-]*):/i;
/** Schemes whose rest can look like a port. */
const numberSchemes = /^(tel|sms|smsto|mms|callto|fax|geo|sip|sips|facetime|whatsapp|skype|bitcoin|data|javascript)$/i;
const misspelledHttp = /^(?:h+t+p*s*|t+ps*)(?:[:;]\/*|\/\/)/i;

/**
 * Completes a URL that was typed without its scheme, if it looks like a host name: `example.com/menu` becomes
 * `https://example.com/menu`. Anything else is returned as typed, with a sentence that says why it is no destination.
 */
export function completeUrl(text: string): Completed {
  const url = text.trim();
  const refuse = (error: string): Completed => ({ url, error });
  if (url === '') return refuse('Enter a destination, such as https://example.com/menu.');
  if (/^https?:\/\//i.test(url)) return { url };
  const [beginning] = misspelledHttp.exec(url) ?? [];
  if (beginning !== undefined) return refuse(`“${beginning}” is misspelled: begin with https://.`);
  const { host, port } = hostAndRest.exec(url)?.groups ?? {};
  if (host !== undefined && isHostName(host) && !(port !== undefined && numberSchemes.test(host)))
    return { url: `https://${url}` };
  const remedy = 'Use the address of a web page, such as https://example.com.';
  const name = scheme.exec(url)?.groups?.['name'];
  if (name !== undefined && !name.includes('.'))
    return refuse(`${name.toLowerCase()}: links cannot be destinations. ${remedy}`);
  if (/^[^\s@/]+@[^\s@/]+$/.test(url)) return refuse(`An email address cannot be a destination. ${remedy}`);
  return refuse('This is not the address of a web page. Enter one such as https://example.com/menu.');
}

/** Browsers read a host that ends with a number as an IPv4 address, however few parts it has. */
const isHostName = (host: string) => !/(?:^|\.)\d+\.?$/.test(host) || /^\d+(\.\d+){3}$/.test(host);

/** A destination as typed: the URL to store, the reason why it cannot be stored, and what the user should know. */
export interface Destination {
  url: string;
  error: string | undefined;
  warning: string | undefined;
}

/** Completes and checks a destination with the rules of the server. `ownUrls` are the addresses of this service. */
export function readDestination(text: string, ...ownUrls: string[]): Destination {
  const { url, error } = completeUrl(text);
  if (error !== undefined) return { url, error, warning: undefined };
  const problem = problemWithDestination(url, ...ownUrls);
  if (problem !== undefined) return { url, error: `The destination ${problem}.`, warning: undefined };
  return { url, error: undefined, warning: warningAbout(new URL(url).hostname) };
}

function warningAbout(host: string): string | undefined {
  const reach = reachOf(host);
  if (reach === 'computer') return `${host} is the visitor’s own device, so this leads nowhere on a phone.`;
  if (reach === 'anywhere') return undefined;
  if (/[.:]/.test(host)) return `${host} can be reached only in your own network.`;
  return `“${host}” has no dot, so it is not a public address. Check that nothing is missing, such as “.com”.`;
}

/**
 * A destination for display: without `https://` and a trailing slash only if the rest is clearly the same address, so that
 * nothing that is wrong with a destination is hidden.
 */
export function displayDestination(url: string): string {
  const short = url.replace(/^https:\/\//, '').replace(/^([^/]+)\/$/, '$1');
  const { url: completed, error, warning } = readDestination(short);
  return error === undefined && warning === undefined && [url, url.replace(/\/$/, '')].includes(completed)
    ? short
    : url;
}
