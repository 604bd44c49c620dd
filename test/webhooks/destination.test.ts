import { describe, expect, test } from 'vitest';
import { parseAddress } from '../../src/lib/ip-address.ts';
import { type IpRanges, parseRanges } from '../../src/lib/ip-range.ts';
import { isPublic } from '../../src/lib/public-address.ts';
import { faultOfUrl, vettedAddresses } from '../../src/webhooks/destination.ts';

const none = { v4: [], v6: [] };
const strict = { allowHttp: false, allowed: none };
const bytes = (address: string) => parseAddress(address) as Uint8Array;

describe('addresses', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.32.0.1',
    '100.128.0.1',
    '192.0.1.1',
    '2606:4700::1',
    '2a00::1',
  ])('%s is public', (address) => expect(isPublic(bytes(address))).toBe(true));

  test.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '100.100.100.200', '192.0.0.192', '168.63.129.16', '224.0.0.1'],
    ...['239.255.255.250', '240.0.0.1', '255.255.255.255', '198.18.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1'],
    ...['192.88.99.1', '::', '::1', 'fe80::1', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1', '100::1'],
    ...['::ffff:127.0.0.1', '::ffff:169.254.169.254', '::127.0.0.1', '2002:7f00:1::', '2002:a9fe:a9fe::'],
    ...['64:ff9b::7f00:1', '64:ff9b:1::1', '2001::1', '2001:db8::1', '3fff::1', '5f00::1'],
  ])('%s is not public', (address) => expect(isPublic(bytes(address))).toBe(false));
});

describe('a URL', () => {
  test.each([
    'https://example.com/hooks',
    'https://example.com:8443/hooks?a=b',
    'https://bücher.example/',
    'HTTPS://example.com',
  ])('%s is valid', (url) => expect(faultOfUrl(url, strict)).toBeUndefined());

  test.each([
    ['http://example.com', 'begin with https://'],
    ['ftp://example.com', 'begin with https://'],
    ['example.com', 'begin with https://'],
    ['https:///example.com', 'begin with https://'],
    ['https://', 'begin with https://'],
    ['https://me:secret@example.com', 'user name or password'],
    ['https://me@example.com', 'user name or password'],
    ['https://@example.com', 'user name or password'],
    ['https://example.com/#there', 'fragment'],
    ['https://exa mple.com', 'valid host'],
    ['https://example.com\\@evil.example', 'valid host'],
    [`https://example.com/${'x'.repeat(2_048)}`, '2,048'],
  ])('%s is invalid', (url, complaint) => expect(faultOfUrl(url, strict)).toContain(complaint));

  test('may be http if the operator allows it; else the message names the setting', () => {
    expect(faultOfUrl('http://example.com', strict)).toContain('WEBHOOK_ALLOW_HTTP=true');
    expect(faultOfUrl('http://example.com', { ...strict, allowHttp: true })).toBeUndefined();
  });
});

describe('the addresses of a URL', () => {
  const vetted = (url: string, found: string[], allowed: IpRanges = none) =>
    vettedAddresses(new URL(url), { allowHttp: true, allowed }, async () => found);

  test.each([
    ...['http://127.1/', 'http://0x7f000001/', 'http://2130706433/', 'http://0/', 'http://[::1]/'],
    ...['http://[::ffff:7f00:1]/', 'http://[64:ff9b::a9fe:a9fe]/', 'http://169.254.169.254/latest/meta-data'],
  ])('refuses %s, a non-public address in another notation', async (url) => {
    await expect(vetted(url, ['1.1.1.1'])).rejects.toThrow('must not call');
  });

  test('include only the public ones of a name', async () => {
    expect(await vetted('https://a.test', ['10.0.0.1', '1.1.1.1', '2606:4700::1'])).toEqual([
      '1.1.1.1',
      '2606:4700::1',
    ]);
    await expect(vetted('https://a.test', ['10.0.0.1', 'fe80::1%eth0'])).rejects.toThrow('must not call');
    await expect(vetted('https://a.test', ['10.0.0.1'])).rejects.toThrow('WEBHOOK_ALLOWED_CIDRS');
    await expect(vetted('https://a.test', [])).rejects.toThrow('could not be resolved');
  });

  test('include those that the operator allows', async () => {
    const allowed = parseRanges('10.1.0.0/16, fd00::/8') as IpRanges;
    expect(await vetted('https://a.test', ['10.1.2.3', '10.2.2.3', 'fd00::1'], allowed)).toEqual([
      '10.1.2.3',
      'fd00::1',
    ]);
    expect(await vetted('https://10.1.0.1', [], allowed)).toEqual(['10.1.0.1']);
  });
});
