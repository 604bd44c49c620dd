import { lookup } from 'node:dns/promises';
import { isIPv4, parseAddress } from '../lib/ip-address.ts';
import { type IpRanges, inRanges, parseRanges } from '../lib/ip-range.ts';

/** Which destinations the operator allows for webhooks. */
export interface Policy {
  allowHttp: boolean;
  /** Non-public addresses that are allowed. */
  allowed: IpRanges;
}

/** Resolves a host name to all its addresses. */
export type Resolve = (name: string) => Promise<string[]>;

export const resolveBySystem: Resolve = async (name) =>
  (await lookup(name, { all: true, order: 'ipv4first' })).map(({ address }) => address);

/** The destination must not be called. The message is shown to the account. */
export class Forbidden extends Error {}
/** The host name could not be resolved. */
export class Unresolved extends Error {}

const rangesOf = (list: string): IpRanges => {
  const parsed = parseRanges(list);
  if ('error' in parsed) throw new Error(parsed.error);
  return parsed;
};

/** All other IPv4 addresses are public. */
const nonPublicV4 = rangesOf(
  [
    '0.0.0.0/8, 10.0.0.0/8, 127.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16', // this network, loopback, private
    '100.64.0.0/10, 169.254.0.0/16', // carrier-grade NAT; link-local, the metadata service of most clouds
    '192.0.0.0/24, 168.63.129.16/32', // protocol assignments; the metadata service of Azure
    '192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 198.18.0.0/15', // documentation, benchmarks
    '192.88.99.0/24, 224.0.0.0/4, 240.0.0.0/4', // 6to4 relays, multicast, reserved, broadcast
  ].join(','),
);

/** Only these IPv6 addresses are public, so embedded IPv4 addresses (mapped, compatible, NAT64) are not. */
const globalV6 = rangesOf('2000::/3');
/** Protocol assignments (including Teredo), documentation, and 6to4. */
const nonPublicV6 = rangesOf('2001::/23, 2001:db8::/32, 2002::/16, 3fff::/20');

export const isPublic = (address: Uint8Array): boolean =>
  isIPv4(address) ? !inRanges(nonPublicV4, address) : inRanges(globalV6, address) && !inRanges(nonPublicV6, address);

/** Where webhooks may go, for those who set them. */
export const allowedAddresses =
  'a public address, or to one that the operator of the service allows with WEBHOOK_ALLOWED_CIDRS';

/** Why a URL is invalid ("must …"), checked without resolving it; undefined if it is valid. */
export function faultOfUrl(text: string, { allowHttp }: Policy): string | undefined {
  const scheme = allowHttp
    ? 'https:// or http://'
    : 'https://; the operator of the service can allow http:// with WEBHOOK_ALLOW_HTTP=true';
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

/** Resolves a URL to the addresses that may be called, in the order to try them. Throws if there are none. */
export async function vettedAddresses(url: URL, policy: Policy, resolve: Resolve): Promise<string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isAddress = parseAddress(host) !== null;
  const found = isAddress ? [host] : await resolve(host).catch(() => []);
  if (found.length === 0) throw new Unresolved(`The name ${host} could not be resolved.`);
  const vetted = found.filter((address) => mayCall(address, policy));
  // The message does not name the address, which would reveal names of the operator's network.
  if (vetted.length === 0)
    throw new Forbidden(
      `${host} resolves to an address that webhooks must not call. It must resolve to ${allowedAddresses}.`,
    );
  return vetted;
}

function mayCall(text: string, { allowed }: Policy): boolean {
  const address = parseAddress(text.replace(/%.*$/, ''));
  return address !== null && (inRanges(allowed, address) || isPublic(address));
}

/** The name that the server's certificate must contain; undefined if the host is an address. */
export const nameOf = (url: URL): string | undefined =>
  parseAddress(url.hostname.replace(/^\[|\]$/g, '')) === null ? url.hostname : undefined;
