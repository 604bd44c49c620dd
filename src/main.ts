import { setTimeout as sleep } from 'node:timers/promises';
import { Elysia } from 'elysia';
import type { NatsConnection } from 'nats';
import type { Change } from '../events/entry.ts';
import type { Mode } from '../events/plans.ts';
import { disable } from './accounts/webhooks.ts';
import { named } from './api/answers.ts';
import { Degraded, type Probe, serveHealth } from './api/health.ts';
import { serveSecurityText } from './api/security-txt.ts';
import { sweepRegularly } from './api/sweep.ts';
import { serveApi } from './api/v1.ts';
import { keepVisitorKeys } from './codes/visitor-key-upkeep.ts';
import { findTable } from './codes/warehouse-table.ts';
import { type Addresses, addressesOf, type ServiceConfig } from './config.ts';
import { serveConsole } from './console/serve.ts';
import { type Edge, startEdge } from './edge/edge.ts';
import { linkAbuseContact, noticeResponse, notices } from './edge/pages.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { messageOf, StartError } from './lib/errors.ts';
import type { Logger } from './lib/logger.ts';
import { createMetrics } from './lib/metrics.ts';
import { createSecretBox } from './lib/secret-box.ts';
import { streamOfLog } from './log/branch.ts';
import { connect, isAway } from './log/connect.ts';
import { migrate } from './log/migrate.ts';
import { isKeyOfDatabase } from './log/secret-key.ts';
import { addressed, drain, listen, serveMetrics, shortCodeOf, transportSecured } from './server.ts';
import { runAnalytics } from './stream/analytics.ts';
import { followChanges, nudgeRelay, onNudge } from './stream/changes.ts';
import { connectStream } from './stream/connect.ts';
import { runCounters } from './stream/counters.ts';
import { type Relay, startRelay } from './stream/relay.ts';
import { runWebhooks } from './stream/webhooks.ts';
import { connectWarehouse, pingWarehouse } from './warehouse/connect.ts';
import { createSender } from './webhooks/send.ts';

const databaseRetryMs = 500;
/** A service that has just been installed is ready when it can be asked for analytics, too; a long log is not waited for. */
export const tableWithinMs = 5_000;

export interface RunningService {
  port: number;
  metricsPort: number;
  addresses: Addresses;
  /** Resolves once every role runs. Redirects are answered before, as far as that is possible without Postgres. */
  ready: Promise<void>;
  /** What this process has measured, for another to show. */
  metrics(): Promise<object>;
  /** Follows changes of codes that another process of this machine has made. */
  apply(entries: Change[]): void;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  log: Logger;
  clock?: Clock;
  /** Told of changes that this process has made, before they are answered. */
  onChange?(entries: Change[]): Promise<void>;
  /** What other processes of this service have measured; /metrics shows the sum. */
  otherMetrics?(): Promise<object[]>;
}

