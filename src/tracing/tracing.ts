import type { Attributes, Span } from '@opentelemetry/api';
import type { Logger } from '../lib/logger.ts';

export type { Attributes, Span };

/** A span of this process, or a W3C `traceparent` from another one. */
export type SpanSource = Span | string;

export interface SpanOptions {
  /** Default: internal. */
  kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** Without a parent, the span begins a trace, and the sampler decides whether it is recorded. */
  parent?: SpanSource | undefined;
  links?: SpanSource[];
  attributes?: Attributes;
}

/**
 * Traces of one process. Parts get it as `Tracing | undefined`: it is undefined while traces are off, and each part then
 * uses the same functions as without this file. Attributes never contain data about a visitor: no address, user agent,
 * visitor hash, path or query.
 */
export interface Tracing {
  /** Starts a span. The caller ends it. */
  start(name: string, options?: SpanOptions): Span;
  /** Runs `work` in a span: it is active meanwhile, and ends with an error if `work` rejects. */
  record<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** Runs `work` with `span` as the active span. */
  within<T>(span: Span, work: () => T): T;
  /** The span that the calling code runs in, if it is recorded and has not ended. */
  active(): Span | undefined;
  /** Marks a span as failed. `type` is low in cardinality and without personal data: a code or class of errors. */
  fail(span: Span, type: string): void;
  /** The W3C header that continues the trace of a span elsewhere. */
  traceparentOf(span: Span): string;
  /** The `traceparent` of a request if its sender is trusted to choose which requests are sampled. */
  parentOf(headers: Headers, peer: string): string | undefined;
  /** A logger whose lines name the trace of the active span. */
  withTraceIds(log: Logger): Logger;
  /** Sends what waits, within a timeout. */
  stop(): Promise<void>;
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Name and options of the span of an HTTP request to this service. */
export function serverSpan(method: string, route: string): { name: string; attributes: Attributes } {
  const known = knownMethods.has(method);
  return {
    name: `${known ? method : 'HTTP'} ${route}`,
    attributes: { 'http.request.method': known ? method : '_OTHER', 'http.route': route },
  };
}

/** Ends the span of an HTTP request to this service. */
export function endServerSpan(tracing: Tracing, span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) tracing.fail(span, String(status));
  span.end();
}
