import { isIPv4, parseAddress } from './ip-address.ts';
import { type IpRanges, inRanges, parseRanges } from './ip-range.ts';

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

/** Whether the service may send a request of a tenant to this address: to a public one, or to one in `allowed`. */
export function mayCall(text: string, allowed: IpRanges): boolean {
  const address = parseAddress(text.replace(/%.*$/, ''));
  return address !== null && (inRanges(allowed, address) || isPublic(address));
}
