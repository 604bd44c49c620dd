import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { createMetrics } from '../../src/lib/metrics.ts';
import { SpanQueue } from '../../src/tracing/span-queue.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';

/** A queue to this collector, with functions that end spans and read what was dropped. */
function queueTo(exporter: SpanExporter) {
  const { log, lines } = captureLog();
  const metrics = createMetrics();
  const queue = new SpanQueue({ exporter, log, metrics, maxWaiting: 3, exportIntervalMs: 1, flushTimeoutMs: 20 });
  const tracer = new TracerProvider({ spanProcessors: [queue] }).getTracer('test');
  return {
    queue,
    lines,
    end: (count: number) => {
      for (let i = 0; i < count; i++) tracer.startSpan('span').end();
    },
    dropped: async () => {
      const { values } = await metrics.droppedSpans.get();
      return Object.fromEntries(values.map(({ labels, value }) => [labels.reason, value]));
    },
  };
}

const silent: SpanExporter = { export: () => {}, shutdown: async () => {} };

test('drops and counts spans beyond its limit while the collector does not answer', async () => {
  const { end, dropped } = queueTo(silent);
  end(5);
  expect(await dropped()).toEqual({ queue_full: 2, export_failed: 0 });
});

test('counts the spans that a collector which is down does not accept, and logs one line', async () => {
  // Port 1 refuses connections. The first retry would come after this timeout.
  const { end, dropped, lines } = queueTo(new OTLPTraceExporter({ url: 'http://127.0.0.1:1', timeoutMillis: 700 }));
  for (let sent = 1; sent <= 3; sent++) {
    end(1);
    await eventually(async () => expect(await dropped()).toEqual({ queue_full: 0, export_failed: sent }));
  }
  expect(lines()).toEqual([expect.objectContaining({ level: 'warn', error: expect.stringContaining('ECONNREFUSED') })]);
});

test('stops within its timeout when the collector does not answer', async () => {
  const { queue, end, lines } = queueTo(silent);
  end(2);
  await queue.shutdown();
  expect(lines()).toEqual([expect.objectContaining({ level: 'warn', spans: 2, timeout_ms: 20 })]);
});
