import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Change } from '../../events/entry.ts';
import { openGeo } from '../geo/geo.ts';
import type { TrustedProxies } from '../lib/client-address.ts';
import type { Clock } from '../lib/clock.ts';
import { edgeConnection } from '../lib/connection-names.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Timers } from '../lib/timers.ts';
import { systemTimers } from '../lib/timers.ts';
import { appendScans } from '../log/append-scans.ts';
import { connect } from '../log/connect.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { DomainAppLinks } from './app-links.ts';
import { createBans, readSavedBans } from './bans.ts';
import { Brands } from './brands.ts';
import { DomainHosts } from './domain-hosts.ts';
import { Domains, readSavedDomains } from './domains.ts';
import { LimitedRecorder } from './limited-recorder.ts';
import { toLocation } from './location.ts';
import { applyEntries } from './log-follower.ts';
import { PasswordGate } from './password-gate.ts';
import { Recorder } from './recorder.ts';
import { Redirector } from './redirect.ts';
import { Routes } from './routes.ts';
import { readSnapshots } from './snapshot.ts';
import type { DrainStatus } from './spool/drain.ts';
import type { Durability } from './spool/held-responses.ts';
import { keepRefused, refusedFileName, type StoreOptions } from './spool/refused-scans.ts';
import { openSpool, type Spool, SpoolInUse } from './spool/spool.ts';
import { type EdgeIntervals, startEdgeTasks } from './tasks.ts';
import { traceEdge } from './traced-scans.ts';

export interface EdgeOptions {
  databaseUrl: string;
  box: SecretBox;
  /** Contains one folder per edge process, for its spool, snapshot and bans. */
  folder: string;
  spoolMaxBytes: number;
  /** Default: `log`. */
  durability?: Durability | undefined;
  /** A city database in MaxMind's format; without it, the bundled DB-IP Lite is used. */
  geoPath: string | undefined;
  trustedProxies: TrustedProxies;
  /** The addresses of the service itself. */
  ownUrls: readonly string[];
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** Called after an append to the log; while scans arrive without a pause, not for each. */
  onAppended(): void;
  tracing?: Tracing | undefined;
  intervals?: EdgeIntervals | undefined;
  timers?: Timers | undefined;
}

export interface Edge {
  redirect: Redirector['redirect'];
  /**
   * The response of the custom domain that the request is for; undefined if it is for another host, or is the proof of a domain,
   * which the app answers on every host.
   */
  answerOnDomain(request: Request, peer: string): Promise<Response | undefined> | undefined;
  /** Whether this is the name of a domain whose links are served. */
  servesDomain(name: string): boolean;
  /** Applies events of codes, accounts and blocked hosts to the routes, bans and domains in memory. */
  apply(entries: Change[]): void;
  /** Resolves once routes, bans and domains no longer come from a snapshot alone. */
  caughtUp: Promise<void>;
  /** A sentence for each background task that fails. Redirects continue meanwhile. */
  failures(): string[];
  /** What waits in the spool. */
  spool(): DrainStatus;
  stop(): Promise<void>;
}

/** One for the drain, one for spools of earlier edges, one for scans of codes with a limit, two for lookups. */
const maxConnections = 5;
const maxEdges = 64;
/** While scans arrive more often than this, the relay polls the log often enough by itself. */
const pauseMs = 500;

