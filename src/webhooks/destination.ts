import { lookup } from 'node:dns/promises';
import { isIPv4, parseAddress } from '../lib/ip-address.ts';
import { type IpRanges, inRanges, parseRanges } from '../lib/ip-range.ts';

/** Where webhooks may go, as the operator has decided. */
export interface Policy {
  allowHttp: boolean;
  /** Addresses that are allowed although they are not public. */
  allowed: IpRanges;
}

/** Every address of a name. */
export type Resolve = (name: string) => Promise<string[]>;

export const resolveBySystem: Resolve = async (name) =>
  (await lookup(name, { all: true, order: 'ipv4first' })).map(({ address }) => address);

/** A place that must not be called; the message is for the account that wanted it. */
export class Forbidden extends Error {}
/** A name that leads nowhere. */
export class Unresolved extends Error {}

const ranges = (list: string): IpRanges => {
  const parsed = parseRanges(list);
  if ('error' in parsed) throw new Error(parsed.error);
  return parsed;
};

/** Of IPv4, everything is public but this. */
const closed = ranges(
  [
    '0.0.0.0/8, 10.0.0.0/8, 127.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16', // this network, loopback, private
    '100.64.0.0/10, 169.254.0.0/16', // behind a provider's NAT, link-local: metadata of most clouds
    '192.0.0.0/24, 168.63.129.16/32', // special purposes, metadata of the others
    '192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 198.18.0.0/15', // documentation, benchmarks
    '192.88.99.0/24, 224.0.0.0/4, 240.0.0.0/4', // 6to4 relays, multicast, reserved, broadcast
  ].join(','),
);

/** Of IPv6, nothing is public but this: so no way to write an IPv4 address inside it (mapped, compatible, NAT64) is. */
const global6 = ranges('2000::/3');
/** Except protocols of its own (Teredo among them), documentation, and 6to4. */
const closed6 = ranges('2001::/23, 2001:db8::/32, 2002::/16, 3fff::/20');

export const isPublic = (address: Uint8Array): boolean =>
  isIPv4(address) ? !inRanges(closed, address) : inRanges(global6, address) && !inRanges(closed6, address);

/** What is wrong with a URL, as "must …", by its looks alone. */
export function faultOfUrl(text: string, { allowHttp }: Policy): string | undefined {
  const scheme = allowHttp ? 'https:// or http://' : 'https://';
  if (text.length > 2_048) return 'must have at most 2,048 characters';
  if (!(allowHttp ? /^https?:\/\/[^/\\]/i : /^https:\/\/[^/\\]/i).test(text)) return `must begin with ${scheme}`;
  if (/[\s\p{Cc}\\]/u.test(text) || !text.isWellFormed() || !URL.canParse(text))
    return 'must be a URL with a valid host, such as https://example.com/hooks/scans';
  const { username, password, hash } = new URL(text);
  if (username !== '' || password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    return 'must not contain a user name or password; deliveries are signed instead';
  if (hash !== '' || text.includes('#')) return 'must not contain a fragment ("#…"), which is never sent';
  return undefined;
}

/** The addresses behind a URL that may be called, in the order to try them; throws when there are none. */
export async function vettedAddresses(url: URL, policy: Policy, resolve: Resolve): Promise<string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const literal = parseAddress(host) !== null;
  const found = literal ? [host] : await resolve(host).catch(() => []);
  if (found.length === 0) throw new Unresolved(`The name ${host} could not be resolved.`);
  const vetted = found.filter((address) => mayCall(address, policy));
  // Which address it is stays with us: a name can be one of the operator's own network.
  if (vetted.length === 0)
    throw new Forbidden(
      `${host} leads to an address that webhooks must not call: only public ones are allowed, unless the operator says so.`,
    );
  return vetted;
}

function mayCall(text: string, { allowed }: Policy): boolean {
  const address = parseAddress(text.replace(/%.*$/, ''));
  return address !== null && (inRanges(allowed, address) || isPublic(address));
}

/** The name a server's certificate must have; none for a bare address. */
export const nameOf = (url: URL): string | undefined =>
  parseAddress(url.hostname.replace(/^\[|\]$/g, '')) === null ? url.hostname : undefined;
