import { expect, test } from 'vitest';
import { type IpRanges, isWithin, parseRanges } from '../../src/lib/ip-range.ts';

test.each([
  ['10.1.0.0/16', '10.0.0.0/8', true],
  ['10.0.0.0/8', '10.0.0.0/8', true],
  ['10.0.0.0/7', '10.0.0.0/8', false],
  ['11.0.0.1', '10.0.0.0/8', false],
  ['192.168.0.1, 10.0.0.1', '10.0.0.0/8, 192.168.0.0/16', true],
  ['0.0.0.0/0', '0.0.0.0/0', true],
  ['0.0.0.0/0', '0.0.0.0/1, 128.0.0.0/1', false],
  ['2001:db8:1::/48', '2001:db8::/32', true],
  ['2001:db8::/31', '2001:db8::/32', false],
  ['::ffff:10.0.0.0/104', '10.0.0.0/8', true],
  ['10.0.0.1', '::/0', false],
  ['::1', '0.0.0.0/0', false],
])('%s within %s: %s', (inner, outer, expected) => {
  const [a, b] = [inner, outer].map((text) => parseRanges(text) as IpRanges) as [IpRanges, IpRanges];
  expect(isWithin(a, b)).toBe(expected);
});
