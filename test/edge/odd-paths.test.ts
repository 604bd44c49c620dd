import { beforeAll, describe, expect, test } from 'vitest';
import { reservedWords } from '../../events/reserved-words.ts';
import { created } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { type RawResponse, sendRaw } from '../support/raw-http.ts';
import { useService } from '../support/service.ts';

const service = useService();
const shortCode = 'Menu-2_x';
let id: string;
beforeAll(async () => {
  const { live } = await service.account();
  ({ id } = await created(live, { short_code: shortCode }));
});

const url = () => service.urls[0] as string;
const request = (target: string, ...headers: string[]): Promise<RawResponse> =>
  sendRaw(url(), [`GET ${target} HTTP/1.1`, 'Host: qr.example', ...headers]);

const scans = async () => {
  await service.allStored();
  const [row] = await service.database.sql<[{ count: number }]>`SELECT count(*) FROM scans WHERE code = ${id}`;
  return row.count;
};

describe('paths of a short link', () => {
  test.each([
    ['unchanged', `/${shortCode}`],
    ['in another case', '/menu-2_X'],
    ['with a trailing slash', `/${shortCode}/`],
    ['with a tracking query', `/${shortCode}?utm_source=poster&x=%0d%0a`],
    ['with a slash and a query', `/${shortCode}/?a=/b/../c`],
    ['with an empty query', `/${shortCode}?`],
    ['in absolute form, as proxies send it', `http://qr.example/${shortCode}`],
  ])('%s: redirects to the unchanged destination', async (_, path) => {
    const before = await scans();
    const response = await request(path);
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('https://example.com/menu');
    expect(await scans()).toBe(before + 1);
  });

  test.each([
    ['with two leading slashes', `//${shortCode}`],
    ['with two trailing slashes', `/${shortCode}//`],
    ['with a further segment', `/${shortCode}/more`],
    ['as second segment', `/more/${shortCode}`],
    ['with a trailing dot', `/${shortCode}.`],
    ['with an incomplete percent-encoding', `/${shortCode}%`],
    ['with an encoded slash', `/${shortCode}%2f`],
    ['with an encoded line break', `/${shortCode}%0d%0aLocation:%20https://evil.example`],
    ['with an encoded zero byte', `/${shortCode}%00`],
    ['with a semicolon', `/${shortCode};v=1`],
    ['with letters that look alike', `/${encodeURIComponent('Мenu-2_x')}`],
    ['with raw unicode', '/Ménu'],
    ['three dots', '/...'],
    ['a path traversal', '/../../etc/passwd'],
    ['an encoded path traversal', '/%2e%2e/%2e%2e/etc/passwd'],
    ['an asterisk', '/*'],
    ['SQL', "/x'%20OR%20'1'='1"],
    ['51 letters', `/${'a'.repeat(51)}`],
    ['8,000 letters', `/${'a'.repeat(8_000)}`],
    ['two letters', '/ab'],
    ['__proto__', '/__proto__'],
    ['constructor', '/constructor'],
  ])('%s: returns 404 and records nothing', async (_, path) => {
    const before = await scans();
    const response = await request(path);
    expect(response.status).toBe(404);
    expect(response.text).toContain('No such code');
    expect(response.headers.get('location')).toBeNull();
    expect(await scans()).toBe(before);
  });

  test('the root is not a short link', async () => {
    const before = await scans();
    for (const path of ['/', '//', '/?x=1', '/.', '/..']) {
      const { status, headers } = await request(path);
      expect([302, 404], path).toContain(status);
      expect(headers.get('location') ?? '/', 'redirects only to a path of the service').toMatch(/^\/(?!\/)/);
    }
    expect(await scans()).toBe(before);
  });

  test('reserved words are never short codes, in any case', async () => {
    await eventually(async () => expect((await request('/readyz')).status).toBe(200));
    for (const word of reservedWords)
      for (const path of [`/${word}`, `/${word.toUpperCase()}`, `/${word}/`]) {
        const { status, headers } = await request(path);
        expect(status, path).not.toBe(302);
        expect(status, path).toBeLessThan(500);
        expect(headers.get('location') ?? '', path).not.toContain('example.com');
      }
  });

  test('a very long path is refused with a 4xx status', async () => {
    const { status } = await request(`/${'a'.repeat(100_000)}`);
    expect([404, 414, 431]).toContain(status);
  });

  test('invalid short codes are not looked up in Postgres', async () => {
    await service.database.sql`ALTER TABLE codes RENAME TO codes_elsewhere`;
    try {
      for (const path of ['/ab', `/${'a'.repeat(51)}`, '/a%00b', '/-abc', '/a.b'])
        expect((await request(path)).status, path).toBe(404);
      expect((await request('/could-be-one')).status, 'a valid one cannot be looked up now').toBe(503);
    } finally {
      await service.database.sql`ALTER TABLE codes_elsewhere RENAME TO codes`;
    }
  });
});

describe('a response never contains input from', () => {
  const marker = 'zzMARKERzz';
  test.each([
    ['path', `/${marker}`, []],
    ['encoded path', `/${marker}%3Cscript%3E`, []],
    ['long path', `/${marker}/${marker}`, []],
    ['query', `/${shortCode}?${marker}=${marker}`, []],
    ['query of an unknown code', `/unknown-1?${marker}`, []],
    ['Host', '/unknown-1', [`X-Forwarded-Host: ${marker}.example`]],
    ['Referer and User-Agent', `/${shortCode}`, [`Referer: https://${marker}/`, `User-Agent: ${marker}`]],
    ['Accept', '/unknown-1', [`Accept: application/json, ${marker}`]],
    ['Origin', `/${shortCode}`, [`Origin: https://${marker}.example`]],
    ['Cookie', `/${shortCode}`, [`Cookie: a=${marker}`]],
    ['an invalid X-Request-Id', `/${shortCode}`, [`X-Request-Id: ${marker} <script>`]],
    ['X-Forwarded-For', `/${shortCode}`, [`X-Forwarded-For: ${marker}`]],
  ])('%s', async (_, path, headers) => {
    for (const accept of ['Accept: text/html', 'Accept: application/json']) {
      const { text, headers: answered } = await request(
        path,
        ...(headers.some((h) => h.startsWith('Accept')) ? [] : [accept]),
        ...headers,
      );
      expect(text.toLowerCase()).not.toContain(marker.toLowerCase());
      expect(JSON.stringify([...answered]).toLowerCase()).not.toContain(marker.toLowerCase());
    }
  });
});
