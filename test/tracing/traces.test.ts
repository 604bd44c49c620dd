import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { created } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { useService } from '../support/service.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { codeOf, mayCallTests, newPath, setHook } from '../webhooks/webhook-support.ts';
import { startCollector } from './collector.ts';

const collector = startCollector();
const { log, lines } = captureLog();
const service = useService({
  log,
  config: {
    ...mayCallTests,
    otlpEndpoint: collector.url,
    otlpHeaders: { authorization: 'Bearer of-the-collector' },
    otelResourceAttributes: { 'deployment.environment.name': 'test' },
    // Records only what a trusted client asks for.
    otelTracesSampler: 'parentbased_traceidratio',
    otelTracesSamplerArg: 0,
  },
});
const receiver = useReceiver();
// Hooks run in reverse order: the service, which sends its last spans, stops before.
afterAll(() => collector.stop());

const kinds = { server: 2, client: 3, producer: 4, consumer: 5 };
const newTrace = () => {
  const [trace, span] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { trace, span, traceparent: `00-${trace}-${span}-01` };
};
const partsOf = (traceparent = '') => {
  const [, trace, span, flags] = traceparent.split('-');
  return { trace, span, flags };
};
const scan = (shortCode: string, query: string, headers: Record<string, string>) =>
  fetch(`${service.urls[0]}/${shortCode}${query}`, { redirect: 'manual', headers });

describe('a scan by a trusted client that sends a traceparent', () => {
  test('is one trace from the edge to the webhook, which receives its traceparent', async () => {
    const account = await service.account();
    const path = newPath();
    await setHook(account.live, receiver.url(path));
    const { id, short_code } = await created(account.live, {
      destination_url: 'https://shop.example/?campaign=secret-campaign',
    });
    const untrusted = newTrace();
    const answer = await scan(short_code, '', { traceparent: untrusted.traceparent, 'x-forwarded-for': '81.2.69.142' });
    expect(answer.status).toBe(302);
    await receiver.gets(path, 1);

    const { trace, span, traceparent } = newTrace();
    const headers = { traceparent, 'x-forwarded-for': '127.0.0.99', 'user-agent': 'Secret Phone' };
    expect((await scan(short_code, '?email=jane@doe.example', headers)).status).toBe(302);

    const [ofUntrusted, got] = await receiver.gets(path, 2);
    const names = [
      ...['GET /{short_code}', 'INSERT scans', 'apply counters', 'apply analytics', 'apply webhooks'],
      'POST webhook',
    ] as const;
    const spans = await collector.spansNamed(trace, names);
    const redirect = spans['GET /{short_code}'];
    expect(redirect).toMatchObject({ parentSpanId: span, kind: kinds.server, status: { code: 0 } });
    const scanId = JSON.parse(got?.body ?? '').data.scan_id;
    expect(redirect.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/{short_code}',
      'http.response.status_code': 302,
      'scanlog.scan.id': scanId,
      'scanlog.code.id': id,
    });
    const link = { traceId: trace, spanId: redirect.spanId };
    expect(spans['INSERT scans']).toMatchObject({
      ...{ parentSpanId: redirect.spanId, kind: kinds.client, links: [expect.objectContaining(link)] },
      attributes: { 'db.system.name': 'postgresql', 'db.operation.batch.size': 1 },
    });
    // A projection that reads the log before the stream has the scan follows the redirect itself.
    const published = await eventually(() => {
      const found = collector.inTrace(trace).filter(({ name }) => name.startsWith('publish '));
      const sources = [redirect, ...found].map(({ spanId }) => spanId);
      for (const name of ['apply counters', 'apply analytics', 'apply webhooks'] as const)
        expect(sources, name).toContain(spans[name].parentSpanId);
      return found;
    });
    for (const { parentSpanId, kind, links } of published)
      expect({ parentSpanId, kind, links }).toMatchObject({
        ...{ parentSpanId: redirect.spanId, kind: kinds.producer, links: [expect.objectContaining(link)] },
      });
    for (const name of ['apply counters', 'apply analytics', 'apply webhooks'] as const)
      expect(spans[name]).toMatchObject({ kind: kinds.consumer, attributes: { 'messaging.system': 'nats' } });
    const insert = await eventually(() => {
      const found = collector.inTrace(trace).find(({ attributes }) => attributes['db.system.name'] === 'clickhouse');
      expect(found, 'the insert into ClickHouse').toBeDefined();
      return found;
    });
    expect(insert).toMatchObject({ parentSpanId: spans['apply analytics'].spanId, kind: kinds.client });

    expect(spans['POST webhook']).toMatchObject({
      ...{ parentSpanId: redirect.spanId, kind: kinds.client },
      attributes: { 'http.response.status_code': 200, 'scanlog.delivery.id': got?.id },
    });
    expect(partsOf(got?.headers['traceparent'])).toEqual({ trace, span: spans['POST webhook'].spanId, flags: '01' });

    // The sampled flag of an untrusted client has no effect, and its trace is not continued.
    expect(collector.inTrace(untrusted.trace)).toEqual([]);
    const other = partsOf(ofUntrusted?.headers['traceparent']);
    expect(other).toEqual({ trace: expect.stringMatching(/^[0-9a-f]{32}$/), span: expect.any(String), flags: '00' });
    expect([trace, untrusted.trace]).not.toContain(other.trace);

    const [{ visitor }] = await service.database.sql<[{ visitor: string }]>`
      SELECT visitor::text FROM scans WHERE id = ${scanId}`;
    const personal = ['127.0.0.99', '81.2.69.142', 'Secret Phone', 'jane', 'secret-campaign', short_code, visitor];
    for (const text of [...personal, visitor.replaceAll('-', '')]) expect(collector.text()).not.toContain(text);
    expect(collector.resource()).toMatchObject({
      ...{ 'service.name': 'scanlog', 'deployment.environment.name': 'test' },
    });
    expect(collector.headers()).toMatchObject({ authorization: 'Bearer of-the-collector' });
  });
});

