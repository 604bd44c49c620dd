import { Elysia } from 'elysia';
import { isReservedLater, shortCodeReader } from '../../events/reserved-words.ts';
import { pingWarehouse } from '../analytics/connect.ts';
import { findTable } from '../analytics/table-in-use.ts';
import { withRequestId } from '../api/http/responses.ts';
import type { Addresses } from '../config/config.ts';
import type { Edge } from '../edge/edge.ts';
import { noticeResponse, notices } from '../edge/pages.ts';
import { timeouts } from '../lib/timeouts.ts';
import type { ServiceContext, Started } from './context.ts';
import { serveDomainProof } from './domain-proof.ts';
import { Degraded, type Details, type Probe, serveHealth } from './health.ts';
import { type Server, withAbsoluteUrl, withHsts } from './http-server.ts';
import { serveSecurityText } from './security-txt.ts';
import { serveTlsAsk } from './tls-ask.ts';

/** Serves what every process answers besides short links: health, proofs of custom domains and security.txt. */
export function buildApp(context: ServiceContext, started: Started): Elysia {
  const { config, addresses, log, clock } = context;
  // By default Elysia assumes a host of at least four characters and misreads the path of http://qr/v1.
  const app = new Elysia({ handler: { standardHostname: false } });
  app.onError(({ request }) => noticeResponse(notices.unknown, request.headers));
  serveHealth(app, probesOf(context, started), log, detailsOf(started));
  serveDomainProof(app, context.webhooks.box);
  if (started.edge !== undefined)
    serveTlsAsk(app, { edge: started.edge, addresses, trustedProxies: config.trustedProxies });
  serveSecurityText(app, { contact: config.securityContact, publicUrl: addresses.publicUrl, clock });
  return app;
}

function probesOf({ sql, warehouse }: ServiceContext, started: Started): Record<string, Probe> {
  const startedAt = performance.now();
  const { edge } = started;
  return {
    postgres: () => sql`SELECT 1`,
    nats: async () => {
      if (started.nats === undefined) throw new Error('not connected yet');
      await started.nats.flush();
    },
    clickhouse: async () => {
      await pingWarehouse(warehouse);
      // Filling the first table from a long log takes minutes.
      if (performance.now() - startedAt < timeouts.firstTableMs) await findTable(sql, warehouse);
    },
    ...(edge === undefined ? {} : { edge: () => probeEdge(edge) }),
  };
}

function detailsOf({ edge }: Started): Details {
  if (edge === undefined) return {};
  const spool = () => {
    const { batches, bytes, scansPerSecond = null, secondsLeft } = edge.spool();
    return { batches, bytes, scans_per_second: rounded(scansPerSecond), seconds_left: rounded(secondsLeft) };
  };
  return { edge: () => ({ spool: spool() }) };
}

const rounded = (value: number | null) => (value === null ? null : Math.round(value * 10) / 10);

async function probeEdge(edge: Edge): Promise<void> {
  const failures = edge.failures();
  if (failures.length > 0) throw new Degraded(failures.join('; '));
}

/** Routes requests for custom domains and short links to the edge and all others to the app. */
export function serveRequests(server: Server, app: Elysia, edge: Edge | undefined, addresses: Addresses): void {
  const isHttps = addresses.publicUrl.startsWith('https:');
  const shortCodeOf = shortCodeReader(addresses.shortBaseUrl);
  app.server = server;
  const answerByService = (request: Request, peer: string) => {
    const shortCode = edge === undefined ? undefined : shortCodeOf(request.url);
    const response =
      edge === undefined || shortCode === undefined
        ? answerByApp(app, request)
        : isReservedLater(shortCode)
          ? answerByLinkOrApp(app, edge, request, shortCode, peer)
          : edge.redirect(request, shortCode, peer);
    return isHttps ? response.then(withHsts) : response;
  };
  server.reload({
    fetch(received) {
      const request = withAbsoluteUrl(received);
      const peer = server.requestIP(request)?.address ?? '';
      const onDomain = edge?.answerOnDomain(request, peer);
      if (onDomain === undefined) return answerByService(request, peer);
      return onDomain.then((response) => response ?? answerByService(request, peer));
    },
  });
}

/** What a link gets is for the code with this word as its short code, whether there is one or not; the app answers the rest. */
function answerByLinkOrApp(app: Elysia, edge: Edge, request: Request, shortCode: string, peer: string) {
  const { method, headers } = request;
  const isForm = method === 'POST' && /^application\/x-www-form-urlencoded/i.test(headers.get('content-type') ?? '');
  // What clients of the Model Context Protocol ask for with GET.
  const isStream = headers.get('accept')?.includes('text/event-stream') ?? false;
  const isForLink = isForm || ((method === 'GET' || method === 'HEAD') && !isStream);
  return isForLink ? edge.redirect(request, shortCode, peer) : answerByApp(app, request);
}

const answerByApp = async (app: Elysia, request: Request) => withRequestId(request, await app.fetch(request));
