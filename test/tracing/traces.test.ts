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
    otelTracesSampler: 'parentbased_always_on',
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
  test('is in its trace with the commit; its webhook begins one, which the receiver continues', async () => {
    const account = await service.account();
    const path = newPath();
    await setHook(account.live, receiver.url(path));
    const { id, short_code } = await created(account.live, {
      destination_url: 'https://shop.example/?campaign=secret-campaign',
    });
    const untrusted = newTrace();
    const response = await scan(short_code, '', {
      traceparent: untrusted.traceparent,
      'x-forwarded-for': '81.2.69.142',
    });
    expect(response.status).toBe(302);
    await receiver.gets(path, 1);

    const { trace, span, traceparent } = newTrace();
    const headers = { traceparent, 'x-forwarded-for': '127.0.0.99', 'user-agent': 'Secret Phone' };
    expect((await scan(short_code, '?email=jane@doe.example', headers)).status).toBe(302);

    const [, got] = await receiver.gets(path, 2);
    const spans = await collector.spansNamed(trace, ['GET /{short_code}', 'INSERT scans']);
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
      parentSpanId: redirect.spanId,
      kind: kinds.client,
      links: [expect.objectContaining(link)],
      attributes: { 'db.system.name': 'postgresql', 'db.operation.batch.size': 1 },
    });

    const sent = partsOf(got?.headers['traceparent']);
    const { 'POST webhook': delivery } = await collector.spansNamed(sent.trace ?? '', ['POST webhook']);
    expect(delivery).toMatchObject({
      spanId: sent.span,
      kind: kinds.client,
      attributes: { 'http.response.status_code': 200, 'scanlog.delivery.id': got?.id },
    });
    expect(delivery.parentSpanId ?? '').toBe('');
    // The ids of a scan and of its delivery differ in their prefix only.
    expect(got?.id?.split('_')[1]).toBe(scanId.split('_')[1]);

    // The trace of an untrusted client is not continued.
    expect(collector.inTrace(untrusted.trace)).toEqual([]);

    const [{ visitor }] = await service.database.sql<[{ visitor: string }]>`
      SELECT visitor::text FROM scans WHERE id = ${scanId}`;
    const personal = ['127.0.0.99', '81.2.69.142', 'Secret Phone', 'jane', 'secret-campaign', short_code, visitor];
    for (const text of [...personal, visitor.replaceAll('-', '')]) expect(collector.text()).not.toContain(text);
    expect(collector.resource()).toMatchObject({
      'service.name': 'scanlog',
      'deployment.environment.name': 'test',
    });
    expect(collector.headers()).toMatchObject({ authorization: 'Bearer of-the-collector' });
  });
});

describe('a message of the stream', () => {
  test.each(['counters', 'analytics', 'webhooks'])(
    'continues the trace of its publication in %s',
    async (projection) => {
      const { live } = await service.account();
      const { short_code } = await codeOf(live);
      const { publication, application } = await eventually(async () => {
        // A projection that reads the log before the stream has the scan begins a trace: the next scan may be in time.
        expect((await scan(short_code, '', {})).status).toBe(302);
        const published = new Map(collector.named('publish ').map((span) => [span.spanId, span]));
        const applied = collector.named(`apply ${projection}`);
        const application = applied.find(({ parentSpanId = '' }) => published.has(parentSpanId));
        const publication = published.get(application?.parentSpanId ?? '');
        if (application === undefined || publication === undefined) throw new Error('no such span');
        return { publication, application };
      });
      expect(publication).toMatchObject({ kind: kinds.producer, attributes: { 'messaging.system': 'nats' } });
      expect(publication.parentSpanId ?? '').toBe('');
      const { traceId, spanId } = publication;
      expect(application).toMatchObject({
        traceId,
        kind: kinds.consumer,
        attributes: { 'messaging.system': 'nats' },
        links: expect.arrayContaining([expect.objectContaining({ traceId, spanId })]),
      });
    },
  );

  test('leads to the insert into ClickHouse', async () => {
    const { live } = await service.account();
    const { short_code } = await codeOf(live);
    expect((await scan(short_code, '', {})).status).toBe(302);
    await eventually(() => {
      const inserts = collector
        .named('INSERT ')
        .filter(({ attributes }) => attributes['db.system.name'] === 'clickhouse');
      const batches = collector.named('apply analytics').map(({ spanId }) => spanId);
      expect(inserts.filter(({ parentSpanId = '' }) => batches.includes(parentSpanId))).not.toEqual([]);
    });
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
  test('is the trace of the example event and the queries that it sends, and is named in the log', async () => {
    const { live } = await service.account();
    const path = newPath();
    await setHook(live, receiver.url(path));
    const code = await codeOf(live);
    const { trace, span, traceparent } = newTrace();
    const headers = { traceparent, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'Secret name' });
    expect((await live.send(`/v1/qrcodes/${code.id}`, { method: 'PATCH', headers, body })).status).toBe(200);
    const example = { method: 'POST', headers, body: '{}' };
    expect((await live.send('/v1/account/webhook/test', example)).status).toBe(200);
    expect((await live.get(`/v1/analytics/qrcodes/${code.id}`, { traceparent })).status).toBe(200);
    expect((await live.get('/v1/qrcodes/qr_unknown', { traceparent })).status).toBe(404);

    const [got] = await receiver.gets(path, 1);
    const routes = [
      ...(['PATCH /v1/qrcodes/:id', 'GET /v1/analytics/qrcodes/:id', 'GET /v1/qrcodes/:id'] as const),
      'POST /v1/account/webhook/test' as const,
    ];
    const spans = await collector.spansNamed(trace, [...routes, 'POST webhook']);
    for (const route of routes) expect(spans[route]).toMatchObject({ parentSpanId: span, kind: kinds.server });
    expect(spans['POST webhook'].parentSpanId).toBe(spans['POST /v1/account/webhook/test'].spanId);
    expect(partsOf(got?.headers['traceparent'])).toMatchObject({ trace, span: spans['POST webhook'].spanId });
    expect(spans['GET /v1/qrcodes/:id']).toMatchObject({
      status: { code: 0 },
      attributes: { 'http.response.status_code': 404 },
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
