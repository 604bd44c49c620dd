import { describe, expect, test } from 'vitest';
import { reachOf } from '../../src/lib/private-host.ts';

const reach = (url: string) => reachOf(new URL(url).hostname);

describe('a host can be reached from', () => {
  test.each([
    'localhost',
    'LOCALHOST.',
    'qr.localhost',
    '127.0.0.1',
    '127.1',
    '127.255.0.9',
    '0.0.0.0',
    '[::1]',
    '[::]',
  ])('this computer: %s', (host) => {
    expect(reach(`http://${host}:3000/x`)).toBe('computer');
  });

  test.each([
    ...[
      '10.0.0.1',
      '192.168.178.20',
      '172.16.0.1',
      '172.31.255.1',
      '169.254.1.1',
      '100.64.0.1',
      '[fd00::1]',
      '[fe80::1]',
    ],
    ...['[::ffff:10.0.0.1]', 'printer.local', 'qr', 'qr.lan', 'nas.home.arpa', 'app.internal', 'qr.test', 'qr.local.'],
  ])('the own network: %s', (host) => {
    expect(reach(`http://${host}/`)).toBe('network');
  });

  test.each([
    'example.com',
    'qr.example.com.',
    '8.8.8.8',
    '172.32.0.1',
    '192.169.0.1',
    '[2606:4700::1111]',
    'local.example',
  ])('anywhere: %s', (host) => {
    expect(reach(`https://${host}/`)).toBe('anywhere');
  });
});
