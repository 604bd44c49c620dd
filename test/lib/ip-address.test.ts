import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../src/lib/ip-address.ts';
import { inRanges, parseRanges } from '../../src/lib/ip-range.ts';
import { isPublic } from '../../src/lib/public-address.ts';

const { IPv4, IPv6 } = ipaddr;

/**
 * The 16 bytes that ipaddr.js reads, or null. It also accepts octal and short IPv4 forms and zones, which we reject,
 * and reads `::1.2.3.4` as `::ffff:1.2.3.4`, which is a different address.
 */
function reference(text: string): number[] | null {
  const compatible = /^::(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1];
  if (compatible !== undefined)
    return IPv4.isValidFourPartDecimal(compatible) ? [...Array(12).fill(0), ...IPv4.parse(compatible).octets] : null;
  if (IPv4.isValidFourPartDecimal(text)) return IPv4.parse(text).toIPv4MappedAddress().toByteArray();
  return IPv6.isValid(text) && !text.includes('%') ? IPv6.parse(text).toByteArray() : null;
}

const bytesOf = (count: number) => fc.array(fc.nat(255), { minLength: count, maxLength: count });
/** Text that is an address, or nearly one. */
const almostAddress = fc.oneof(
  fc.ipV4(),
  fc.ipV4Extended(),
  fc.ipV6(),
  fc
    .array(fc.constantFrom('0', '1', '25', '256', 'f', 'ffff', '12345', '.', ':', '::', ':', '.'), { maxLength: 16 })
    .map((p) => p.join('')),
);

describe('addresses, compared with ipaddr.js', () => {
  test('any text is parsed to the same bytes', () => {
    fc.assert(
      fc.property(almostAddress, (text) => {
        const bytes = parseAddress(text);
        expect(bytes === null ? null : [...bytes], text).toEqual(reference(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test('any range contains the same addresses', () => {
    const near = (bytes: number[], flipped: number) =>
      bytes.map((byte, i) => (i === flipped >> 3 ? byte ^ (0x80 >> (flipped & 7)) : byte));
    const cidr = fc.oneof(
      fc.record({ bytes: bytesOf(4), prefix: fc.nat(32), flipped: fc.nat(31) }),
      fc.record({ bytes: bytesOf(16), prefix: fc.nat(128), flipped: fc.nat(127) }),
    );
    fc.assert(
      fc.property(cidr, ({ bytes, prefix, flipped }) => {
        const [network, address] = [ipaddr.fromByteArray(bytes), ipaddr.fromByteArray(near(bytes, flipped))];
        const ranges = parseRanges(`${network}/${prefix}`);
        if ('error' in ranges) throw new Error(ranges.error);
        const isIn = inRanges(ranges, parseAddress(String(address)) as Uint8Array);
        expect(isIn, `${address} in ${network}/${prefix}`).toBe(address.match(network as never, prefix));
      }),
      { numRuns: 2_000 },
    );
  });

  test('no address that ipaddr.js classifies as special may receive webhooks', () => {
    /** AS112 name servers and AMT relays are services of the public internet. */
    const isSpecial = (range: string) => !['unicast', 'as112', 'as112v6', 'amt'].includes(range);
    const groups = Array.from({ length: 0x10000 }, (_, group) => [group >> 8, group & 255]);
    const networks = [
      ...groups.map((group) => [...group, 0, 1]),
      // Special ranges of the size of a /24 are in these networks.
      ...[192, 198, 203].flatMap((first) => groups.map((group) => [first, ...group, 1])),
      ...['0000', '0db8'].flatMap((second) =>
        groups.map((group) => [...group, ...Buffer.from(second, 'hex'), ...Array(11).fill(0), 1]),
      ),
    ].map((bytes) => ipaddr.fromByteArray(bytes));
    const special = networks.filter((address) => isSpecial(address.range()));
    expect(new Set(special.map((address) => address.range())).size).toBeGreaterThan(12);
    const allowed = special.map(String).filter((text) => isPublic(parseAddress(text) as Uint8Array));
    expect(allowed).toEqual([]);
  });
});
