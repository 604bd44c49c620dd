import { beforeAll, describe, expect, test } from 'vitest';
import type { DomainSettings } from '../../events/domain.ts';
import { suspend } from '../../src/accounts/accounts.ts';
import { findAnyCode, takeDown } from '../../src/codes/takedown.ts';
import { created, newCode, type ReceivedResponse } from '../support/api.ts';
import { appendToDomain, givenDomain } from '../support/domains.ts';
import { eventually } from '../support/eventually.ts';
import { sendRaw } from '../support/raw-http.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ instances: 2 });
let account: TestAccount;
let domain: { domain: string; name: string };
beforeAll(async () => {
  account = await service.account('enterprise');
  domain = await givenDomain(service, account.id, 'go.acme.test');
});

/** Not the client of the API, which expects documented responses below /v1. */
async function on(
  host: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Omit<ReceivedResponse, 'body'>> {
  const response = await fetch(`${service.urls[0]}${path}`, { redirect: 'manual', headers: { host, ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const given = (fields: Record<string, unknown> = {}, api = account.live) =>
  created(api, { domain: 'go.acme.test', ...fields });

let codes = 0;
const uniqueCode = () => `code-${++codes}`;

const noSettings: DomainSettings = { root_url: null, not_found_url: null, expired_url: null, app_links: null };
const change = (from: Partial<DomainSettings>, to: Partial<DomainSettings>) => {
  const data = { ...domain, from: { ...noSettings, ...from }, to: { ...noSettings, ...to } };
  return appendToDomain(service, account.id, domain.name, [{ type: 'domain_changed', data }], true);
};

describe('a code on a custom domain', () => {
  test('has its domain and a short link there, and redirects only there', async () => {
    const code = await given({ short_code: 'Menu-1' });
    expect(code).toMatchObject({ domain: 'go.acme.test', short_code: 'Menu-1' });
    expect(new URL(code.short_url).hostname).toBe('go.acme.test');
    expect(new URL(code.short_url).pathname).toBe('/Menu-1');
    for (const path of ['/Menu-1', '/menu-1', '/MENU-1/?table=3']) {
      const response = await on('go.acme.test', path);
      expect([response.status, response.headers.get('location')], path).toEqual([302, 'https://example.com/menu']);
    }
    expect((await on('localhost', '/Menu-1')).status).toBe(404);
    expect((await on('other.test', '/Menu-1')).status).toBe(404);
  });

  test('with the same short code on the service and on another account’s domain never meets the others', async () => {
    const other = await service.account('enterprise');
    await givenDomain(service, other.id, 'go.other.test');
    const urls = { plain: 'https://example.com/1', own: 'https://example.com/2', other: 'https://example.com/3' };
    await created(account.live, { short_code: 'same', destination_url: urls.plain });
    await given({ short_code: 'same', destination_url: urls.own });
    await created(other.live, { short_code: 'same', domain: 'go.other.test', destination_url: urls.other });
    const locationOn = async (host: string) => (await on(host, '/same')).headers.get('location');
    expect(await locationOn('localhost')).toBe(urls.plain);
    expect(await locationOn('go.acme.test')).toBe(urls.own);
    expect(await locationOn('go.other.test')).toBe(urls.other);
  });

  test('takes its short code in any case, on its domain only', async () => {
    await given({ short_code: 'Winter' });
    const taken = await account.live.post('/v1/qrcodes', newCode({ domain: 'go.acme.test', short_code: 'wINTER' }));
    expect([taken.status, taken.body.error.code]).toEqual([409, 'short_code_taken']);
    expect(taken.body.error.message).toContain('"Winter"');
    await created(account.live, { short_code: 'winter' });
    const bulk = await account.live.post('/v1/qrcodes/bulk', {
      qrcodes: ['go.acme.test', undefined].map((name) => newCode({ domain: name, short_code: 'spring' })),
    });
    expect(bulk.status, bulk.text).toBe(201);
  });

  test('with a generated short code works in any case, too', async () => {
    const code = await given();
    expect((await on('go.acme.test', `/${code.short_code.toUpperCase()}`)).status).toBe(302);
  });

  test.each([
    ['a domain of another account', 'go.elsewhere.test', /not a domain of this account/],
    ['what is no domain', 'a b', /must be the name of a domain/],
  ])('cannot be created on %s', async (_, name, message) => {
    const { status, body } = await account.live.post('/v1/qrcodes', newCode({ domain: name }));
    expect([status, body.error.details[0].field]).toEqual([400, 'domain']);
    expect(body.error.message).toMatch(message);
  });

  test('keeps its domain: PATCH refuses it, a duplicate is on it, and its history names it', async () => {
    const code = await given();
    const refused = await account.live.patch(`/v1/qrcodes/${code.id}`, { domain: 'go.other.test' });
    expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'domain']);
    const { body: copy } = await account.live.post(`/v1/qrcodes/${code.id}/duplicate`, {});
    expect(copy.domain).toBe('go.acme.test');
    const { body: plain } = await account.live.post(`/v1/qrcodes/${code.id}/duplicate`, { domain: null });
    expect(plain.domain).toBeUndefined();
    const { body: history } = await account.live.get(`/v1/qrcodes/${code.id}/history`);
    expect(history.data[0].to).toMatchObject({ domain: 'go.acme.test', short_code: code.short_code });
  });

  test('is found by its domain, short code and short link', async () => {
    const code = await given({ name: 'Terrace', short_code: 'terrace' });
    await created(account.live, { short_code: 'terrace' });
    const idsOf = async (query: string) =>
      (await account.live.get(`/v1/qrcodes?${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await idsOf('domain=GO.acme.test&limit=100')).toContain(code.id);
    expect(await idsOf('domain=go.acme.test&short_code=terrace')).toEqual([code.id]);
    expect(await idsOf('short_code=terrace')).toHaveLength(2);
    expect(await idsOf(`q=${encodeURIComponent(code.short_url)}`)).toEqual([code.id]);
  });

  test('is in analytics, exports and events with its domain', async () => {
    const code = await given();
    await on('go.acme.test', `/${code.short_code}`);
    await eventually(async () => {
      const path = `/v1/analytics/aggregate?qr_id=${code.id}&domain=go.acme.test`;
      expect((await account.live.get(path)).body.summary.total_scans).toBe(1);
    });
    const none = await account.live.get(`/v1/analytics/aggregate?qr_id=${code.id}&domain=go.other.test`);
    expect(none.body.summary.total_scans).toBe(0);
    const csv = await account.live.get(`/v1/qrcodes/${code.id}/analytics/export?columns=all`);
    const [header, row] = csv.text.split('\r\n');
    expect([header?.split(',').at(-1), row?.split(',').at(-1)]).toEqual(['domain', 'go.acme.test']);
    const { body: events } = await account.live.get(`/v1/events?qr_id=${code.id}&types=code.created`);
    expect(events.data[0].data.to).toMatchObject({ domain: 'go.acme.test' });
  });

  test('cannot be the destination of another code, which could be a loop', async () => {
    const { status, body } = await account.live.post(
      '/v1/qrcodes',
      newCode({ destination_url: 'http://go.acme.test/a' }),
    );
    expect([status, body.error.details[0].field]).toEqual([400, 'destination_url']);
  });

  test('is taken down by its link', async () => {
    const code = await given({ short_code: 'phish' });
    expect((await findAnyCode(service.database.sql, 'go.acme.test/phish'))?.id).toBe(code.id);
    await takeDown(service.database.sql, code.id, 'Phishing', new Date());
    await eventually(async () => expect((await on('go.acme.test', '/phish')).status).toBe(410));
  });
});

describe('a custom domain', () => {
  test.each(['/v1/qrcodes', '/console', '/swagger', '/openapi.json', '/images/x/public', '/healthz', '/internal/tls'])(
    'has nothing else of the service: %s',
    async (path) => {
      expect((await on('go.acme.test', path)).status).toBe(404);
    },
  );

  test.each([
    ['another case', ['GET /hosts HTTP/1.1', 'Host: GO.Acme.Test'], true],
    ['a port', ['GET /hosts HTTP/1.1', 'Host: go.acme.test:8443'], true],
    ['a final dot', ['GET /hosts HTTP/1.1', 'Host: go.acme.test.'], true],
    ['a final dot and a port', ['GET /hosts HTTP/1.1', 'Host: go.acme.test.:80'], true],
    ['the absolute form', ['GET http://go.acme.test/hosts HTTP/1.1', 'Host: go.acme.test'], true],
    ['a trusted proxy', ['GET /hosts HTTP/1.1', 'Host: localhost', 'X-Forwarded-Host: go.acme.test'], true],
    ['HTTP/1.0 without Host', ['GET /hosts HTTP/1.0'], false],
    ['a subdomain', ['GET /hosts HTTP/1.1', 'Host: www.go.acme.test'], false],
    ['a longer name', ['GET /hosts HTTP/1.1', 'Host: go.acme.test.evil.test'], false],
    ['an address', ['GET /hosts HTTP/1.1', 'Host: [::1]:80'], false],
    ['user info', ['GET /hosts HTTP/1.1', 'Host: go.acme.test@evil.test'], false],
  ])('is recognized by its host: %s', async (_, head, isRecognized) => {
    if ((await on('go.acme.test', '/hosts')).status === 404) await given({ short_code: 'hosts' });
    expect((await sendRaw(service.urls[0] as string, head)).status).toBe(isRecognized ? 302 : 404);
  });

  test('with other letters than ASCII is recognized in both spellings', async () => {
    await givenDomain(service, account.id, 'xn--bcher-kva.test');
    await given({ domain: 'bücher.test', short_code: 'buch' });
    for (const host of ['xn--bcher-kva.test', 'bücher.test']) {
      const response = await sendRaw(service.urls[0] as string, ['GET /buch HTTP/1.1', `Host: ${host}`]);
      expect(response.status, host).toBe(302);
    }
  });

  test('has a page at its root, or leads where its owner says', async () => {
    const page = await on('go.acme.test', '/', { 'accept-language': 'de' });
    expect([page.status, page.text.includes('Kurzlinks')]).toEqual([200, true]);
    await change({}, { root_url: 'https://acme.example/ü' });
    await eventually(async () => {
      const { status, headers } = await on('go.acme.test', '/');
      expect([status, headers.get('location')]).toEqual([302, 'https://acme.example/%C3%BC']);
    });
    await change({ root_url: 'https://acme.example/ü' }, {});
  });

  test('answers unknown and ended codes with its own pages, and paused ones not', async () => {
    const to = { not_found_url: 'https://acme.example/404', expired_url: 'https://acme.example/over' };
    await change({}, to);
    const ended = await given({ expires_at: '2020-01-01T00:00:00Z' });
    const withFallback = await given({ expires_at: '2020-01-01T00:00:00Z', fallback_url: 'https://example.com/f' });
    const paused = await given();
    await account.live.patch(`/v1/qrcodes/${paused.id}`, { active: false });
    const responseOf = async (path: string) => {
      const { status, headers } = await on('go.acme.test', path);
      return [status, headers.get('location')];
    };
    await eventually(async () => expect(await responseOf('/no-such-code')).toEqual([302, to.not_found_url]));
    expect(await responseOf('/a/b')).toEqual([302, to.not_found_url]);
    expect(await responseOf(`/${ended.short_code}`)).toEqual([302, to.expired_url]);
    expect(await responseOf(`/${withFallback.short_code}`)).toEqual([302, 'https://example.com/f']);
    expect(await responseOf(`/${paused.short_code}`)).toEqual([404, null]);
    expect(await responseOf('/v1')).toEqual([404, null]);
    await change(to, {});
  });

  test('serves the files of app links, without a redirect', async () => {
    const apple = { applinks: { details: [{ appIDs: ['A.b'], components: [{ '/': '/*' }] }] } };
    expect((await on('go.acme.test', '/.well-known/assetlinks.json')).status).toBe(404);
    await change({}, { app_links: { apple, android: [{ relation: [] }] } });
    await eventually(async () => {
      const response = await on('go.acme.test', '/.well-known/apple-app-site-association');
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
      expect(JSON.parse(response.text)).toEqual(apple);
    });
    expect((await on('go.acme.test', '/.well-known/assetlinks.json')).text).toBe('[{"relation":[]}]');
  });

  test('is a name to get a certificate for, asked by a proxy only', async () => {
    const { status } = await service.client(0).send('/internal/tls?domain=GO.acme.test.', {});
    expect(status).toBe(200);
    const refusals = [
      ['/internal/tls?domain=no.acme.test', {}],
      ['/internal/tls?domain=127.0.0.1', {}],
      ['/internal/tls', {}],
      ['/internal/tls?domain=go.acme.test', { 'x-forwarded-for': '203.0.113.7' }],
    ] as const;
    for (const [path, headers] of refusals)
      expect((await service.client(0).send(path, { headers })).status, path).toBe(404);
  });

  test('that is removed answers 404 everywhere, and its codes work again when it is back', async () => {
    const name = 'gone.acme.test';
    const identity = await givenDomain(service, account.id, name);
    const code = await given({ domain: name, short_code: uniqueCode() });
    expect((await on(name, `/${code.short_code}`)).status).toBe(302);
    const removed = { type: 'domain_removed', data: { ...identity, reason: 'removed' } } as const;
    await appendToDomain(service, account.id, name, [removed], false);
    const plain = await created(account.live, { short_code: code.short_code });
    expect(plain.domain).toBeUndefined();
    expect((await on(name, `/${code.short_code}`)).status, 'also if the service has the short code').toBe(404);
    await givenDomain(service, account.id, name);
    expect((await on(name, `/${code.short_code}`)).status).toBe(302);
  });

  test('that now belongs to another account does not lead to codes of the former, whose links stay reserved', async () => {
    const name = 'lapsed.acme.test';
    const identity = await givenDomain(service, account.id, name);
    await given({ domain: name, short_code: 'old' });
    const removed = { type: 'domain_removed', data: { ...identity, reason: 'claimed' } } as const;
    await appendToDomain(service, account.id, name, [removed], false);
    const next = await service.account('enterprise');
    await givenDomain(service, next.id, name);
    expect((await on(name, '/old')).status).toBe(404);
    const taken = await next.live.post('/v1/qrcodes', newCode({ domain: name, short_code: 'old' }));
    expect([taken.status, taken.body.error.code]).toEqual([409, 'short_code_taken']);
  });

  test('of a suspended account is disabled, its root included', async () => {
    const own = await service.account('enterprise');
    await givenDomain(service, own.id, 'bad.test');
    const code = await created(own.live, { domain: 'bad.test' });
    await suspend(service.database.sql, own.id, 'Spam', new Date());
    for (const path of ['/', `/${code.short_code}`])
      await eventually(async () => expect((await on('bad.test', path)).status, path).toBe(410));
  });
});
