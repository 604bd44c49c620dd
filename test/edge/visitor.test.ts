import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visitorHash } from '../../src/edge/visitor.ts';
import { parseAddress } from '../../src/lib/ip-address.ts';

const codeKey = Uint8Array.from({ length: 32 }, (_, i) => i);
const anyKey = fc.uint8Array({ minLength: 32, maxLength: 32 });
const anyAddress = fc.uint8Array({ minLength: 16, maxLength: 16 });

function address(text: string): Uint8Array {
  const bytes = parseAddress(text);
  if (!bytes) throw new Error(`${text} is not an address`);
  return bytes;
}

const visitor = (text: string, userAgent: string, key = codeKey) =>
  visitorHash(key, address(text), userAgent).toString('hex');

describe('visitorHash', () => {
  // Python: hmac.new(bytes(range(32)), pack('>I', 16) + address + pack('>I', len(ua)) + ua, sha256).hexdigest()[:32]
  it.each([
    ['203.0.113.7', 'Mozilla/5.0 (iPhone)', '52b97924f5a6a574a52da1299c510871'],
    ['2001:db8:1:2:3:4:5:6', 'Größe 📷', '7eec253bad49969f6b40aeb3fafabe44'],
    ['203.0.113.7', '', '462da7ba8546c17385b91b5dcb84a99c'],
  ])('of %s with user agent %j equals the result of another implementation', (text, userAgent, hash) => {
    expect(visitor(text, userAgent)).toBe(hash);
  });

  it('has 16 bytes, and is the same for every scan', () => {
    fc.assert(
      fc.property(anyKey, anyAddress, fc.string({ unit: 'binary' }), (key, bytes, userAgent) => {
        const first = visitorHash(key, bytes, userAgent);
        expect(first).toHaveLength(16);
        expect(visitorHash(key, bytes, userAgent)).toEqual(first);
      }),
    );
  });

  it('is not overwritten by the next call', () => {
    const first = visitorHash(codeKey, address('203.0.113.7'), 'a browser');
    const before = first.toString('hex');
    visitorHash(codeKey, address('203.0.113.8'), 'another browser');
    expect(first.toString('hex')).toBe(before);
  });

  it('differs between codes', () => {
    fc.assert(
      fc.property(anyKey, anyKey, anyAddress, fc.string(), (one, other, bytes, userAgent) => {
        fc.pre(!Buffer.from(one).equals(Buffer.from(other)));
        expect(visitorHash(one, bytes, userAgent)).not.toEqual(visitorHash(other, bytes, userAgent));
      }),
    );
  });

  it('of IPv6 is the same within a /64 and differs outside it', () => {
    const half = fc.uint8Array({ minLength: 8, maxLength: 8 });
    const joined = (a: Uint8Array, b: Uint8Array) => Uint8Array.from([...a, ...b]);
    fc.assert(
      fc.property(half, half, half, half, fc.string(), (network, otherNetwork, host, otherHost, userAgent) => {
        fc.pre(network.some((byte) => byte !== 0) && !Buffer.from(network).equals(Buffer.from(otherNetwork)));
        const here = visitorHash(codeKey, joined(network, host), userAgent);
        expect(visitorHash(codeKey, joined(network, otherHost), userAgent)).toEqual(here);
        expect(visitorHash(codeKey, joined(otherNetwork, host), userAgent)).not.toEqual(here);
      }),
    );
  });

  it('of IPv4 differs for each address', () => {
    expect(visitor('203.0.113.7', 'x')).not.toBe(visitor('203.0.113.8', 'x'));
    expect(visitor('::ffff:203.0.113.7', 'x')).toBe(visitor('203.0.113.7', 'x'));
  });

  it('differs for each user agent, including truncated and padded ones', () => {
    const agents = [
      '',
      '\0',
      '\0\0\0\0',
      'a',
      'a\0',
      '\0\0\0\x01a',
      'b',
      'a'.repeat(5000),
      'a'.repeat(5001),
      'é',
      'Ã©',
    ];
    const hashes = agents.map((userAgent) => visitor('203.0.113.7', userAgent));
    expect(new Set(hashes).size).toBe(agents.length);
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (start, end) => {
        expect(visitor('203.0.113.7', start)).not.toBe(visitor('203.0.113.7', start + end));
      }),
    );
  });

  it('includes the last character of a very long user agent', () => {
    const long = 'ü'.repeat(20_000);
    expect(visitor('203.0.113.7', `${long}a`)).not.toBe(visitor('203.0.113.7', `${long}b`));
  });
});
