import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clientAddress,
  DEFAULT_TRUSTED_PROXIES,
  parseTrustedProxies,
  type TrustedProxies,
} from '../../src/lib/client-address.ts';
import { formatAddress, isIPv4, parseAddress, subscriberNetwork } from '../../src/lib/ip-address.ts';

function trusting(text: string): TrustedProxies {
  const trusted = parseTrustedProxies(text);
  if ('error' in trusted) throw new Error(trusted.error);
  return trusted;
}

const loopback = trusting(DEFAULT_TRUSTED_PROXIES);

/** The client's address as text. */
const client = (peer: string, forwardedFor: string | null, trusted = loopback) =>
  formatAddress(clientAddress(peer, forwardedFor, trusted));

/** All 32 hexadecimal digits of an IPv6 address, by a simple independent implementation. */
function spelledOut(text: string): string {
  const hexTail = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...n: string[]) => {
    const [a, b, c, d] = n.slice(0, 4).map((part) => Number(part).toString(16).padStart(2, '0'));
    return `${a}${b}:${c}${d}`;
  });
  const [left = [], right = []] = hexTail.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].map((group) => group.toLowerCase().padStart(4, '0')).join('');
}

const anyIPv4 = fc.ipV4();
const anyIPv6 = fc.ipV6();

describe('clientAddress', () => {
  it('is the peer of the socket without a header', () => {
    expect(client('203.0.113.7', null)).toBe('203.0.113.7');
    expect(client('203.0.113.7', '')).toBe('203.0.113.7');
    expect(client('::ffff:203.0.113.7', null)).toBe('203.0.113.7');
    expect(client('::ffff:cb00:7107', null)).toBe('203.0.113.7');
    expect(client('2001:db8::1', null)).toBe('2001:db8:0:0:0:0:0:1');
    expect(client('fe80::1%eth0', null)).toBe('fe80:0:0:0:0:0:0:1');
  });

  it('is 16 bytes, IPv4 as ::ffff:a.b.c.d', () => {
    expect([...clientAddress('203.0.113.7', null, loopback)]).toEqual([
      ...[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255],
      ...[203, 0, 113, 7],
    ]);
  });

  it('ignores the header of an untrusted peer', () => {
    expect(client('203.0.113.7', '198.51.100.1')).toBe('203.0.113.7');
    expect(client('2001:db8::1', '198.51.100.1')).toBe('2001:db8:0:0:0:0:0:1');
  });

  it('is the hop that a trusted proxy reports', () => {
    expect(client('127.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
    expect(client('::1', '198.51.100.1')).toBe('198.51.100.1');
    expect(client('::ffff:127.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
  });

  it('skips trusted hops from the right, so forged hops further left are ignored', () => {
    const trusted = trusting('127.0.0.1, 10.0.0.0/8, 2001:db8:ffff::/48');
    expect(client('10.1.2.3', '1.1.1.1, 198.51.100.1, 10.9.9.9', trusted)).toBe('198.51.100.1');
    expect(client('10.1.2.3', '1.1.1.1, 198.51.100.1, 2001:db8:ffff::5, 10.9.9.9', trusted)).toBe('198.51.100.1');
    expect(client('10.1.2.3', '127.0.0.1, 198.51.100.1', trusted)).toBe('198.51.100.1');
  });

  it('is the leftmost hop if all are trusted', () => {
    const trusted = trusting('10.0.0.0/8');
    expect(client('10.0.0.1', '10.0.0.3, 10.0.0.2', trusted)).toBe('10.0.0.3');
  });

  it.each([
    ['198.51.100.1:4711', '198.51.100.1'],
    ['  198.51.100.1\t', '198.51.100.1'],
    ['[2001:db8::1]', '2001:db8:0:0:0:0:0:1'],
    ['[2001:db8::1]:4711', '2001:db8:0:0:0:0:0:1'],
    ['[fe80::1%eth0]:4711', 'fe80:0:0:0:0:0:0:1'],
    ['fe80::1%25eth0', 'fe80:0:0:0:0:0:0:1'],
    ['::ffff:198.51.100.1', '198.51.100.1'],
    ['[::ffff:198.51.100.1]:80', '198.51.100.1'],
    ['::FFFF:C633:6401', '198.51.100.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8:0:0:0:0:0:1'],
    ['64:ff9b::198.51.100.1', '64:ff9b:0:0:0:0:c633:6401'],
    [', 198.51.100.1, ,', '198.51.100.1'],
    ['::', '0:0:0:0:0:0:0:0'],
  ])('parses the hop %j', (written, address) => {
    expect(client('127.0.0.1', written)).toBe(address);
  });

  it.each([
    ...['unknown', '_hidden', 'null', '198.51.100', '198.51.100.256', '198.51.100.01', '0x7f.0.0.1', '1.2.3.4.5'],
    ...['198.51.100.1:', '198.51.100.1:x', '198.51.100.1:123456', '[198.51.100.1]', '[2001:db8::1', '2001:db8::1]'],
    ...['[2001:db8::1]x', '[]', '[', ':', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '12345::', '::g'],
    ...['1:2:3:4:5:6:7:8::', '::1.2.3', '1:2:3:4:5:6:7:1.2.3.4', '"198.51.100.1"', '198.51.100.1 198.51.100.2', 'é'],
    '1'.repeat(200),
  ])('stops before the invalid hop %j', (garbage) => {
    expect(client('127.0.0.1', `198.51.100.1, ${garbage}`)).toBe('127.0.0.1');
    expect(client('127.0.0.1', `${garbage}, 127.0.0.2`)).toBe('127.0.0.2');
  });

  it('is all zero for a peer without an address, such as a pipe', () => {
    expect(client('', '198.51.100.1')).toBe('0:0:0:0:0:0:0:0');
    expect(client('/run/edge.sock', '198.51.100.1')).toBe('0:0:0:0:0:0:0:0');
  });

  it('stops after 32 trusted hops', () => {
    expect(client('127.0.0.1', `198.51.100.1,${'127.0.0.2,'.repeat(30)}127.0.0.3`)).toBe('198.51.100.1');
    expect(client('127.0.0.1', `198.51.100.1,${'127.0.0.2,'.repeat(5000)}127.0.0.3`)).toBe('127.0.0.2');
    expect(client('127.0.0.1', `198.51.100.1${','.repeat(5000)}`)).toBe('127.0.0.1');
  });

  it('is 16 bytes for any header', () => {
    const pieces = fc.array(
      fc.oneof(fc.string(), anyIPv4, anyIPv6, fc.constantFrom('[', ']', ':', '%', ',', '127.0.0.1')),
    );
    fc.assert(
      fc.property(fc.string(), pieces, (peer, header) => {
        expect(clientAddress(peer, header.join(''), loopback)).toHaveLength(16);
        expect(clientAddress('127.0.0.1', header.join(','), loopback)).toHaveLength(16);
      }),
    );
  });

  it('never trusts the hops before an untrusted one', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyIPv4, anyIPv6)), (forged) => {
        expect(client('127.0.0.1', [...forged, '198.51.100.1'].join(', '))).toBe('198.51.100.1');
      }),
    );
  });
});

