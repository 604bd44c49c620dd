import { describe, expect, test } from 'vitest';
import { parseTrustedProxies, type TrustedProxies } from '../../src/lib/client-address.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import type { SamplerName } from '../../src/lib/trace-settings.ts';
import { SdkTracing, type TracingOptions } from '../../src/tracing/sdk.ts';
import { captureLog } from '../support/log-lines.ts';

const tracingWith = (options: Partial<TracingOptions>) =>
  new SdkTracing({
    url: 'http://127.0.0.1:1/v1/traces',
    headers: {},
    serviceName: undefined,
    serviceVersion: '1',
    resourceAttributes: {},
    sampler: 'always_off',
    ratio: 0,
    traceparentFrom: 'clients',
    trustedProxies: parseTrustedProxies('10.0.0.0/8') as TrustedProxies,
    log: captureLog().log,
    metrics: createMetrics(),
    ...options,
  });

const sampled = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const unsampled = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`;

describe('the traceparent of a request', () => {
  const untrusted = '81.2.69.142';
  test.each([
    ['clients', 'from a trusted client', '10.0.0.1', undefined, true],
    ['clients', 'from an untrusted client', untrusted, undefined, false],
    ['clients', 'that a proxy forwards for a trusted client', '10.0.0.1', '10.0.0.2', true],
    ['clients', 'that a proxy forwards for an untrusted client', '10.0.0.1', untrusted, false],
    ['proxies', 'that a proxy forwards for an untrusted client', '10.0.0.1', untrusted, true],
    ['proxies', 'from an untrusted client that claims to be a proxy', untrusted, '10.0.0.1', false],
  ] as const)('with TRACEPARENT_FROM=%s, %s', (traceparentFrom, _, peer, forwardedFor, isContinued) => {
    const tracing = tracingWith({ traceparentFrom });
    const headers = new Headers({
      traceparent: sampled,
      ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
    });
    expect(tracing.parentOf(headers, peer)).toBe(isContinued ? sampled : undefined);
  });
});

describe('OTEL_TRACES_SAMPLER', () => {
  const recorded = { root: undefined, sampled, unsampled, invalid: `${sampled}-extra` };
  const decisionsOf = (sampler: SamplerName, ratio: number) => {
    const tracing = tracingWith({ sampler, ratio });
    const parents = Object.entries(recorded);
    return parents.flatMap(([name, parent]) => (tracing.start('span', { parent }).isRecording() ? [name] : []));
  };
  test.each([
    ['always_on', 0, ['root', 'sampled', 'unsampled', 'invalid']],
    ['always_off', 1, []],
    ['traceidratio', 1, ['root', 'sampled', 'unsampled', 'invalid']],
    ['traceidratio', 0, []],
    ['parentbased_always_on', 0, ['root', 'sampled', 'invalid']],
    ['parentbased_always_off', 1, ['sampled']],
    ['parentbased_traceidratio', 1, ['root', 'sampled', 'invalid']],
    ['parentbased_traceidratio', 0, ['sampled']],
  ] as const)('%s with the ratio %d records %j', (sampler, ratio, expected) => {
    expect(decisionsOf(sampler, ratio)).toEqual(expected);
  });
});

test('a span that has ended is no longer active, and log lines no longer name its trace', async () => {
  const tracing = tracingWith({ sampler: 'always_on' });
  const { log, lines } = captureLog();
  const traced = tracing.withTraceIds(log).child({ part: 'test' });
  const span = tracing.start('span');
  await tracing.within(span, async () => {
    traced.info('during');
    span.end();
    traced.info('after');
  });
  expect(lines()).toEqual([
    expect.objectContaining({ msg: 'during', part: 'test', trace_id: span.spanContext().traceId }),
    expect.not.objectContaining({ trace_id: expect.anything() }),
  ]);
});

test('a failure is recorded by its code or class, never by its message', async () => {
  const tracing = tracingWith({ sampler: 'always_on' });
  const failed: object[] = [];
  const error = Object.assign(new Error('secret'), { code: 'ECONNREFUSED' });
  await tracing
    .record('span', {}, async (span) => {
      failed.push(span);
      throw error;
    })
    .catch(() => {});
  expect(failed[0]).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'ECONNREFUSED' }, events: [] });
  expect(JSON.stringify(failed[0], ['status', 'message', 'attributes', 'error.type'])).not.toContain('secret');
});
