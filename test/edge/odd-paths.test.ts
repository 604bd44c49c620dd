import { beforeAll, describe, expect, test } from 'vitest';
import { reservedWords } from '../../src/lib/short-code.ts';
import { newCode } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { type RawAnswer, sendRaw } from '../support/raw-http.ts';
import { useService } from '../support/service.ts';

const service = useService();
const shortCode = 'Menu-2_x';
let id: string;
beforeAll(async () => {
  const { live } = await service.account();
  const { body } = await live.post('/v1/qrcodes', newCode({ short_code: shortCode }));
  id = body.id;
});

const url = () => service.urls[0] as string;
const ask = (target: string, ...headers: string[]): Promise<RawAnswer> =>
  sendRaw(url(), [`GET ${target} HTTP/1.1`, 'Host: qr.example', ...headers]);

const scans = async () => {
  const [row] = await service.database.sql<[{ count: number }]>`SELECT count(*) FROM scans WHERE code = ${id}`;
  return row.count;
};

describe('paths of a short link', () => {
  test.each([
    ['as it is', `/${shortCode}`],
    ['with a slash behind it', `/${shortCode}/`],
    ['with a query, as trackers add it', `/${shortCode}?utm_source=poster&x=%0d%0a`],
    ['with a slash and a query', `/${shortCode}/?a=/b/../c`],
    ['with an empty query', `/${shortCode}?`],
    ['in absolute form, as proxies send it', `http://qr.example/${shortCode}`],
  ])('%s: redirects, without adding anything to the destination', async (_, path) => {
    const before = await scans();
    const answer = await ask(path);
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe('https://example.com/menu');
    expect(await scans()).toBe(before + 1);
  });

  test.each([
    ['in other letters: short codes tell them apart', '/menu-2_X'],
    ['with two slashes in front', `//${shortCode}`],
    ['with two slashes behind', `/${shortCode}//`],
    ['with something behind it', `/${shortCode}/more`],
    ['below something', `/more/${shortCode}`],
    ['with a dot behind it', `/${shortCode}.`],
    ['with a letter percent-encoded wrongly', `/${shortCode}%`],
    ['with an encoded slash', `/${shortCode}%2f`],
    ['with an encoded line break', `/${shortCode}%0d%0aLocation:%20https://evil.example`],
    ['with an encoded zero byte', `/${shortCode}%00`],
    ['with a semicolon', `/${shortCode};v=1`],
    ['with letters that look alike', `/${encodeURIComponent('Мenu-2_x')}`],
    ['with raw unicode', '/Ménu'],
    ['three dots', '/...'],
    ['a way up and out', '/../../etc/passwd'],
    ['an encoded way up', '/%2e%2e/%2e%2e/etc/passwd'],
    ['an asterisk', '/*'],
    ['SQL', "/x'%20OR%20'1'='1"],
    ['51 letters', `/${'a'.repeat(51)}`],
    ['8,000 letters', `/${'a'.repeat(8_000)}`],
    ['two letters', '/ab'],
    ['the name of a property of every object', '/__proto__'],
    ['another one', '/constructor'],
  ])('%s: is no such code, and nothing is recorded', async (_, path) => {
    const before = await scans();
    const answer = await ask(path);
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('No such code');
    expect(answer.headers.get('location')).toBeNull();
    expect(await scans()).toBe(before);
  });

  test('the root is no short link', async () => {
    const before = await scans();
    for (const path of ['/', '//', '/?x=1', '/.', '/..']) {
      const { status, headers } = await ask(path);
      expect([302, 404], path).toContain(status);
      expect(headers.get('location') ?? '/', 'at most a way into the service itself').toMatch(/^\/(?!\/)/);
    }
    expect(await scans()).toBe(before);
  });

  test('words that the service uses are never looked up as short codes, in whatever letters', async () => {
    await eventually(async () => expect((await ask('/readyz')).status).toBe(200));
    for (const word of reservedWords)
      for (const path of [`/${word}`, `/${word.toUpperCase()}`, `/${word}/`]) {
        const { status, headers } = await ask(path);
        expect(status, path).not.toBe(302);
        expect(status, path).toBeLessThan(500);
        expect(headers.get('location') ?? '', path).not.toContain('example.com');
      }
  });

  test('a path too long to be one is refused without an error of ours', async () => {
    const { status } = await ask(`/${'a'.repeat(100_000)}`);
    expect([404, 414, 431]).toContain(status);
  });

  test('what cannot be a short code is never asked of Postgres', async () => {
    await service.database.sql`ALTER TABLE codes RENAME TO codes_elsewhere`;
    try {
      for (const path of ['/ab', `/${'a'.repeat(51)}`, '/a%00b', '/-abc', '/a.b'])
        expect((await ask(path)).status, path).toBe(404);
      expect((await ask('/could-be-one')).status, 'one that could be cannot be looked up now').toBe(503);
    } finally {
      await service.database.sql`ALTER TABLE codes_elsewhere RENAME TO codes`;
    }
  });
});

describe('no answer shows anything of the request', () => {
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
    ['X-Request-Id that is not well-formed', `/${shortCode}`, [`X-Request-Id: ${marker} <script>`]],
    ['X-Forwarded-For', `/${shortCode}`, [`X-Forwarded-For: ${marker}`]],
  ])('%s', async (_, path, headers) => {
    for (const accept of ['Accept: text/html', 'Accept: application/json']) {
      const { text, headers: answered } = await ask(
        path,
        ...(headers.some((h) => h.startsWith('Accept')) ? [] : [accept]),
        ...headers,
      );
      expect(text.toLowerCase()).not.toContain(marker.toLowerCase());
      expect(JSON.stringify([...answered]).toLowerCase()).not.toContain(marker.toLowerCase());
    }
  });
});
