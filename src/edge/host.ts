import { readHost } from '../../events/hosts.ts';
import type { TrustedProxies } from '../lib/client-address.ts';
import { parseAddress } from '../lib/ip-address.ts';
import { inRanges } from '../lib/ip-range.ts';

/**
 * The host of a URL without its port and the dot of a fully qualified name. It works on the text, in which Bun has written the
 * host in lower case, because parsing a URL for every scan would cost more than the lookup.
 *
 * @example hostIn('https://go.example.com.:8443/menu') // 'go.example.com'
 */
export function hostIn(url: string): string {
  const from = url.indexOf('//') + 2;
  let to = url.indexOf('/', from);
  if (to === -1) to = url.length;
  const colon = url.lastIndexOf(':', to);
  // The colons of an IPv6 address are in brackets.
  if (colon > from && url.charCodeAt(to - 1) !== 93 /* ] */) to = colon;
  if (url.charCodeAt(to - 1) === 46 /* . */) to--;
  return url.slice(from, to);
}

/** The host that the client asked for: of `X-Forwarded-Host` if the peer is a trusted proxy, else of the URL. */
export function requestedHost(request: Request, peer: string, trusted: TrustedProxies): string {
  const forwarded = request.headers.get('x-forwarded-host');
  if (forwarded === null || !isTrusted(peer, trusted)) return hostIn(request.url);
  const [first = ''] = forwarded.split(',', 1);
  return readHost(first.trim().replace(/:\d+$/, '')) ?? '';
}

export function isTrusted(peer: string, trusted: TrustedProxies): boolean {
  const address = parseAddress(peer, 0, peer.length);
  return address !== null && inRanges(trusted, address);
}
