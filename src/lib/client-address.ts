import { parseAddress } from './ip-address.ts';
import { type IpRanges, inRanges, parseRanges } from './ip-range.ts';

/** The proxies whose `X-Forwarded-For` header is trusted. */
export type TrustedProxies = IpRanges;

/** The default of `TRUSTED_PROXIES`: a proxy on the same machine. */
export const DEFAULT_TRUSTED_PROXIES = '127.0.0.0/8, ::1/128';

/** Bounds the work for a forged header; real chains are shorter. */
const maxHops = 32;
/** Enough for full IPv6 with an IPv4 tail, brackets, a zone, a port and some blanks. */
const maxHopLength = 96;

/** Parses the setting, a comma-separated list of CIDRs and addresses. An empty list trusts no proxy. */
export function parseTrustedProxies(text: string): TrustedProxies | { error: string } {
  return parseRanges(text);
}

/**
 * Returns the client's address: the socket's peer or, while that is a trusted proxy, the hop before it in
 * `X-Forwarded-For`, read from the right. Stops at the first hop that is untrusted, and before one that cannot be parsed.
 *
 * 16 bytes, IPv4 as `::ffff:a.b.c.d`; all zero if the peer has no address.
 *
 * @example
 * clientAddress('127.0.0.1', '198.51.100.1, 203.0.113.7', loopback); // the bytes of 203.0.113.7
 */
export function clientAddress(peer: string, forwardedFor: string | null, trusted: TrustedProxies): Uint8Array {
  let address = parseHop(peer, 0, peer.length);
  if (!address) return new Uint8Array(16);
  if (!forwardedFor) return address;

  let end = forwardedFor.length;
  for (let hops = 0; hops < maxHops && end > 0 && inRanges(trusted, address); hops++) {
    const comma = forwardedFor.lastIndexOf(',', end - 1);
    if (end - comma > maxHopLength) break;
    const from = skipBlanks(forwardedFor, comma + 1, end);
    if (from < end) {
      const hop = parseHop(forwardedFor, from, end);
      if (!hop) break;
      address = hop;
    }
    end = comma;
  }
  return address;
}

/** An address as proxies write it: bare, or with blanks, brackets, a zone id or a port. */
function parseHop(text: string, from: number, end: number): Uint8Array | null {
  let to = end;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;

  if (text.charCodeAt(from) === 91 /* [ */) {
    const bracket = text.indexOf(']', from);
    if (bracket < 0 || bracket >= to) return null;
    if (bracket + 1 < to && !isPort(text, bracket + 1, to)) return null;
    return parseIPv6(text, from + 1, bracket);
  }
  const bare = parseAddress(text, from, to);
  if (bare) return bare;
  const colon = text.indexOf(':', from);
  if (colon >= 0 && colon < to && isPort(text, colon, to)) return parseAddress(text, from, colon);
  return parseIPv6(text, from, to);
}

/** IPv6, with or without a zone id (`fe80::1%eth0`). The zone names a network interface of the proxy and is ignored. */
function parseIPv6(text: string, from: number, to: number): Uint8Array | null {
  const colon = text.indexOf(':', from);
  if (colon < 0 || colon >= to) return null;
  const percent = text.indexOf('%', from);
  return parseAddress(text, from, percent < 0 || percent > to ? to : percent);
}

/** A colon and one to five digits. */
function isPort(text: string, from: number, to: number): boolean {
  if (text.charCodeAt(from) !== 58 || to - from < 2 || to - from > 6) return false;
  for (let i = from + 1; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

function skipBlanks(text: string, from: number, to: number): number {
  let i = from;
  while (i < to && isBlank(text.charCodeAt(i))) i++;
  return i;
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
