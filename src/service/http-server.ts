import { isDeepStrictEqual } from 'node:util';
import { AggregatorRegistry } from 'prom-client';
import { readHost } from '../../events/hosts.ts';
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

/**
 * Completes the URL of a request of which Bun passes on only the path: of HTTP/1.0 without a Host header, and of a host that is
 * not in ASCII, as a client sends it that does not know punycode.
 */
export function withAbsoluteUrl(request: Request): Request {
  if (request.url.startsWith('/')) {
    const sent = Buffer.from(request.headers.get('host') ?? '', 'latin1').toString('utf8');
    const host = readHost(sent.replace(/:\d+$/, '')) ?? 'localhost';
    Object.defineProperty(request, 'url', { value: `http://${host}${request.url}` });
  }
  return request;
}
