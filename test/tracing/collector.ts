import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';

/** A span as OTLP/HTTP sends it in JSON, with its attributes as an object. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code: number };
  links: { traceId: string; spanId: string }[];
  attributes: Record<string, unknown>;
}

interface OtlpAttribute {
  key: string;
  value: Record<string, unknown>;
}

interface OtlpBody {
  resourceSpans: {
    resource: { attributes: OtlpAttribute[] };
    scopeSpans: { spans: (Omit<ReceivedSpan, 'attributes'> & { attributes: OtlpAttribute[] })[] }[];
  }[];
}

const objectOf = (attributes: OtlpAttribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** Starts a collector of traces that speaks OTLP/HTTP with JSON. */
export function startCollector() {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  let resource: Record<string, unknown> = {};
  let headers: Record<string, string> = {};
  let status = 200;
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (new URL(request.url).pathname !== '/v1/traces') return new Response('unknown path', { status: 404 });
      const text = await request.text();
      if (status !== 200) return new Response('refused', { status });
      texts.push(text);
      headers = Object.fromEntries(request.headers);
      for (const { resource: of, scopeSpans } of (JSON.parse(text) as OtlpBody).resourceSpans) {
        resource = objectOf(of.attributes);
        for (const span of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({ ...span, attributes: objectOf(span.attributes) });
      }
      return Response.json({ partialSuccess: {} });
    },
  });
  const inTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId);
  return {
    url: `http://127.0.0.1:${server.port}`,
    /** Everything that was received. */
    text: () => texts.join('\n'),
    resource: () => resource,
    headers: () => headers,
    inTrace,
    /** All spans whose name begins so. */
    named: (prefix: string) => spans.filter(({ name }) => name.startsWith(prefix)),
    /** Waits until a trace has spans with these names, and returns one of each. */
    spansNamed: <N extends string>(traceId: string, names: readonly N[]) =>
      eventually(() => {
        const byName = new Map(inTrace(traceId).map((span) => [span.name, span]));
        expect(
          names.filter((name) => !byName.has(name)),
          'missing spans',
        ).toEqual([]);
        return Object.fromEntries(names.map((name) => [name, byName.get(name)])) as Record<N, ReceivedSpan>;
      }),
    /** Answers later requests with this status. */
    answerWith: (next: number) => {
      status = next;
    },
    stop: () => server.stop(true),
  };
}
