import type { Change } from '../../events/entry.ts';
import type { Addresses, ServiceConfig } from '../config/config.ts';
import { linkAbuseContact } from '../edge/pages.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { createMetrics } from '../lib/metrics.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { buildApp, serveRequests } from './app.ts';
import { Cleanup } from './cleanup.ts';
import { createContext, type ServiceContext, type ServiceOptions, type Started } from './context.ts';
import { drain, listen, type Server, serveMetrics } from './http-server.ts';
import { startEdgeRole, startRoles } from './roles.ts';
import { startTracing } from './tracing.ts';
import { wakeRelay } from './wake-relay.ts';

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

/** Starts the roles of the configuration in this process. */
export async function startService(config: ServiceConfig, options: ServiceOptions): Promise<RunningService> {
  // Before the port opens, because requests that arrive while the API is loaded would be answered with 503.
  const apiRole = config.roles.includes('api') ? await import('./api-role.ts') : undefined;
  // First: that a port is taken should be reported before anything else starts.
  let server = options.joinsPort ? undefined : listen(config);
  const openPort = () => {
    server ??= listen(config);
    return server;
  };
  const stopping = new AbortController();
  const cleanup = new Cleanup();
  const stop = async () => {
    stopping.abort();
    // Requests under way still need what the cleanup stops.
    if (server !== undefined) await drain(server);
    await cleanup.run();
  };
  try {
    const port = server?.port ?? config.port;
    return await startParts(config, options, { port, openPort, stop, stopping: stopping.signal, cleanup, apiRole });
  } catch (error) {
    await stop();
    throw startErrorOf(error);
  }
}

interface Lifecycle {
  port: number;
  openPort(): Server;
  stop(): Promise<void>;
  stopping: AbortSignal;
  cleanup: Cleanup;
  /** Undefined without the role `api`. */
  apiRole: typeof import('./api-role.ts') | undefined;
}

async function startParts(
  config: ServiceConfig,
  options: ServiceOptions,
  { port, openPort, stop, stopping, cleanup, apiRole }: Lifecycle,
): Promise<RunningService> {
  linkAbuseContact(config.abuseContact);
  const metrics = createMetrics();
  const tracing = await startTracing(config, { log: options.log, metrics, cleanup });
  const context = createContext(config, options, { port, stopping, cleanup, metrics, tracing });
  const { addresses } = context;
  const ownMetrics = () => metrics.registry.getMetricsAsJSON();
  const metricsServer = startMetrics(context, ownMetrics, options.otherMetrics);
  const started: Started = {
    edge: undefined,
    relay: undefined,
    nats: undefined,
    stream: config.stream,
    isReady: false,
  };
  const edge = config.roles.includes('edge') ? await startEdgeRole(context, () => wakeRelay(started)) : undefined;
  started.edge = edge;
  const app = buildApp(context, started);
  apiRole?.serveApiAndConsole(app, context, started, options.onChange);
  const serve = () => serveRequests(openPort(), app, edge, addresses);
  if (!options.joinsPort) serve();
  const rolesRun = startRoles(context, started);
  const joined = options.joinsPort ? joinPort([rolesRun, edge?.caughtUp], stopping, serve) : undefined;
  const ready = Promise.all([rolesRun, joined]).then(
    () => {},
    (error) => {
      if (!stopping.aborted) throw startErrorOf(error);
    },
  );
  // The caller may look at `ready` later, or never.
  ready.catch(() => {});
  return {
    port,
    metricsPort: metricsServer.port ?? 0,
    addresses,
    ready,
    metrics: ownMetrics,
    apply: (entries) => edge?.apply(entries),
    stop,
  };
}

/**
 * Serves requests on a port that another process serves already, as soon as this one can answer all of them. Without
 * Postgres or NATS it never runs all roles, but it redirects: it joins after the timeout.
 */
async function joinPort(prepared: unknown[], stopping: AbortSignal, serve: () => void): Promise<void> {
  await withTimeout(Promise.all(prepared), timeouts.joinPortMs, () => {});
  if (!stopping.aborted) serve();
}

function startMetrics(
  { config, log, cleanup }: ServiceContext,
  ownMetrics: () => Promise<object>,
  otherMetrics: ServiceOptions['otherMetrics'],
): Server {
  const server = serveMetrics(config, async () => [await ownMetrics(), ...((await otherMetrics?.()) ?? [])], log);
  cleanup.add(() => server.stop(true));
  return server;
}

const startErrorOf = (error: unknown): StartError =>
  error instanceof StartError ? error : new StartError(`The service could not start: ${messageOf(error)}`);
