import { describe, expect, test } from 'vitest';
import { coveringHosts, hostOf, readHost } from '../../events/hosts.ts';

describe('a host', () => {
  test.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    [' shop.example.com ', 'shop.example.com'],
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]', '[::1]'],
    ['localhost', 'localhost'],
    ['example.com..', 'example.com'],
    ['XN--BCHER-KVA.Example', 'xn--bcher-kva.example'],
    ['example。com', 'example.com'],
    ['[2001:DB8:0:0:0:0:0:1]', '[2001:db8::1]'],
    ['[::ffff:198.51.100.7]', '198.51.100.7'],
    ['[0:0:0:0:0:FFFF:C633:6407]', '198.51.100.7'],
    ['[::ffff:0.0.0.1]', '0.0.0.1'],
    ['[64:ff9b::198.51.100.7]', '198.51.100.7'],
    ['3325256711', '198.51.100.7'],
    ['0xC6.51.25607', '198.51.100.7'],
    ['0306.063.0144.07', '198.51.100.7'],
    ['198.51.100.7..', '198.51.100.7'],
    ['0xc6336407..', '198.51.100.7'],
    ['999.1.1.1..', '999.1.1.1'],
  ])('%j becomes %j', (text, host) => {
    expect(readHost(text)).toBe(host);
  });

  test.each([
    '',
    ' ',
    'https://example.com',
    'example.com/path',
    'user@example.com',
    'example.com:80',
    'a b',
    '?',
    '[::1',
    '...',
  ])('%j is not a host', (text) => {
    expect(readHost(text)).toBeUndefined();
  });

  test('is covered by itself and its parent domains, an IP address only by itself', () => {
    expect(coveringHosts('a.b.example')).toEqual(['a.b.example', 'b.example', 'example']);
    expect(coveringHosts('10.0.0.1')).toEqual(['10.0.0.1']);
    expect(coveringHosts('[2001:db8::1]')).toEqual(['[2001:db8::1]']);
  });

  test('of a URL is canonical too', () => {
    expect(hostOf('HTTPS://Shop.Bücher.Example.:8443/x?y#z')).toBe('shop.xn--bcher-kva.example');
  });
});
