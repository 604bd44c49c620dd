import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import pino from 'pino';
import { clientAddress, type TrustedProxies } from '../lib/client-address.ts';
import { codeOf } from '../lib/errors.ts';
import { inRanges } from '../lib/ip-range.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SamplerName, TraceparentSource } from '../lib/trace-settings.ts';
import { SpanQueue } from './span-queue.ts';
import type { SpanOptions, SpanSource, Tracing } from './tracing.ts';

// This file loads the SDK: it is imported dynamically, and only when traces are on.

export interface TracingOptions {
  /** Where spans are sent to, path included. */
  url: string;
  headers: Record<string, string>;
  /** Default: the name in `resourceAttributes`, or `scanlog`. */
  serviceName: string | undefined;
  serviceVersion: string;
  resourceAttributes: Record<string, string>;
  sampler: SamplerName;
  /** The share of traces that the samplers with a ratio record. */
  ratio: number;
  trustedProxies: TrustedProxies;
  traceparentFrom: TraceparentSource;
  log: Logger;
  metrics: Metrics;
}

/** For one request to the collector with its retries. */
const exportTimeoutMs = 5_000;

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

export class SdkTracing implements Tracing {
  readonly #options: TracingOptions;
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #active = new AsyncLocalStorage<Span>();

  constructor(options: TracingOptions) {
    const { url, headers, log, metrics, serviceVersion } = options;
    this.#options = options;
    const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: exportTimeoutMs });
    this.#provider = new TracerProvider({
      resource: resourceOf(options),
      sampler: samplerOf(options),
      spanProcessors: [new SpanQueue({ exporter, log, metrics })],
    });
    this.#tracer = this.#provider.getTracer('scanlog', serviceVersion);
  }

  start(name: string, { kind = 'internal', parent, links, attributes }: SpanOptions = {}): Span {
    const options = {
      kind: kinds[kind],
      ...(links === undefined ? {} : { links: links.flatMap(linkTo) }),
      ...(attributes === undefined ? {} : { attributes }),
    };
    return this.#tracer.startSpan(name, options, contextOf(parent));
  }

  async record<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
    const span = this.start(name, options);
    try {
      return await this.within(span, () => work(span));
    } catch (error) {
      // Not the message, which can contain anything.
      this.fail(span, codeOf(error) || (error instanceof Error ? error.name : 'unknown'));
      throw error;
    } finally {
      span.end();
    }
  }

  within<T>(span: Span, work: () => T): T {
    return span.isRecording() ? this.#active.run(span, work) : work();
  }

  active(): Span | undefined {
    const span = this.#active.getStore();
    // A loop that a request has started inherits its span, and outlives it.
    return span?.isRecording() === true ? span : undefined;
  }

  fail(span: Span, type: string): void {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute('error.type', type);
  }

  traceparentOf(span: Span): string {
    const { traceId, spanId, traceFlags } = span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  parentOf(headers: Headers, peer: string): string | undefined {
    const given = headers.get('traceparent');
    if (given === null) return undefined;
    const { traceparentFrom, trustedProxies } = this.#options;
    const forwardedFor = traceparentFrom === 'clients' ? headers.get('x-forwarded-for') : null;
    return inRanges(trustedProxies, clientAddress(peer, forwardedFor, trustedProxies)) ? given : undefined;
  }

  withTraceIds(log: Logger): Logger {
    const traced = log.child({});
    const mixin = () => {
      const span = this.active();
      return span === undefined ? {} : { trace_id: span.spanContext().traceId };
    };
    // A child can have no `mixin` of its own by its options; pino reads this property, and children inherit it.
    return Object.defineProperty(traced, pino.symbols.mixinSym, { value: mixin });
  }

  stop(): Promise<void> {
    return this.#provider.shutdown();
  }
}

function contextOf(parent: SpanSource | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  if (typeof parent !== 'string') return trace.setSpan(ROOT_CONTEXT, parent);
  const remote = parseTraceParent(parent);
  return remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
}

function linkTo(source: SpanSource): Link[] {
  const context = trace.getSpanContext(contextOf(source));
  return context === undefined ? [] : [{ context }];
}

const resourceOf = ({ serviceName, serviceVersion, resourceAttributes }: TracingOptions) =>
  defaultResource().merge(
    resourceFromAttributes({
      'service.name': 'scanlog',
      'service.version': serviceVersion,
      // Each process is an instance, also those that share a port.
      'service.instance.id': randomUUID(),
      ...resourceAttributes,
      ...(serviceName === undefined ? {} : { 'service.name': serviceName }),
    }),
  );

function samplerOf({ sampler, ratio }: Pick<TracingOptions, 'sampler' | 'ratio'>): Sampler {
  const roots = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const root = roots[sampler.replace('parentbased_', '') as keyof typeof roots]();
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}
