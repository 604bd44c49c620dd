import { parseAddress } from './ip-address.ts';
import { type IpRanges, inRanges, parseRanges } from './ip-range.ts';

/** The proxies whose `X-Forwarded-For` is believed. */
export type TrustedProxies = IpRanges;

/** The setting `TRUSTED_PROXIES` when it is not given: a proxy on the same machine. */
export const DEFAULT_TRUSTED_PROXIES = '127.0.0.0/8, ::1/128';

/** More proxies in a row than this are not a network but somebody's long header. */
const MAX_HOPS = 32;
/** The longest way to write an address: full IPv6 with an IPv4 tail, brackets, a zone and a port, and some blanks. */
const MAX_HOP_LENGTH = 96;

/** Reads the setting: a comma-separated list of CIDRs and addresses. An empty one trusts nobody. */
export function parseTrustedProxies(text: string): TrustedProxies | { error: string } {
  return parseRanges(text);
}

/**
 * The address of the client that sent the request: the socket's peer or, as long as that is a trusted proxy, the hop
 * before it, read from the right end of `X-Forwarded-For`. What an untrusted hop says about the hops before it is not
 * believed; a hop that cannot be read ends the walk at the last one believed.
 *
 * 16 bytes, IPv4 as `::ffff:a.b.c.d`; all zero when the peer itself has no address.
 *
 * ```ts
 * clientAddress('127.0.0.1', '198.51.100.1, 203.0.113.7', loopback)  // 203.0.113.7
 * ```
 */
export function clientAddress(peer: string, forwardedFor: string | null, trusted: TrustedProxies): Uint8Array {
  let believed = parseHop(peer, 0, peer.length);
  if (!believed) return new Uint8Array(16);
  if (!forwardedFor) return believed;

  let end = forwardedFor.length;
  for (let hops = 0; hops < MAX_HOPS && end > 0 && inRanges(trusted, believed); hops++) {
    const comma = forwardedFor.lastIndexOf(',', end - 1);
    if (end - comma > MAX_HOP_LENGTH) break;
    const from = skipBlanks(forwardedFor, comma + 1, end);
    if (from < end) {
      const hop = parseHop(forwardedFor, from, end);
      if (!hop) break;
      believed = hop;
    }
    end = comma;
  }
  return believed;
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

/** IPv6, with or without a zone id (`fe80::1%eth0`). The zone says which link of the proxy, not which client. */
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
