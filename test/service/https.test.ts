import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { plainHttpWarning } from '../../src/service/http-server.ts';
import { created } from '../support/api.ts';
import { openTab } from '../support/console.ts';
import { useService } from '../support/service.ts';

const publicUrl = 'https://qr.example.com';
const abuseContact = 'https://example.com/report?a=1&b="2"';
const service = useService({
  projections: false,
  config: { publicUrl, abuseContact, securityContact: 'mailto:security@example.com' },
  clock: () => new Date('2026-03-01T09:30:00.000Z'),
});
const url = () => service.urls[0] as string;
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url()}${path}`, { redirect: 'manual', headers });

describe('with an https PUBLIC_URL', () => {
  test('every response has Strict-Transport-Security for one year', async () => {
    const { live } = await service.account();
    const { short_code } = await created(live);
    for (const path of [`/${short_code}`, '/nothing-here', '/v1/account', '/console', '/swagger', '/healthz'])
      expect((await get(path)).headers.get('strict-transport-security'), path).toBe('max-age=31536000');
  });

  test('the session cookie is limited to this host', async () => {
    const { keys } = await service.account();
    const tab = openTab(url());
    const cookie = (await tab.signIn(keys.live)).headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^__Host-scanlog_session=[0-9A-Za-z]{43}; /);
    expect(cookie.split('; ').slice(1).toSorted()).toEqual([
      'HttpOnly',
      'Max-Age=43200',
      'Path=/',
      'SameSite=Strict',
      'Secure',
    ]);
    expect((await tab.get('/console/api/account')).status).toBe(200);
    const token = tab.cookie?.split('=')[1];
    tab.cookie = `scanlog_session=${token}`;
    expect((await tab.get('/console/api/account')).status, 'under another name it is none').toBe(401);
  });
});

describe('contacts', () => {
  test('security.txt names the contact and expires in less than a year (RFC 9116)', async () => {
    const response = await get('/.well-known/security.txt');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(await response.text()).toBe(
      [
        'Contact: mailto:security@example.com',
        'Expires: 2026-08-28T00:00:00Z',
        'Preferred-Languages: en',
        'Canonical: https://qr.example.com/.well-known/security.txt',
        '',
      ].join('\n'),
    );
    expect((await fetch(`${url()}/.well-known/security.txt`, { method: 'HEAD' })).status).toBe(200);
  });

  test('every notice page links the abuse contact', async () => {
    const { live } = await service.account();
    const { id, short_code } = await created(live);
    const linked = '<a href="https://example.com/report?a=1&amp;b=&quot;2&quot;">Report this link</a>';
    const page = async (path: string) => (await get(path)).text();
    expect(await page('/nothing-here')).toContain(linked);
    expect(await page('/nothing/here')).toContain(linked);
    await live.patch(`/v1/qrcodes/${id}`, { active: false });
    expect(await page(`/${short_code}`)).toContain(linked);
    await live.delete(`/v1/qrcodes/${id}`);
    expect(await page(`/${short_code}`)).toContain(linked);
    const json = await get('/nothing-here', { accept: 'application/json' });
    expect(await json.json()).toMatchObject({ error: { code: 'not_found' } });
  });
});

describe('the warning about unencrypted keys', () => {
  const warning = (environment: Record<string, string>) => plainHttpWarning(readConfig(environment));

  test.each([
    ['0.0.0.0', {}],
    ['::', {}],
    ['192.0.2.7', { PUBLIC_URL: 'http://192.0.2.7:3000' }],
  ])('is given on %s without TLS', (HOST, more) => {
    expect(warning({ HOST, ...more })).toContain(`listens on ${HOST}`);
  });

  test.each([
    ['on this machine only', { HOST: '127.0.0.1' }],
    ['on this machine by IPv6', { HOST: '::1' }],
    ['with TLS', { HOST: '0.0.0.0', PUBLIC_URL: 'https://qr.example.com' }],
    ['behind a proxy on another machine', { HOST: '0.0.0.0', TRUSTED_PROXIES: '10.0.0.0/8' }],
    ['without the role api', { HOST: '0.0.0.0', ROLES: 'edge' }],
  ])('is not given %s', (_, environment) => {
    expect(warning(environment)).toBeUndefined();
  });
});
