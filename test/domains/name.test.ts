import { describe, expect, test } from 'vitest';
import { readDomainName } from '../../src/domains/name.ts';

const own = ['qr.example.com', 'links.example.com'];
const label63 = 'a'.repeat(63);

describe('a domain is read', () => {
  test.each([
    ['go.acme.com', 'go.acme.com'],
    ['  Go.ACME.com. ', 'go.acme.com'],
    ['acme.com', 'acme.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['shop.github.io', 'shop.github.io'],
    ['a.b.c.d.acme.co.uk', 'a.b.c.d.acme.co.uk'],
    [`${label63}.com`, `${label63}.com`],
    ['1.acme.com', '1.acme.com'],
  ])('%s', (text, name) => expect(readDomainName(text, own)).toEqual({ name }));
});

describe('a domain is refused', () => {
  test.each([
    ['203.0.113.7', 'not an address'],
    ['127.1', 'name of a domain'],
    ['0x7f.1', 'name of a domain'],
    ['2001:db8::1', 'not an address'],
    ['[2001:db8::1]', 'not an address'],
    ['::ffff:203.0.113.7', 'not an address'],
    ['', 'name of a domain'],
    ['.', 'name of a domain'],
    ['localhost', 'a dot'],
    ['com.', 'a dot'],
    ['co.uk', 'anyone can register'],
    ['github.io', 'anyone can register'],
    ['qr.example.com', 'a host of this service'],
    ['LINKS.example.com.', 'a host of this service'],
    ['https://go.acme.com', 'without scheme'],
    ['go.acme.com/menu', 'without scheme'],
    ['go.acme.com:8080', 'without scheme'],
    ['go.acme.com?x', 'without scheme'],
    ['user@go.acme.com', 'without scheme'],
    ['go%2eacme.com', 'without scheme'],
    ['go acme.com', 'without scheme'],
    ['go..acme.com', 'without scheme'],
    ['go.acme.com..', 'without scheme'],
    ['-go.acme.com', 'without scheme'],
    ['go_.acme.com', 'without scheme'],
    ['*.acme.com', 'without scheme'],
    [`${label63}a.com`, 'without scheme'],
    [`${`${label63}.`.repeat(4)}com`, 'at most 244 characters'],
    [`${`${label63}.`.repeat(3)}${'b'.repeat(49)}.com`, 'at most 244 characters'],
    ['\u0000.com', 'without scheme'],
  ])('%j', (text, words) => expect(readDomainName(text, own)).toEqual({ problem: expect.stringContaining(words) }));
});
