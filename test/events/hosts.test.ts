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