test('a scan of a code with max_scans has its commit in its trace', async () => {
  const { live } = await service.account();
  const code = await created(live, { max_scans: 2 });
  const { trace, traceparent } = newTrace();
  expect((await scan(code.short_code, '', { traceparent })).status).toBe(302);
  const spans = await collector.spansNamed(trace, ['GET /{short_code}', 'INSERT scans']);
  const redirect = spans['GET /{short_code}'];
  expect(redirect.attributes).toMatchObject({ 'scanlog.code.id': code.id, 'scanlog.scan.id': expect.any(String) });
  expect(spans['INSERT scans'].parentSpanId).toBe(redirect.spanId);
});

describe('a request to the API with a traceparent', () => {
  test('is the trace of the webhooks and the queries that it causes, and is named in the log', async () => {
    const { live } = await service.account();
    const path = newPath();
    await live.post('/v1/webhooks', { url: receiver.url(path), events: ['code.updated'] });
    const code = await codeOf(live);
    const { trace, span, traceparent } = newTrace();
    const headers = { traceparent, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'Secret name' });
    expect((await live.send(`/v1/qrcodes/${code.id}`, { method: 'PATCH', headers, body })).status).toBe(200);
    expect((await live.get(`/v1/analytics/qrcodes/${code.id}`, { traceparent })).status).toBe(200);
    expect((await live.get('/v1/qrcodes/qr_unknown', { traceparent })).status).toBe(404);

    const [got] = await receiver.gets(path, 1);
    const routes = ['PATCH /v1/qrcodes/:id', 'GET /v1/analytics/qrcodes/:id', 'GET /v1/qrcodes/:id'] as const;
    const spans = await collector.spansNamed(trace, [...routes, 'POST webhook']);
    for (const route of routes) expect(spans[route]).toMatchObject({ parentSpanId: span, kind: kinds.server });
    expect(spans['POST webhook'].parentSpanId).toBe(spans['PATCH /v1/qrcodes/:id'].spanId);
    expect(partsOf(got?.headers['traceparent'])).toMatchObject({ trace, span: spans['POST webhook'].spanId });
    expect(spans['GET /v1/qrcodes/:id']).toMatchObject({
      ...{ status: { code: 0 }, attributes: { 'http.response.status_code': 404 } },
    });
    const queries = collector.inTrace(trace).filter(({ attributes }) => attributes['db.operation.name'] === 'SELECT');
    expect(queries.map(({ parentSpanId }) => parentSpanId)).toContain(spans['GET /v1/analytics/qrcodes/:id'].spanId);
    expect(collector.text()).not.toContain('Secret name');
    const logged = lines().filter(({ trace_id }) => trace_id === trace);
    expect(logged.map(({ msg, route }) => [msg, route])).toContainEqual(['request', '/v1/qrcodes/:id']);
  });
});

describe('a collector that refuses spans', () => {
  test('does not affect redirects, counts dropped spans, and is one line in the log', async () => {
    const { live } = await service.account();
    const { short_code } = await codeOf(live);
    const ofOutage = (text: string) => lines().filter(({ msg }) => String(msg).startsWith(text));
    collector.answerWith(400);
    for (let outages = 0; outages < 2; outages++) {
      expect((await scan(short_code, '', { traceparent: newTrace().traceparent })).status).toBe(302);
      const dropped = /^scanlog_trace_spans_dropped_total\{reason="export_failed"\} (\d+)$/m;
      await eventually(async () =>
        expect(Number(dropped.exec(await service.metrics())?.[1])).toBeGreaterThan(outages * 3),
      );
    }
    expect(ofOutage('spans could not be sent to the collector')).toHaveLength(1);
    collector.answerWith(200);
    const { trace, traceparent } = newTrace();
    await scan(short_code, '', { traceparent });
    await collector.spansNamed(trace, ['GET /{short_code}']);
    await eventually(() => expect(ofOutage('spans are sent to the collector of traces again')).toHaveLength(1));
  });
});
