import { isDeepStrictEqual } from 'node:util';
import { AggregatorRegistry } from 'prom-client';
import type { Config, ServiceConfig } from '../config.ts';
import { DEFAULT_TRUSTED_PROXIES, parseTrustedProxies } from '../lib/client-address.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { isReserved } from '../lib/short-code.ts';

export type Server = Bun.Server<undefined>;

/** How long requests that are under way at the end may take. */
const drainMs = 5_000;

/** Opens the port. Until the service is put together, it asks for patience. */
export function listen({ port, host, edges }: ServiceConfig): Server {
  const starting = () => new Response('starting', { status: 503, headers: { 'retry-after': '1' } });
  try {
    // Bodies are measured where they are read (src/api/body.ts); Bun's own limit would answer without a word.
    const maxRequestBodySize = Number.MAX_SAFE_INTEGER;
    // Otherwise it would print whatever breaks an answer off, source and all; our log says it in a line.
    const development = false;
    return Bun.serve({ port, hostname: host, reusePort: edges > 1, maxRequestBodySize, development, fetch: starting });
  } catch (error) {
    throw new StartError(
      `Port ${port} on ${host} cannot be listened on (${messageOf(error)}): choose another with --port.`,
    );
  }
}

/** Takes no new connections, lets requests that are under way finish, then closes the idle ones too. */
export async function drain(server: Server): Promise<void> {
  server.stop();
  const deadline = performance.now() + drainMs;
  while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(10);
  server.stop(true);
}

/** Metrics have a listener of their own, so that the service can be public and they are not. */
export function serveMetrics(
  { metricsHost, metricsPort }: ServiceConfig,
  gather: () => Promise<object[]>,
  log: Logger,
): Server {
  const fetch = async (request: Request) => {
    const { url } = addressed(request);
    if (!URL.canParse(url) || new URL(url).pathname !== '/metrics')
      return new Response('See /metrics', { status: 404 });
    const registry = AggregatorRegistry.aggregate(await gather());
    return new Response(await registry.metrics(), { headers: { 'content-type': registry.contentType } });
  };
  const error = (cause: Error) => {
    log.error({ error: messageOf(cause) }, 'metrics could not be collected');
    return new Response('Metrics could not be collected: the log has the reason.', { status: 500 });
  };
  // In development mode Bun answers an error with our source code.
  const options = { hostname: metricsHost, development: false, fetch, error };
  try {
    return Bun.serve({ port: metricsPort, ...options });
  } catch {
    const server = Bun.serve({ port: 0, ...options });
    log.warn({ wanted: metricsPort, port: server.port }, 'the port for metrics is taken, using another');
    return server;
  }
}

/** For a year, browsers come over TLS only: a key typed into http://… would have been sent in the clear. */
export function transportSecured(response: Response): Response {
  response.headers.set('strict-transport-security', 'max-age=31536000');
  return response;
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127\./.test(host);

/** What an operator should know whose keys cross a network unencrypted, or undefined. */
export function plainHttpWarning({ host, publicUrl, roles, trustedProxies }: Config): string | undefined {
  const isBehindProxy = !isDeepStrictEqual(trustedProxies, parseTrustedProxies(DEFAULT_TRUSTED_PROXIES));
  if (!roles.includes('api') || isLoopback(host) || publicUrl?.startsWith('https:') || isBehindProxy) return undefined;
  return `API keys travel unencrypted: the service listens on ${host}, beyond this machine, and PUBLIC_URL is not https. Put a proxy with TLS in front of it and set PUBLIC_URL=https://…, or use it in a network you trust.`;
}

/** Where no Host was sent, which HTTP/1.0 allows, Bun tells the path alone; whoever reads it expects a whole address. */
export function addressed(request: Request): Request {
  if (request.url.startsWith('/')) Object.defineProperty(request, 'url', { value: `http://localhost${request.url}` });
  return request;
}

/**
 * The short code that a URL asks for: its one path segment, behind the path of the short links' own base. Nothing when
 * the path is for somebody else. Read from the text: parsing a URL for every scan would cost more than the rest.
 */
export function shortCodeOf(url: string, shortBaseUrl: string): string | undefined {
  const from = url.indexOf('/', 8);
  let to = url.length;
  for (let i = from + 1; i < to; i++) {
    const c = url.charCodeAt(i);
    if (c === 63 /* ? */ || c === 35 /* # */) to = i;
  }
  const prefix = pathOf(shortBaseUrl);
  let path = url.slice(from, to);
  if (prefix !== '' && path.startsWith(`${prefix}/`)) path = path.slice(prefix.length);
  if (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1);
  const segment = path.slice(1);
  return segment === '' || segment.includes('/') || isReserved(segment) ? undefined : segment;
}

let lastBase = { url: '', path: '' };

function pathOf(url: string): string {
  if (lastBase.url !== url) lastBase = { url, path: new URL(url).pathname.replace(/\/+$/, '') };
  return lastBase.path;
}
