import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTrustedProxies } from '../../src/lib/client-address.ts';
import type { IpRanges } from '../../src/lib/ip-range.ts';
import { freePort } from '../../src/stack/processes.ts';
import { newCode } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { useService } from '../support/service.ts';
import { curl, domain, proxies, request, shippedText, startTlsProxy, type TlsProxy } from './proxy-support.ts';

// Clients are at 127.0.0.2 and 127.0.0.3, which the service does not trust; the proxies connect from 127.0.0.1.
const service = useService({
  config: { publicUrl: `https://${domain}`, trustedProxies: parseTrustedProxies('127.0.0.1/32') as IpRanges },
});
const from = (address: string) => ['--interface', address];
const withKey = (key: string) => ['--header', `Authorization: Bearer ${key}`];

describe.each(Object.keys(proxies) as (keyof typeof proxies)[])('deploy/%s', (name) => {
  let proxy: TlsProxy;
  beforeAll(async () => {
    proxy = await startTlsProxy(name, `127.0.0.1:${new URL(service.urls[0] as string).port}`);
  });
  afterAll(() => proxy?.stop());

  test('redirects over HTTP/2 and HTTP/1.1, and records each GET with the address of the client', async () => {
    const { live, keys } = await service.account();
    const code = newCode({ destination_url: 'https://example.com/menu' });
    const { id, short_code } = (await live.post('/v1/qrcodes', code)).body;
    const scan = (...args: string[]) => request(proxy, `/${short_code}`, args);
    const responses = [
      await scan(...from('127.0.0.2')),
      await scan(...from('127.0.0.2'), '--http1.1'),
      await scan(...from('127.0.0.2'), '--header', 'X-Forwarded-For: 81.2.69.142'),
      await scan(...from('127.0.0.3')),
      await scan(...from('127.0.0.3'), '--head'),
    ];
    for (const { status, headers } of responses)
      expect({ status, headers }).toMatchObject({
        status: 302,
        headers: { location: 'https://example.com/menu', 'strict-transport-security': 'max-age=31536000' },
      });
    expect(responses.map(({ httpVersion }) => httpVersion)).toEqual(['2', '1.1', '2', '2', '2']);

    const counts = { total_scans: 4, unique_scans: 2 };
    await eventually(async () => expect((await live.get(`/v1/qrcodes/${id}`)).body).toMatchObject(counts));
    const rows = await eventually(async () => {
      const { body } = await request(proxy, `/v1/qrcodes/${id}/analytics/export`, withKey(keys.live));
      const lines = body.trimEnd().split('\r\n').slice(1);
      expect(lines).toHaveLength(4);
      return lines;
    });
    for (const row of rows) expect(row, 'the address that a client claims is ignored').toContain(',XX,');
  });

  test('passes on an event at once', async () => {
    const { live, keys } = await service.account();
    const { output, stop } = curl(proxy, '/v1/events', [
      ...withKey(keys.live),
      '--header',
      'Accept: text/event-stream',
    ]);
    await eventually(() => expect(output(), 'the stream has begun').not.toBe(''));
    const { id } = (await live.post('/v1/qrcodes', newCode())).body;
    await eventually(() => expect(output()).toContain(id));
    stop();
  });

  test('closes idle connections to the service before the service does, which is after 10 s', () => {
    const seconds = shippedText(name).match(/keepalive(?:_timeout)? (\d+)s/)?.[1];
    expect(Number(seconds)).toBeLessThan(10);
  });

  test('sends plain HTTP to https', async () => {
    const { status, headers } = await request(proxy, '/menu?table=4', [], { scheme: 'http' });
    expect([status, headers['location']]).toEqual([308, `https://${domain}/menu?table=4`]);
    const other = await request(proxy, '/menu', ['--header', 'Host: go.test'], { scheme: 'http' });
    // nginx has no custom domains unless they are listed.
    const expected = name === 'caddy' ? 'https://go.test/menu' : `https://${domain}/menu`;
    expect(other.headers['location']).toBe(expected);
  });

  test('takes bodies up to 1 MiB, and imports up to 4 MiB, and answers larger ones like the service', async () => {
    const { keys } = await service.account();
    const json = ['--header', 'Content-Type: application/json', '--data-binary', '@-'];
    const send = (bytes: number, ...args: string[]) => {
      const input = JSON.stringify(newCode()).padEnd(bytes);
      return request(proxy, '/v1/qrcodes', [...withKey(keys.live), ...json, ...args], { input });
    };
    expect((await send(2 ** 20)).status).toBe(201);
    // Over HTTP/2, curl 7.88 reports a response that arrives during the upload as incomplete; over HTTP/1.1 it asks first.
    const image = ['--http1.1', '--form', 'file=@-;filename=logo.png', ...withKey(keys.live)];
    const upload = (bytes: number) => request(proxy, '/v1/logos', image, { input: ' '.repeat(bytes) });
    expect((await upload(2 ** 20)).status, 'the image reaches the service, which cannot read it').toBe(400);
    expect((await upload(2 ** 21)).status).toBe(413);
    const csv = ['--http1.1', '--header', 'Content-Type: text/csv', '--data-binary', '@-', ...withKey(keys.live)];
    const importFile = (bytes: number) =>
      request(proxy, '/v1/qrcodes/import?dry_run=true', csv, {
        input: 'url\nhttps://example.com/'.padEnd(bytes, '\n'),
      });
    expect((await importFile(2 ** 22)).status).toBe(200);
    const largeFile = await importFile(2 ** 22 + 1);
    expect([largeFile.status, JSON.parse(largeFile.body).error.message]).toEqual([
      413,
      'The file must have at most 4 MiB: split it, or ask the operator to import it.',
    ]);
    for (const args of [[], ['--header', 'Transfer-Encoding: chunked', '--header', 'Expect:']]) {
      const { status, headers, body } = await send(2 ** 20 + 1, '--http1.1', ...args);
      expect([status, headers['content-type'], JSON.parse(body)]).toEqual([
        413,
        expect.stringMatching(/^application\/json/),
        { error: { code: 'payload_too_large', message: 'The body must have at most 1 MiB.' } },
      ]);
    }
  });
});

describe.each(Object.keys(proxies) as (keyof typeof proxies)[])('deploy/%s, in front of a slow service', (name) => {
  test('passes on each part of a long response at once, and answers 503 in JSON when the service is gone', async () => {
    let release = Promise.withResolvers<void>();
    const port = await freePort();
    async function* parts() {
      yield 'id: 1\n\n';
      await release.promise;
      yield 'id: 2\n\n';
    }
    const upstream = Bun.serve({
      hostname: '127.0.0.1',
      port,
      fetch: ({ url }) =>
        url.endsWith('/healthz')
          ? new Response('ok')
          : new Response(parts as never, {
              headers: { 'content-type': decodeURIComponent(new URL(url).pathname.slice(1)) },
            }),
    });
    const proxy = await startTlsProxy(name, `127.0.0.1:${port}`);
    try {
      for (const type of ['text/event-stream', 'text/csv', 'application/json']) {
        release = Promise.withResolvers();
        const { output, exitCode } = curl(proxy, `/${encodeURIComponent(type)}`);
        await eventually(() => expect(output(), `${type} arrives in parts`).toBe('id: 1\n\n'));
        release.resolve();
        expect(await exitCode, output()).toBe(0);
        expect(output()).toBe('id: 1\n\nid: 2\n\n');
      }
      await upstream.stop(true);
      const { status, body } = await request(proxy, '/v1/account');
      expect([status, JSON.parse(body).error.code]).toEqual([503, 'unavailable']);
    } finally {
      await proxy.stop();
    }
  });
});
