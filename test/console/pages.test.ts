import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { openTab } from '../support/console.ts';
import { useService } from '../support/service.ts';

const service = useService();
const tab = () => openTab(service.urls[0] as string);

const policy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data: blob:",
  'connect-src': "'self'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
  'base-uri': "'none'",
};

describe('every page', () => {
  test.each(['/console', '/console/codes/new', '/console/test', '/console/no/such/page'])(
    '%s runs nothing but its own script, and is kept by nobody',
    async (path) => {
      const { status, headers, text } = await tab().get(path);
      expect(status).toBe(200);
      const given = (headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
        const [name, ...values] = rule.split(' ');
        return [name, values.join(' ')];
      });
      expect(Object.fromEntries(given)).toEqual(policy);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|style=|https?:\/\//);
    },
  );

  test('escapes what it is told', async () => {
    const name = `"><script>alert(1)</script>'&`;
    const { live } = await createAccount(service.database.sql, { name, plan: 'pro', now: new Date() });
    const browser = tab();
    await browser.signIn(live.secret);
    const { text } = await browser.get('/console');
    expect(text).not.toContain('<script>alert');
    const [, told = ''] = /data-welcome="([^"]*)"/.exec(text) ?? [];
    const plain = told
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&');
    expect(JSON.parse(plain).account.name).toBe(name);
  });

  test('is made in the colors that were chosen', async () => {
    const lightUp = async (cookie: string) => {
      const browser = tab();
      browser.cookie = cookie;
      return /<html[^>]*>/.exec((await browser.get('/console')).text)?.[0];
    };
    expect(await lightUp('scanlog_theme=dark')).toBe('<html lang="en" data-theme="dark">');
    expect(await lightUp('scanlog_theme="><script>')).toBe('<html lang="en">');
  });
});

describe('files', () => {
  test('are named after their content, kept for ever, and small', async () => {
    const { keys } = await service.account();
    const browser = tab();
    await browser.signIn(keys.live);
    const { text } = await browser.get('/console');
    const paths = [...text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path as string);
    expect(paths.map((path) => path.replace(/-[\w-]{12}\./, '.')).toSorted()).toEqual([
      '/console/assets/console.css',
      '/console/assets/console.js',
      '/console/assets/mark.svg',
    ]);
    for (const path of paths) {
      const answer = await fetch(`${service.urls[0]}${path}`, {
        headers: { 'accept-encoding': 'gzip' },
        decompress: false,
      } as RequestInit);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const zipped = new Uint8Array(await answer.arrayBuffer());
      if (path.endsWith('.js')) {
        expect(zipped.byteLength).toBeLessThan(150 * 1024);
        expect(gunzipSync(zipped).toString()).not.toMatch(/sk_(live|test)_[0-9A-Za-z]/);
      }
    }
  });

  test('that do not exist are not found', async () => {
    expect((await tab().get('/console/assets/console-000000000000.js')).status).toBe(404);
    expect((await tab().get('/console/assets/../../package.json')).text).not.toContain('"dependencies"');
  });
});
