import { isDeepStrictEqual } from 'node:util';
import { AggregatorRegistry } from 'prom-client';
import { isReserved, maxShortCodeLength } from '../codes/short-code.ts';
import type { Config, ServiceConfig } from '../config/config.ts';
import { DEFAULT_TRUSTED_PROXIES, parseTrustedProxies } from '../lib/client-address.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { idleSeconds, timeouts } from '../lib/timeouts.ts';

export type Server = Bun.Server<undefined>;

/** How long open requests may take after the server has stopped accepting new ones. */
const drainTimeoutMs = 5_000;

/** Opens the port. Until the service has started, every request is answered with 503. */
export function listen({ port, host, edges }: ServiceConfig): Server {
  const starting = () => new Response('starting', { status: 503, headers: { 'retry-after': '1' } });
  try {
    // src/api/http/body.ts limits bodies with a proper error; Bun's own limit closes the connection without one.
    const maxRequestBodySize = Number.MAX_SAFE_INTEGER;
    // In development mode Bun prints the source code of whatever interrupts a response.
    const development = false;
    return Bun.serve({
      port,
      hostname: host,
      reusePort: edges > 1,
      maxRequestBodySize,
      idleTimeout: idleSeconds(timeouts.idleConnectionMs),
      development,
      fetch: starting,
    });
  } catch (error) {
    throw new StartError(
      `Port ${port} on ${host} cannot be listened on (${messageOf(error)}): choose another with --port.`,
    );
  }
}

/** Accepts no new connections, waits for open requests, then closes all connections. */
export async function drain(server: Server): Promise<void> {
  server.stop();
  const deadline = performance.now() + drainTimeoutMs;
  while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(10);
  server.stop(true);
}

/** Serves metrics on a separate port, so that they stay private while the service is public. */
export function serveMetrics(
  { metricsHost, metricsPort }: ServiceConfig,
  collect: () => Promise<object[]>,
  log: Logger,
): Server {
  const fetch = async (request: Request) => {
    const { url } = withAbsoluteUrl(request);
    if (!URL.canParse(url) || new URL(url).pathname !== '/metrics')
      return new Response('See /metrics', { status: 404 });
    const registry = AggregatorRegistry.aggregate(await collect());
    return new Response(await registry.metrics(), { headers: { 'content-type': registry.contentType } });
  };
  const error = (cause: Error) => {
    log.error({ error: messageOf(cause) }, 'metrics could not be collected');
    return new Response('Metrics could not be collected: see the log of the service.', { status: 500 });
  };
  // In development mode Bun answers an error with our source code.
  const options = { hostname: metricsHost, development: false, fetch, error };
  try {
    return Bun.serve({ port: metricsPort, ...options });
  } catch {
    const server = Bun.serve({ port: 0, ...options });
    log.warn({ wanted: metricsPort, port: server.port }, 'the metrics port is in use, using a free one');
    return server;
  }
}

/** Adds HSTS: for a year browsers use TLS only, so that a key typed into http://… is never sent unencrypted. */
export function withHsts(response: Response): Response {
  response.headers.set('strict-transport-security', 'max-age=31536000');
  return response;
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127\./.test(host);

/** A warning for operators whose API keys would cross a network unencrypted, or undefined. */
export function plainHttpWarning({ host, publicUrl, roles, trustedProxies }: Config): string | undefined {
  const isBehindProxy = !isDeepStrictEqual(trustedProxies, parseTrustedProxies(DEFAULT_TRUSTED_PROXIES));
  if (!roles.includes('api') || isLoopback(host) || publicUrl?.startsWith('https:') || isBehindProxy) return undefined;
  return `API keys travel unencrypted: the service listens on ${host}, beyond this machine, and PUBLIC_URL is not https. Put a proxy with TLS in front of it and set PUBLIC_URL=https://…, or use it in a network you trust.`;
}

/** Completes the URL of an HTTP/1.0 request without a Host header, of which Bun passes on only the path. */
export function withAbsoluteUrl(request: Request): Request {
  if (request.url.startsWith('/')) Object.defineProperty(request, 'url', { value: `http://localhost${request.url}` });
  return request;
}

/**
 * Returns a function that reads the short code in a URL: its only path segment, after the path of `shortBaseUrl`. It returns
 * undefined for every other path. It works on the text, because parsing a URL for every scan would cost more than the rest of
 * the routing.
 *
 * @example
 * const shortCodeOf = shortCodeReader('https://go.example.com/s');
 * shortCodeOf('https://go.example.com/s/menu?table=3'); // 'menu'
 * shortCodeOf('https://go.example.com/v1/qrcodes'); // undefined
 */
export function shortCodeReader(shortBaseUrl: string): (url: string) => string | undefined {
  const prefix = new URL(shortBaseUrl).pathname.replace(/\/+$/, '');
  return (url) => {
    const from = url.indexOf('/', 8);
    let to = url.length;
    for (let i = from + 1; i < to; i++) {
      const c = url.charCodeAt(i);
      if (c === 63 /* ? */ || c === 35 /* # */) to = i;
    }
    let path = url.slice(from, to);
    if (prefix !== '' && path.startsWith(`${prefix}/`)) path = path.slice(prefix.length);
    if (path.length > 1 && path.endsWith('/')) path = path.slice(0, -1);
    const segment = path.slice(1);
    if (segment === '' || segment.includes('/') || isReserved(segment)) return undefined;
    // Shared pages are under /s, too: their tokens are longer than short codes.
    return prefix === '/s' && segment.length > maxShortCodeLength ? undefined : segment;
  };
}
