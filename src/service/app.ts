import { Elysia } from 'elysia';
import type { Change } from '../../events/entry.ts';
import { pingWarehouse } from '../analytics/connect.ts';
import { findTable } from '../analytics/table-in-use.ts';
import { withRequestId } from '../api/answers.ts';
import { serveApi } from '../api/v1.ts';
import type { Addresses } from '../config/config.ts';
import { serveConsole } from '../console/serve.ts';
import type { Edge } from '../edge/edge.ts';
import { noticeResponse, notices } from '../edge/pages.ts';
import { Feed } from '../feed/feed.ts';
import { timeouts } from '../lib/timeouts.ts';
import { nudgeRelay } from '../stream/changes.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { ServiceContext, ServiceOptions, Started } from './context.ts';
import { Degraded, type Details, type Probe, serveHealth } from './health.ts';
import { type Server, shortCodeOf, withAbsoluteUrl, withHsts } from './http-server.ts';
import { serveSecurityText } from './security-txt.ts';

/** Serves every path except short links: health, security.txt and, with the role `api`, the API and the console. */
export function buildApp(context: ServiceContext, started: Started, onChange: ServiceOptions['onChange']): Elysia {
  const { config, addresses, log, clock } = context;
  // By default Elysia assumes a host of at least four characters and misreads the path of http://qr/v1.
  const app = new Elysia({ handler: { standardHostname: false } });
  app.onError(({ request }) => noticeResponse(notices.unknown, request.headers));
  serveHealth(app, probesOf(context, started), log, detailsOf(started));
  serveSecurityText(app, { contact: config.securityContact, publicUrl: addresses.publicUrl, clock });
  if (config.roles.includes('api')) serveApiAndConsole(app, context, started, onChange);
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

function serveApiAndConsole(
  app: Elysia,
  context: ServiceContext,
  started: Started,
  onChange: ServiceOptions['onChange'],
): void {
  const { config, addresses, log, clock, metrics, sql, warehouse, webhooks, stopping, cleanup, tracing } = context;
  const stream = () => (started.nats === undefined ? undefined : { nats: started.nats, name: started.stream });
  const parts = {
    feed: new Feed({ sql, stream, stopping, log, maxStreams: config.maxEventStreams }),
    ...{ sql, warehouse, clock, addresses, webhooks, maxLogos: config.maxLogos },
    limits: { testCodes: config.maxTestCodes, givenShortCodes: config.maxGivenShortCodes },
    tracing,
    onChange: (entries: Change[]) => publishChanges(entries, started, onChange, tracing),
  };
  const { trustedProxies } = config;
  const api = serveApi(app, parts, { trustedProxies, log, isReady: () => started.isReady });
  cleanup.add(api.close);
  serveConsole(app, parts, api, { log, metrics });
}

/** A committed change reaches this process's routes, then the relay, then the other processes of this machine. */
async function publishChanges(
  entries: Change[],
  started: Started,
  onChange: ServiceOptions['onChange'],
  tracing: Tracing | undefined,
): Promise<void> {
  if (entries.length === 0) return;
  started.edge?.apply(entries);
  // Before the relay, so that it finds the contexts.
  if (tracing !== undefined) await keepContexts(tracing, entries);
  wakeRelay(started);
  await onChange?.(entries);
}

async function keepContexts(tracing: Tracing, entries: Change[]): Promise<void> {
  const span = tracing.active();
  if (span === undefined) return;
  const traced = entries.map(({ id, stream }) => ({ id, code: stream }));
  await tracing.contexts.keep(traced, tracing.traceparentOf(span));
}

/** Wakes the relay, in this process or another, because the log has new entries. */
export function wakeRelay({ relay, nats, stream }: Started): void {
  relay?.wake();
  if (nats !== undefined) nudgeRelay(nats, stream);
}

/** Routes requests for short links to the edge and all others to the app. */
export function serveRequests(server: Server, app: Elysia, edge: Edge | undefined, addresses: Addresses): void {
  const isHttps = addresses.publicUrl.startsWith('https:');
  app.server = server;
  server.reload({
    fetch(received) {
      const request = withAbsoluteUrl(received);
      const shortCode = edge === undefined ? undefined : shortCodeOf(request.url, addresses.shortBaseUrl);
      const answer =
        edge === undefined || shortCode === undefined
          ? answerByApp(app, request)
          : edge.redirect(request, shortCode, server.requestIP(request)?.address ?? '');
      return isHttps ? answer.then(withHsts) : answer;
    },
  });
}

const answerByApp = async (app: Elysia, request: Request) => withRequestId(request, await app.fetch(request));
