import { ipv4Bits, isIPv4, parseAddress } from './ip-address.ts';

/** Address ranges, made by `parseRanges`. An IPv6 range, `::/0` too, holds no IPv4 address. */
export interface IpRanges {
  readonly v4: readonly { readonly bits: number; readonly mask: number }[];
  readonly v6: readonly { readonly bytes: Uint8Array; readonly prefix: number }[];
}

/**
 * Ranges written as a comma-separated list of CIDRs and single addresses; an empty list holds nothing.
 *
 * ```ts
 * parseRanges('10.0.0.0/8, ::1')  // IpRanges
 * parseRanges('10.0.0.0/33')      // { error: '"10.0.0.0/33" is not an IP address or CIDR range …' }
 * ```
 */
export function parseRanges(text: string): IpRanges | { error: string } {
  const v4: { bits: number; mask: number }[] = [];
  const v6: { bytes: Uint8Array; prefix: number }[] = [];
  for (const part of text.split(',')) {
    const written = part.trim();
    if (written === '') continue;
    const slash = written.indexOf('/');
    const bytes = parseAddress(written, 0, slash < 0 ? written.length : slash);
    if (!bytes) return notARange(written);
    const short = isIPv4(bytes) && !written.includes(':');
    const widest = short ? 32 : 128;
    const length = slash < 0 ? String(widest) : written.slice(slash + 1);
    if (!/^\d{1,3}$/.test(length) || Number(length) > widest) return notARange(written);
    const prefix = Number(length) + (short ? 96 : 0);
    if (isIPv4(bytes) && prefix >= 96) {
      const mask = prefix === 96 ? 0 : -1 << (128 - prefix);
      v4.push({ bits: ipv4Bits(bytes) & mask, mask });
    } else v6.push({ bytes, prefix });
  }
  return { v4, v6 };
}

export function inRanges(ranges: IpRanges, address: Uint8Array): boolean {
  if (isIPv4(address)) {
    const bits = ipv4Bits(address);
    for (const range of ranges.v4) if ((bits & range.mask) === range.bits) return true;
    return false;
  }
  for (const range of ranges.v6) if (samePrefix(range.bytes, address, range.prefix)) return true;
  return false;
}

function samePrefix(a: Uint8Array, b: Uint8Array, prefix: number): boolean {
  const whole = prefix >> 3;
  for (let i = 0; i < whole; i++) if (a[i] !== b[i]) return false;
  const rest = prefix & 7;
  return rest === 0 || ((a[whole] ?? 0) ^ (b[whole] ?? 0)) >> (8 - rest) === 0;
}

function notARange(written: string): { error: string } {
  return {
    error: `${JSON.stringify(written.slice(0, 80))} is not an IP address or CIDR range such as 10.0.0.0/8 or 2001:db8::/32.`,
  };
}