/** Starts an edge. Needs neither Postgres nor NATS to start: routes then come from the snapshot of an earlier run. */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const { databaseUrl, box, folder, spoolMaxBytes, geoPath, trustedProxies, ownUrls, clock, log, metrics, ...hooks } =
    options;
  const { durability = 'log', onAppended, tracing, ...timing } = hooks;
  const sql = connect(databaseUrl, { max: maxConnections, name: edgeConnection, planOnce: true });
  const own = await takeFolder(folder, spoolMaxBytes, log);
  const geo = await openGeo({ path: geoPath, onEvent: (event) => log.info(event, 'geography database') });
  const snapshot = await readSnapshots(folder, box, (ignored) =>
    log.warn(ignored, 'a route snapshot cannot be read and is ignored: its routes are read from Postgres'),
  );
  const routes = new Routes({ sql, box, toLocation, metrics, snapshot });
  const bans = createBans(sql, await readSavedBans(folder));
  const domains = new Domains(sql, await readSavedDomains(folder));
  const state = { routes, bans, domains };
  const onScans = afterPause(pauseMs, onAppended);
  const traces = traceEdge(tracing);
  const store = traces.store((batch) => appendScans(sql, batch).then(onScans));
  const storing: StoreOptions = { store, onRefused: keepRefusedIn(own.path, { clock, log, metrics }) };
  const newWriter = () => newId('batch', Date.now());
  const draining = { spool: own.spool, durability, timers: systemTimers };
  const recorder = new Recorder({ newWriter, ...draining, ...storing, log, metrics });
  const sources = { routes, geo, trustedProxies, clock };
  const limited = new LimitedRecorder({ sql, routes, clock, log, onScans, onAppended });
  const recorders = { recorder: traces.recorder(recorder), limited: traces.limitedRecorder(limited) };
  const brands = new Brands(sql);
  const gate = new PasswordGate(trustedProxies);
  const redirector = new Redirector({ sources, bans, gate, ...recorders, brands, log, metrics });
  const redirect = traces.redirects((...scan) => redirector.redirect(...scan));
  const answerUnknown: Redirector['answerUnknown'] = (...args) => redirector.answerUnknown(...args);
  const site = { redirect, answerUnknown, bans, brands, appLinks: new DomainAppLinks(sql) };
  const hosts = new DomainHosts({ domains, trustedProxies, ownUrls, site });
  const folders = { folder, ownFolder: own.path };
  const spool = () => recorder.status();
  const tasks = startEdgeTasks({ sql, box, state, ...folders, storing, spool, log, metrics, ...timing });
  return {
    redirect,
    answerOnDomain: (request, peer) => hosts.answer(request, peer),
    servesDomain: (name) => typeof domains.find(name) === 'object',
    apply: (entries) => applyEntries(state, entries),
    caughtUp: tasks.caughtUp,
    failures: tasks.failures,
    spool,
    async stop() {
      await tasks.stop();
      await limited.stop();
      await recorder.stop();
      geo.close();
      await sql.end({ timeout: 2 });
    },
  };
}

/** Calls `notify` unless the last call was less than `ms` ago. */
function afterPause(ms: number, notify: () => void): () => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - lastAt >= ms) notify();
    lastAt = now;
  };
}

/** Returns what happens to scans that Postgres refuses as invalid: they go to a file, so they do not block the spool. */
function keepRefusedIn(
  folder: string,
  { clock, log, metrics }: Pick<EdgeOptions, 'clock' | 'log' | 'metrics'>,
): StoreOptions['onRefused'] {
  return async (scan, error) => {
    await keepRefused(folder, scan, error, clock());
    metrics.refusedScans.inc();
    log.error(
      { error: error.message, file: join(folder, refusedFileName) },
      'Postgres refused a scan as invalid: it is saved in a file and not counted',
    );
  };
}

/** Locks the first folder that no running edge uses, and opens the spool that an earlier process may have left in it. */
async function takeFolder(parent: string, maxBytes: number, log: Logger): Promise<{ path: string; spool: Spool }> {
  await mkdir(parent, { recursive: true, mode: 0o700 }).catch((error) => {
    throw new StartError(`EDGE_DIR ${parent} cannot be used: ${messageOf(error)}`);
  });
  for (let number = 0; number < maxEdges; number++) {
    const path = join(parent, `edge-${number}`);
    try {
      return {
        path,
        spool: await openSpool({ folder: path, maxBytes, onEvent: (event) => log.warn(event, 'spool event') }),
      };
    } catch (error) {
      if (!(error instanceof SpoolInUse)) throw error;
    }
  }
  throw new StartError(`${maxEdges} edges already use EDGE_DIR ${parent}: set another EDGE_DIR for this one.`);
}