/** Puts the roles together and starts them. */
export async function startService(config: ServiceConfig, options: ServiceOptions): Promise<RunningService> {
  const { log, clock = systemClock, onChange = async () => {}, otherMetrics = async () => [] } = options;
  const stops: (() => unknown)[] = [];
  const stopping = new AbortController();
  let drainServer = async () => {};
  const stop = async () => {
    stopping.abort();
    // Before anything that requests under way still need.
    await drainServer();
    for (const step of stops.splice(0).reverse()) await step();
  };
  try {
    // First of all, since a port that is taken should be heard of before anything else happens.
    const server = listen(config);
    drainServer = () => drain(server);
    const port = server.port ?? 0;
    const addresses = addressesOf(config, port);
    linkAbuseContact(config.abuseContact);
    const metrics = createMetrics();
    const own = () => metrics.registry.getMetricsAsJSON();
    const metricsServer = serveMetrics(config, async () => [await own(), ...(await otherMetrics())], log);
    stops.push(() => metricsServer.stop(true));

    const sql = connect(config.databaseUrl, { max: 20 });
    stops.push(() => sql.end({ timeout: 2 }));
    const warehouse = connectWarehouse(config);
    stops.push(() => warehouse.client.close());
    const box = createSecretBox(config.secretKey);
    const policy = {
      allowHttp: config.webhookAllowHttp,
      allowed: config.webhookAllowedCidrs ?? { v4: [], v6: [] },
    };
    const send = createSender({ policy });
    let nats: NatsConnection | undefined;
    let { stream } = config;
    let relay: Relay | undefined;
    let edge: Edge | undefined;
    let ready = false;
    const startedAt = performance.now();

    if (config.roles.includes('edge')) {
      const { databaseUrl, edgeFolder: folder, spoolMaxBytes, geoPath, trustedProxies } = config;
      const parts = { databaseUrl, box, folder, spoolMaxBytes, geoPath, trustedProxies };
      edge = await startEdge({ ...parts, clock, log, metrics });
      stops.push(() => edge?.stop());
    }

    // Elysia takes a host to have four letters at least, and would look for the path of http://qr/v1 in the wrong place.
    const app = new Elysia({ handler: { standardHostname: false } });
    app.onError(({ request }) => noticeResponse(notices.unknown, request.headers));
    const probes: Record<string, Probe> = {
      postgres: () => sql`SELECT 1`,
      nats: async () => {
        if (nats === undefined) throw new Error('not connected yet');
        await nats.flush();
      },
      clickhouse: async () => {
        await pingWarehouse(warehouse);
        if (performance.now() - startedAt < tableWithinMs) await findTable(sql, warehouse);
      },
    };
    const { failures } = edge ?? {};
    if (failures !== undefined)
      probes['edge'] = async () => {
        if (failures().length > 0) throw new Degraded(failures().join('; '));
      };
    serveHealth(app, probes, log);
    serveSecurityText(app, { contact: config.securityContact, publicUrl: addresses.publicUrl, clock });
    if (config.roles.includes('api')) {
      const changed = async (entries: Change[]) => {
        if (entries.length === 0) return;
        edge?.apply(entries);
        relay?.wake();
        if (nats !== undefined) nudgeRelay(nats, stream);
        await onChange(entries);
      };
      const { trustedProxies } = config;
      const parts = {
        ...{ sql, warehouse, clock, addresses, maxTestCodes: config.maxTestCodes },
        ...{ webhooks: { box, policy, send }, onChange: changed },
      };
      const api = serveApi(app, parts, { trustedProxies, log, isReady: () => ready });
      stops.push(api.close);
      serveConsole(app, parts, api, { log, metrics });
    }
    app.server = server;
    const isHttps = addresses.publicUrl.startsWith('https:');
    server.reload({
      fetch(received) {
        const request = addressed(received);
        const shortCode = edge === undefined ? undefined : shortCodeOf(request.url, addresses.shortBaseUrl);
        const answer =
          edge === undefined || shortCode === undefined
            ? answerNamed(app, request)
            : edge.redirect(request, shortCode, server.requestIP(request)?.address ?? '');
        return isHttps ? answer.then(transportSecured) : answer;
      },
    });

    const start = async () => {
      await migrateWhenThere(config.databaseUrl, log, stopping.signal);
      // What is started after everything was stopped, nobody would stop any more.
      stopping.signal.throwIfAborted();
      if (!(await isKeyOfDatabase(sql, box)))
        throw new StartError(
          'SECRET_KEY is not the one of this database: give every process the same, since the secrets of webhooks and the visitor keys are encrypted with it. ./scanlog secret rotate changes it, ./scanlog secret reset replaces a lost one.',
        );
      stream = await streamOfLog(sql, config.stream);
      ready = true;
      if (config.roles.includes('api')) stops.push(sweepRegularly(sql, log), keepVisitorKeys({ sql, box, log }).stop);
      const connection = await connectStream(config.natsUrl, 'scanlog', stopping.signal);
      if (stopping.signal.aborted) return connection.close();
      nats = connection;
      stops.push(() => connection.close());
      if (edge !== undefined) followChanges(nats, stream, edge.apply, log);
      const { databaseUrl, natsReplicas: replicas } = config;
      const common = { sql, databaseUrl, nats, stream, replicas, log, metrics };
      if (config.roles.includes('relay')) {
        relay = startRelay(common);
        onNudge(nats, stream, relay.wake);
        stops.push(relay.stop);
      }
      if (config.roles.includes('projections')) {
        stops.push(runCounters(common).stop);
        stops.push(
          runWebhooks({
            ...{ ...common, box, send, clock },
            disable: ({ account, mode }, reason) => disable(sql, { account, mode: mode as Mode }, reason, clock()),
          }).stop,
        );
        stops.push(runAnalytics({ ...common, warehouse, signal: stopping.signal }).stop);
      }
    };
    const started = start().catch((error) => {
      if (stopping.signal.aborted) return;
      throw error instanceof StartError ? error : new StartError(`The service could not start: ${messageOf(error)}`);
    });
    started.catch(() => {});
    return {
      port,
      metricsPort: metricsServer.port ?? 0,
      addresses,
      ready: started,
      metrics: own,
      apply: (e) => edge?.apply(e),
      stop,
    };
  } catch (error) {
    await stop();
    throw error instanceof StartError ? error : new StartError(`The service could not start: ${messageOf(error)}`);
  }
}

const answerNamed = async (app: Elysia, request: Request) => named(request, await app.fetch(request));

/** Retries while the database is unavailable; one that refuses us fails at once. */
async function migrateWhenThere(databaseUrl: string, log: Logger, signal: AbortSignal): Promise<void> {
  // On a connection of its own: a migration, or waiting for another instance's, may take minutes.
  const sql = connect(databaseUrl, { max: 1, name: 'scanlog-migrate', answerTimeoutMs: 'none' });
  signal.addEventListener('abort', () => void sql.end({ timeout: 0 }), { once: true });
  try {
    for (;;) {
      try {
        const applied = await migrate(sql);
        if (applied.length > 0) log.info({ migrations: applied }, 'database migrated');
        return;
      } catch (error) {
        if (!isAway(error) || signal.aborted) throw error;
        log.warn({ error: messageOf(error) }, 'Postgres is unavailable, retrying the migration');
        await sleep(databaseRetryMs, undefined, { signal });
      }
    }
  } finally {
    await sql.end({ timeout: 1 });
  }
}
