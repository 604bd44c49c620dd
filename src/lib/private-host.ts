import { parseAddress } from './ip-address.ts';
import { inRanges, parseRanges } from './ip-range.ts';

const rangesOf = (list: string) => {
  const ranges = parseRanges(list);
  if ('error' in ranges) throw new Error(ranges.error);
  return ranges;
};

const loopback = rangesOf('127.0.0.0/8, 0.0.0.0/8, ::1, ::');
/** Private, link-local and carrier-grade NAT. */
const privateRanges = rangesOf(
  '10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 169.254.0.0/16, 100.64.0.0/10, fc00::/7, fe80::/10',
);
/** Top-level domains that public DNS never has: RFC 6762, 6761, 8375, and common names of home and office networks. */
const privateSuffix = /\.(local|test|invalid|internal|intranet|lan|home|corp|private|home\.arpa)$/;

/**
 * From where a host can be reached: this computer, the own network, or anywhere. Judged by its name alone, in the spelling
 * of `new URL(…).hostname`; a name without a dot is one of the own network.
 *
 * @example
 * reachOf('127.0.0.1'); // 'computer'
 * reachOf('printer.local'); // 'network'
 * reachOf('example.com'); // 'anywhere'
 */
export function reachOf(hostname: string): 'computer' | 'network' | 'anywhere' {
  const host = hostname
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return 'computer';
  const address = parseAddress(host);
  if (address === null) return host.includes('.') && !privateSuffix.test(host) ? 'anywhere' : 'network';
  if (inRanges(loopback, address)) return 'computer';
  return inRanges(privateRanges, address) ? 'network' : 'anywhere';
}
