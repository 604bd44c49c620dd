import { TraceFlags } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import { codeOf, messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { Outage } from './outage.ts';

interface QueueOptions {
  exporter: SpanExporter;
  log: Logger;
  metrics: Pick<Metrics, 'droppedSpans'>;
  maxWaiting?: number;
  exportIntervalMs?: number;
  flushTimeoutMs?: number;
}

/** Ended spans that are not yet sent, 1 to 2 KB each. */
const defaultMaxWaiting = 4_096;
const defaultIntervalMs = 1_000;
/** Part of the 6 s that a process has to stop. */
const defaultFlushTimeoutMs = 1_000;

/**
 * Sends ended spans in the SDK's batches. Adds what the SDK does not do: counts every span that is dropped, because too many
 * wait or because it could not be sent, and logs one line for each outage of the collector.
 */
export class SpanQueue implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #log: Logger;
  readonly #metrics: QueueOptions['metrics'];
  readonly #outage: Outage;
  readonly #maxWaiting: number;
  readonly #flushTimeoutMs: number;
  #waiting = 0;

  constructor({ exporter, log, metrics, ...limits }: QueueOptions) {
    this.#log = log;
    this.#metrics = metrics;
    this.#maxWaiting = limits.maxWaiting ?? defaultMaxWaiting;
    this.#flushTimeoutMs = limits.flushTimeoutMs ?? defaultFlushTimeoutMs;
    this.#outage = new Outage(log, {
      begins: 'spans could not be sent to the collector of traces: they are dropped until it accepts them',
      ends: 'spans are sent to the collector of traces again',
    });
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) =>
          exporter.export(spans, (result) => {
            this.#onExported(spans.length, result);
            done(result);
          }),
        shutdown: () => exporter.shutdown(),
      },
      scheduledDelayMillis: limits.exportIntervalMs ?? defaultIntervalMs,
      maxQueueSize: this.#maxWaiting,
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.#waiting >= this.#maxWaiting) this.#metrics.droppedSpans.inc({ reason: 'queue_full' });
    else {
      this.#waiting++;
      this.#batches.onEnd(span);
    }
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  async shutdown(): Promise<void> {
    const flushed = this.#batches.shutdown().catch(() => {});
    await withTimeout(flushed, this.#flushTimeoutMs, () => {
      this.#log.warn(
        { spans: this.#waiting, timeout_ms: this.#flushTimeoutMs },
        'the last spans could not be sent to the collector of traces before this process stopped',
      );
    });
  }

  #onExported(count: number, { code, error }: ExportResult): void {
    this.#waiting -= count;
    if (code === ExportResultCode.SUCCESS) this.#outage.succeeded();
    else {
      this.#metrics.droppedSpans.inc({ reason: 'export_failed' }, count);
      this.#outage.failed({ error: messageOf(error) || `status ${codeOf(error)}` });
    }
  }
}
