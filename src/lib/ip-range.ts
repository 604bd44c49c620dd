import { ipv4Bits, isIPv4, parseAddress } from './ip-address.ts';

/** Address ranges from `parseRanges`. An IPv6 range, even `::/0`, contains no IPv4 address. */
export interface IpRanges {
  readonly v4: readonly { readonly bits: number; readonly mask: number }[];
  readonly v6: readonly { readonly bytes: Uint8Array; readonly prefix: number }[];
}

/**
 * Parses a comma-separated list of CIDRs and single addresses. An empty list contains no address.
 *
 * @example
 * parseRanges('10.0.0.0/8, ::1'); // IpRanges
 * parseRanges('10.0.0.0/33'); // { error: '"10.0.0.0/33" is not an IP address or CIDR range …' }
 */
export function parseRanges(text: string): IpRanges | { error: string } {
  const v4: { bits: number; mask: number }[] = [];
  const v6: { bytes: Uint8Array; prefix: number }[] = [];
  for (const part of text.split(',')) {
    const entry = part.trim();
    if (entry === '') continue;
    const slash = entry.indexOf('/');
    const bytes = parseAddress(entry, 0, slash < 0 ? entry.length : slash);
    if (!bytes) return notARange(entry);
    const isShortForm = isIPv4(bytes) && !entry.includes(':');
    const maxPrefix = isShortForm ? 32 : 128;
    const length = slash < 0 ? String(maxPrefix) : entry.slice(slash + 1);
    if (!/^\d{1,3}$/.test(length) || Number(length) > maxPrefix) return notARange(entry);
    const prefix = Number(length) + (isShortForm ? 96 : 0);
    if (isIPv4(bytes) && prefix >= 96) {
      const mask = prefix === 96 ? 0 : -1 << (128 - prefix);
      v4.push({ bits: ipv4Bits(bytes) & mask, mask });
    } else v6.push({ bytes, prefix });
  }
  return { v4, v6 };
}

/** Whether one of the ranges contains the address, given as 16 bytes (`parseAddress`). */
export function inRanges(ranges: IpRanges, address: Uint8Array): boolean {
  if (isIPv4(address)) {
    const bits = ipv4Bits(address);
    for (const range of ranges.v4) if ((bits & range.mask) === range.bits) return true;
    return false;
  }
  for (const range of ranges.v6) if (samePrefix(range.bytes, address, range.prefix)) return true;
  return false;
}

/**
 * Whether each of the ranges `inner` is part of one range of `outer`.
 *
 * @example
 * isWithin(parseRanges('10.1.0.0/16'), parseRanges('10.0.0.0/8')); // true
 */
export const isWithin = (inner: IpRanges, outer: IpRanges): boolean =>
  inner.v4.every((range) =>
    outer.v4.some(({ bits, mask }) => (range.mask & mask) === mask && (range.bits & mask) === bits),
  ) &&
  inner.v6.every((range) =>
    outer.v6.some(({ bytes, prefix }) => prefix <= range.prefix && samePrefix(bytes, range.bytes, prefix)),
  );

function samePrefix(a: Uint8Array, b: Uint8Array, prefix: number): boolean {
  const wholeBytes = prefix >> 3;
  for (let i = 0; i < wholeBytes; i++) if (a[i] !== b[i]) return false;
  const restBits = prefix & 7;
  return restBits === 0 || ((a[wholeBytes] ?? 0) ^ (b[wholeBytes] ?? 0)) >> (8 - restBits) === 0;
}

function notARange(text: string): { error: string } {
  return {
    error: `${JSON.stringify(text.slice(0, 80))} is not an IP address or CIDR range such as 10.0.0.0/8 or 2001:db8::/32.`,
  };
}
