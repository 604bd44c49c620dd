import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { openTab } from '../support/console.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
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
    '%s runs only its own script and is not cached',
    async (path) => {
      const { status, headers, text } = await tab().get(path);
      expect(status).toBe(200);
      const directives = (headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
        const [name, ...values] = rule.split(' ');
        return [name, values.join(' ')];
      });
      expect(Object.fromEntries(directives)).toEqual(policy);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|style=|https?:\/\//);
    },
  );

  test('escapes the account name', async () => {
    const name = `"><script>alert(1)</script>'&`;
    const { live } = await createAccount(service.database.sql, { name, plan: 'pro', now: new Date() });
    const browser = tab();
    await browser.signIn(live.secret);
    const { text } = await browser.get('/console');
    expect(text).not.toContain('<script>alert');
    const [, attribute = ''] = /data-bootstrap="([^"]*)"/.exec(text) ?? [];
    const unescaped = attribute
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&');
    expect(JSON.parse(unescaped).account.name).toBe(name);
  });

  test('of the guides needs no session, and links only to what the service has', async () => {
    const { status, headers, text } = await tab().get('/console/docs/README.md');
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(text).toContain('<a href="rules.md">Rules</a>');
    expect(text).not.toContain('../');
    for (const name of ['nothing.md', '..%2FREADME.md', 'print.png'])
      expect((await tab().get(`/console/docs/${name}`)).status, name).toBe(404);
  });

  test('is rendered in the theme of the cookie', async () => {
    const htmlTagWith = async (cookie: string) => {
      const browser = tab();
      browser.cookie = cookie;
      return /<html[^>]*>/.exec((await browser.get('/console')).text)?.[0];
    };
    expect(await htmlTagWith('scanlog_theme=dark')).toBe('<html lang="en" data-theme="dark">');
    expect(await htmlTagWith('scanlog_theme="><script>')).toBe('<html lang="en">');
  });
});

describe('assets', () => {
  test('have a content hash in their path, are cached forever, and stay below 150 KiB compressed', async () => {
    const { keys } = await service.account();
    const browser = tab();
    await browser.signIn(keys.live);
    const pathsOf = async (page: string) =>
      [...(await browser.get(page)).text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(
        ([, path]) => path as string,
      );
    const [paths, ofOperators] = [await pathsOf('/console'), await pathsOf('/console/operator/health')];
    const withoutHash = (path: string) => path.replace(/-[\w-]{12}\./, '.');
    const shared = ['/console/assets/console.css', '/console/assets/mark.svg'];
    expect(paths.map(withoutHash).toSorted()).toEqual(['/console/assets/console.js', ...shared].toSorted());
    expect(ofOperators.map(withoutHash).toSorted()).toEqual(['/console/assets/operator.js', ...shared].toSorted());
    for (const path of new Set([...paths, ...ofOperators])) {
      const response = await fetch(`${service.urls[0]}${path}`, {
        headers: { 'accept-encoding': 'gzip' },
        decompress: false,
      } as RequestInit);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const gzipped = new Uint8Array(await response.arrayBuffer());
      if (path.endsWith('.js')) {
        expect(gzipped.byteLength).toBeLessThan(150 * 1024);
        expect(gunzipSync(gzipped).toString()).not.toMatch(/sk_(live|test)_[0-9A-Za-z]/);
      }
    }
  });

  test('return 404 for an unknown file', async () => {
    expect((await tab().get('/console/assets/console-000000000000.js')).status).toBe(404);
    expect((await tab().get('/console/assets/../../package.json')).text).not.toContain('"dependencies"');
  });
});
