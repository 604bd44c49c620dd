import { beforeAll, describe, expect, test } from 'vitest';
import { created } from '../support/api.ts';
import { captureLog } from '../support/log-lines.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { withTimeouts } from '../support/with-timeouts.ts';
import { head, sendBytes, sendWithoutReading } from './wire.ts';

const captured = captureLog();
const service = useService({ projections: false, log: captured.log });
const url = () => service.urls[0] as string;
let account: TestAccount;
let code: { id: string; short_code: string };

beforeAll(async () => {
  account = await service.account();
  code = await created(account.live);
});

const key = () => `Authorization: Bearer ${account.keys.live}`;
const post = (...headers: string[]) =>
  head('POST /v1/qrcodes HTTP/1.1', 'Host: localhost', key(), 'Content-Type: application/json', ...headers);
const form = () =>
  head('POST /console/session HTTP/1.1', 'Host: localhost', 'Content-Length: 100', 'Connection: close');
const get = (target: string, ...headers: string[]) =>
  head(`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers, 'Connection: close');

const scans = async () => {
  await service.allStored();
  const [row] = await service.database.sql<[{ count: number }]>`SELECT count(*) FROM scans WHERE code = ${code.id}`;
  return row.count;
};
const countCodes = async () => {
  const [row] = await service.database.sql<[{ count: number }]>`SELECT count(*) FROM codes`;
  return row.count;
};

/** The service still works and has logged no error. */
async function expectHealthy(): Promise<void> {
  expect((await sendBytes(url(), [get(`/${code.short_code}`)])).statuses).toEqual([302]);
  expect((await account.live.get('/v1/account')).status).toBe(200);
  expect(captured.lines().filter(({ level }) => level === 'error')).toEqual([]);
}

describe('malformed HTTP', () => {
  const body = '{"name": "Smuggled", "destination_url": "https://example.com"}';
  const cases: [string, () => (string | Uint8Array)[]][] = [
    ['two lengths', () => [post('Content-Length: 2', 'Content-Length: 62'), body]],
    [
      'a length and chunks',
      () => [post('Content-Length: 4', 'Transfer-Encoding: chunked'), `3e\r\n${body}\r\n0\r\n\r\n`],
    ],
    ['a negative length', () => [post('Content-Length: -62'), body]],
    ['a length that overflows', () => [post(`Content-Length: ${'9'.repeat(30)}`), body]],
    ['a length that is not a number', () => [post('Content-Length: 0x3e'), body]],
    ['a chunk without a valid length', () => [post('Transfer-Encoding: chunked'), `zz\r\n${body}\r\n0\r\n\r\n`]],
    [
      'a chunk length that overflows',
      () => [post('Transfer-Encoding: chunked'), `${'f'.repeat(17)}\r\n${body}\r\n0\r\n\r\n`],
    ],
    ['an unknown transfer coding', () => [post('Transfer-Encoding: gzip, chunked'), `3e\r\n${body}\r\n0\r\n\r\n`]],
    ['a header folded into two lines', () => [get('/v1/account', 'X-A: a\r\n b', key())]],
    ['a space before the colon', () => [get('/v1/account', 'X-A : a', key())]],
    ['NUL in a header', () => [get('/v1/account', 'X-Request-Id: a\0b', key())]],
    ['a bare line feed in a header', () => [get('/v1/account', 'X-Request-Id: a\nX-B: b', key())]],
    ['no version', () => ['GET /v1/account\r\n\r\n']],
    ['another protocol', () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']],
    ['the beginning of TLS', () => [new Uint8Array([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]), 'x'.repeat(300), '\r\n\r\n']],
    ['300 headers', () => [get('/v1/account', ...Array.from({ length: 300 }, (_, i) => `X-${i}: a`), key())]],
  ];
  test.each(cases)('%s is refused and has no effect', async (_, pieces) => {
    const before = await countCodes();
    const { statuses } = await sendBytes(url(), pieces());
    expect(statuses.length).toBeLessThanOrEqual(1);
    for (const status of statuses) expect(status).toBeOneOf([400, 431, 505]);
    expect(await countCodes()).toBe(before);
    await expectHealthy();
  });

  test('the body of a GET is not read as the next request', async () => {
    const before = await scans();
    const inner = get(`/${code.short_code}`);
    const { statuses } = await sendBytes(url(), [
      head('GET /healthz HTTP/1.1', 'Host: localhost', `Content-Length: ${inner.length}`, 'Connection: close'),
      inner,
    ]);
    expect(statuses).toEqual([200]);
    expect(await scans()).toBe(before);
  });

  test('pipelined requests are answered in order, or the connection is closed', async () => {
    const two = [
      head(`GET /${code.short_code} HTTP/1.1`, 'Host: localhost', 'X-Request-Id: first'),
      get('/v1/account', key(), 'X-Request-Id: second'),
    ];
    const { text } = await sendBytes(url(), [two.join('')]);
    const ids = [...text.matchAll(/x-request-id: (\w+)/gi)].map(([, id]) => id);
    expect(['first', 'second'].slice(0, ids.length)).toEqual(ids);
    await expectHealthy();
  });

  test('clients that stop sending are answered or disconnected, and disconnecting clients do no harm', async () => {
    for (const pieces of [
      [get('/v1/account', key())],
      [get(`/${code.short_code}`)],
      [post('Content-Length: 500'), '{"name"'],
      [post('Transfer-Encoding: chunked'), '5\r\n{"na'],
      [form(), 'key=sk'],
    ]) {
      await sendBytes(url(), pieces, { halfClose: true });
      await Promise.all(Array.from({ length: 10 }, () => sendBytes(url(), pieces, { hangUp: true })));
    }
    await expectHealthy();
  });

  test('clients that do not read a long response do not block others', async () => {
    const request = head(`GET /v1/qrcodes/${code.id}/download?size=2048 HTTP/1.1`, 'Host: localhost', key());
    const ends = Array.from({ length: 10 }, () => sendWithoutReading(url(), request));
    await expectHealthy();
    for (const end of ends) end();
  });
});

describe('invalid Host headers', () => {
  const hosts = [
    '[',
    'a b',
    'a:99999',
    'a:b',
    '[::1',
    '%',
    'a/b',
    'a?b=/c',
    'a#b',
    'a\\b',
    '"><script>',
    '\xff',
    '',
    'x'.repeat(5_000),
  ];

  test.each(hosts.map((host) => [JSON.stringify(host).slice(0, 20), host]))(
    '%s: no path answers 5xx or repeats the header',
    async (_, host) => {
      for (const path of [
        `/${code.short_code}`,
        '/unknown-1?a=/b',
        `/images/${code.id}/public?size=100`,
        '/v1/qrcodes?page=1',
        `/v1/qrcodes/${code.id}`,
        '/swagger',
        '/console',
        '/console/api/qrcodes?page=1',
        '/healthz',
        '/',
      ]) {
        const { statuses, text } = await sendBytes(url(), [
          head(`GET ${path} HTTP/1.1`, `Host: ${host}`, key(), 'Connection: close'),
        ]);
        expect(statuses, path).toHaveLength(1);
        expect(statuses[0], path).toBeOneOf([200, 302, 400, 401, 404, 429]);
        const [, location = ''] = /^location: (.*)$/im.exec(text) ?? [];
        expect(location.trim(), path).toMatch(/^$|^\/console$|^https:\/\/example\.com\/menu$/);
        if (host.length > 6) expect(text, 'the response does not repeat the header').not.toContain(host);
      }
    },
  );

  test('requests without Host, as in HTTP/1.0, find every path', async () => {
    const statusesOf = async (target: string) =>
      (await sendBytes(url(), [head(`GET ${target} HTTP/1.0`, key())])).statuses;
    expect(await statusesOf(`/${code.short_code}`)).toEqual([302]);
    expect(await statusesOf(`/unknown-1?next=/${code.short_code}`), 'a query is not read as a short code').toEqual([
      404,
    ]);
    expect(await statusesOf(`/v1/qrcodes/${code.id}`)).toEqual([200]);
    expect(await statusesOf(`/v1/qrcodes/${code.id}/history?limit=1`)).toEqual([200]);
    expect(await statusesOf(`/images/${code.id}/public?size=100`)).toEqual([200]);
    expect(await statusesOf('/healthz')).toEqual([200]);
  });
});

describe('the edge', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'MKCOL', 'LOCK'])(
    '%s of a short link answers 405 and records no scan',
    async (method) => {
      const before = await scans();
      const { statuses } = await sendBytes(url(), [
        head(`${method} /${code.short_code} HTTP/1.1`, 'Host: localhost', 'Content-Length: 0', 'Connection: close'),
      ]);
      expect(statuses).toEqual([405]);
      expect(await scans()).toBe(before);
    },
  );

  test.each([
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1'],
    ['an asterisk', 'OPTIONS * HTTP/1.1'],
    ['another scheme', 'GET ftp://localhost/x HTTP/1.1'],
    ['no path', 'GET http://localhost HTTP/1.1'],
    ['no slash', 'GET menu HTTP/1.1'],
    ['an invalid host', 'GET http://[/menu-1 HTTP/1.1'],
    ['broken percent-encoding', 'GET /images/%/public HTTP/1.1'],
    ['half a character', 'GET /swagger/%E0%A4%A HTTP/1.1'],
    ['only slashes', `GET ${'/'.repeat(8_000)} HTTP/1.1`],
    ['15,000 letters', `GET /${'a'.repeat(15_000)} HTTP/1.1`],
    ['15,000 letters under /v1', `GET /v1/${'a'.repeat(15_000)} HTTP/1.1`],
    ['100,000 letters', `GET /${'a'.repeat(100_000)} HTTP/1.1`],
    ['4,000 parameters', `GET /menu-1?${'a&'.repeat(4_000)} HTTP/1.1`],
  ])('%s: no redirect to another host, no 5xx', async (_, line) => {
    const { statuses, text } = await sendBytes(url(), [head(line, 'Host: localhost', 'Connection: close')]);
    expect(statuses.length).toBeLessThanOrEqual(1);
    for (const status of statuses) expect(status).toBeOneOf([302, 400, 401, 404, 405, 414, 431]);
    expect(text).not.toMatch(/^location: (?!\/console\r)/im);
    await expectHealthy();
  });

  test('headers of 15 KB are recorded as one ordinary scan', async () => {
    const before = await scans();
    const long = 'x'.repeat(3_500);
    const headers = [`User-Agent: ${long}`, `X-Forwarded-For: ${long}`, `X-Request-Id: ${long}`, `Accept: ${long}`];
    const { statuses, text } = await sendBytes(url(), [get(`/${code.short_code}`, ...headers)]);
    expect(statuses).toEqual([302]);
    expect(text).not.toContain(long);
    expect(await scans()).toBe(before + 1);
  });

  test('thousands of unknown short codes answer 404, and known ones still redirect', async () => {
    const guess = async (i: number): Promise<number> => (await fetch(`${url()}/guess-${i}-x`)).status;
    const statuses = new Set<number>();
    for (let i = 0; i < 3_000; i += 100) {
      const responses = await Promise.all(Array.from({ length: 100 }, (_, j) => guess(i + j)));
      for (const status of responses) statuses.add(status);
    }
    expect([...statuses]).toEqual([404]);
    await expectHealthy();
  });
});

test('an incomplete body answers 400 with the timeout, and has no effect', async () => {
  const request = [post('Content-Length: 500', 'Connection: close'), '{"name": "Me'];
  const { statuses, text } = await withTimeouts({ bodyMs: 50 }, () => sendBytes(url(), request));
  expect(statuses).toEqual([400]);
  expect(text).toContain('The body must arrive within 0.05 s.');
  expect(text).toMatch(/x-ratelimit-remaining: \d+/i);
});

test('an incomplete sign-in form answers 400 and opens no session', async () => {
  const { statuses, text } = await withTimeouts({ bodyMs: 50 }, () => sendBytes(url(), [form(), 'key=sk_live_']));
  expect(statuses).toEqual([400]);
  expect(text).not.toMatch(/^set-cookie/im);
});
