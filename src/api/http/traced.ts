import { endServerSpan, serverSpan, type Tracing } from '../../tracing/tracing.ts';

/** What Elysia passes to a handler. */
export interface Context {
  request: Request;
  params?: Record<string, string | null>;
  server: {
    requestIP(request: Request): { address: string } | null;
    timeout(request: Request, seconds: number): void;
  } | null;
}

type Respond = (context: Context) => Promise<Response>;

/** Answers each request in a span that is named after the route. A streamed response goes on after its span. */
export function traced(tracing: Tracing | undefined, route: string, respond: Respond): Respond {
  if (tracing === undefined) return respond;
  // Named one by one: Elysia reads the source of a handler, and parses the body for one that could use all properties.
  return async ({ request, params, server }) => {
    const { name, attributes } = serverSpan(request.method, route);
    const parent = tracing.parentOf(request.headers, server?.requestIP(request)?.address ?? '');
    const span = tracing.start(name, { kind: 'server', parent, attributes });
    const received = { request, server, ...(params === undefined ? {} : { params }) };
    const response = await tracing.within(span, () => respond(received));
    endServerSpan(tracing, span, response.status);
    return response;
  };
}