describe('parseTrustedProxies', () => {
  it('trusts no proxy if empty', () => {
    expect(client('127.0.0.1', '198.51.100.1', trusting(' '))).toBe('127.0.0.1');
  });

  it.each([
    ['10.0.0.0/8', '10.255.255.255', '11.0.0.0'],
    ['10.0.0.7/8', '10.1.1.1', '11.0.0.0'],
    ['192.0.2.4/30', '192.0.2.7', '192.0.2.8'],
    ['192.0.2.4', '192.0.2.4', '192.0.2.5'],
    ['128.0.0.0/1', '255.0.0.1', '127.255.255.255'],
    ['0.0.0.0/0', '8.8.8.8', '2001:db8::1'],
    ['::ffff:10.0.0.0/104', '10.1.1.1', '11.0.0.0'],
    ['2001:db8::/32', '2001:db8:ffff::1', '2001:db9::'],
    ['2001:db8::/33', '2001:db8:7fff::1', '2001:db8:8000::'],
    ['2001:db8::5', '2001:db8::5', '2001:db8::6'],
    ['::/0', '2001:db8::1', '8.8.8.8'],
    ['fd00::/8,192.168.0.0/16', '192.168.3.4', 'fe00::1'],
  ])('%s contains %s and not %s', (text, inside, outside) => {
    expect(client(inside, '198.51.100.1', trusting(text))).toBe('198.51.100.1');
    expect(client(outside, '198.51.100.1', trusting(text))).toBe(client(outside, null));
  });

  it.each([
    'localhost',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '::1/129',
    '10.0.0/8',
    '10.0.0.0/8/8',
    'fe80::1%eth0',
    '10.0.0.1:80',
    '1.2.3.4 5.6.7.8',
  ])('refuses %j with one sentence', (bad) => {
    const result = parseTrustedProxies(`127.0.0.1, ${bad}`);
    expect(result).toEqual({
      error: `"${bad}" is not an IP address or CIDR range such as 10.0.0.0/8 or 2001:db8::/32.`,
    });
  });
});

describe('an address in 16 bytes', () => {
  it('is independent of the notation', () => {
    fc.assert(
      fc.property(anyIPv4, (text) => {
        const bytes = parseAddress(text);
        expect(bytes && formatAddress(bytes)).toBe(text);
        expect(parseAddress(`::ffff:${text}`)).toEqual(bytes);
      }),
    );
    fc.assert(
      fc.property(anyIPv6, (text) => {
        const bytes = parseAddress(text);
        expect(bytes && Buffer.from(bytes).toString('hex')).toBe(spelledOut(text));
      }),
    );
  });

  it('is IPv4 or IPv6', () => {
    const family = (text: string) => isIPv4(parseAddress(text) ?? new Uint8Array());
    expect(family('198.51.100.1')).toBe(true);
    expect(family('::ffff:198.51.100.1')).toBe(true);
    expect(family('::198.51.100.1')).toBe(false);
    expect(family('2001:db8::ffff:c633:6401')).toBe(false);
  });

  it('has one subscriber network: IPv4 whole, IPv6 the /64', () => {
    const network = (text: string) => formatAddress(subscriberNetwork(parseAddress(text) ?? new Uint8Array(16)));
    expect(network('198.51.100.1')).toBe('198.51.100.1');
    expect(network('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2:0:0:0:0');
  });
});
