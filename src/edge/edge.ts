import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Change } from '../../events/entry.ts';
import type { TrustedProxies } from '../lib/client-address.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { inTime } from '../lib/in-time.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { appendScans, type ScanBatch } from '../log/append-scans.ts';
import { connect } from '../log/connect.ts';
import { ensurePartitions } from '../log/partitions.ts';
import { headOfLog, readEvents } from '../log/read.ts';
import { openGeo } from './geo.ts';
import { toLocation } from './location.ts';
import { createRecorder } from './recorder.ts';
import { createRedirect, type Redirect } from './redirect.ts';
import { keepRefused, refusedFileName, storeValid } from './refused-scans.ts';
import { createRoutes } from './routes.ts';
import { readSnapshots, removeSnapshot, writeSnapshot } from './snapshot.ts';
import { openSpool, type Spool } from './spool.ts';

export interface EdgeOptions {
  databaseUrl: string;
  /** Where the spool and the snapshot live; each edge takes a folder of its own in it. */
  folder: string;
  spoolMaxBytes: number;
  /** A city database in MaxMind's format; DB-IP Lite otherwise. */
  geoPath: string | undefined;
  trustedProxies: TrustedProxies;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
}

export interface Edge {
  redirect: Redirect;
  /** Takes over what happened to codes. */
  apply(entries: Change[]): void;
  stop(): Promise<void>;
}

const everyMs = { poll: 2_000, snapshot: 3_000, upkeep: 5_000 };
/** 200,000 routes take half a second to write: an edge that learns new ones all the time must not do so all the time. */
const snapshotRest = { perWork: 20, mostMs: 30_000 };
/** A connection can die without a word: whoever waits for an answer on it must not wait for ever. */
const taskWithinMs = 60_000;
const mostEdges = 64;
const eventsAtOnce = 1_000;

/** Starts redirecting. It needs neither Postgres nor NATS to start: an edge works with what it remembers. */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const { databaseUrl, folder, spoolMaxBytes, geoPath, trustedProxies, clock, log, metrics } = options;
  // Two commits, the spool, and two for whoever looks something up meanwhile.
  const sql = connect(databaseUrl, { max: 5, name: 'scanlog-edge', planOnce: true });
  const own = await takeFolder(folder, spoolMaxBytes, log);
  const geo = await openGeo({ path: geoPath, onEvent: (event) => log.info(event, 'place data') });
  const routes = createRoutes(sql, toLocation, metrics, await readSnapshots(folder));
  const store = (batch: ScanBatch) => appendScans(sql, batch);
  const send = (record: Uint8Array) =>
    storeValid(JSON.parse(Buffer.from(record).toString('utf8')), {
      store,
      async onRefused(scan, error) {
        await keepRefused(own.path, scan, error, clock());
        metrics.refusedScans.inc();
        const file = join(own.path, refusedFileName);
        log.error({ error: error.message, file }, 'Postgres refuses a scan as invalid, it is kept in a file');
      },
    });
  const recorder = createRecorder({
    writers: [newId('batch', Date.now()), newId('batch', Date.now())],
    store,
    send,
    spool: own.spool,
    log,
    metrics,
  });

  // Changes come over the stream; asking the log as well makes up for what NATS loses, and for NATS being away.
  let position: number | undefined;
  const poll = async () => {
    if (position === undefined) {
      const head = await headOfLog(sql);
      await routes.refresh();
      position = head;
    }
    let events: Change[];
    do {
      events = await readEvents(sql, position, eventsAtOnce);
      routes.apply(events);
      position = events.at(-1)?.position ?? position;
    } while (events.length === eventsAtOnce);
  };
  let written = '';
  const snapshot = async () => {
    const current = [...routes.all()];
    const version = `${current.length} ${current.reduce((sum, route) => sum + route.version, 0)}`;
    if (version === written || current.length === 0) return;
    await writeSnapshot(own.path, current);
    written = version;
  };
  const upkeep = async () => {
    await ensurePartitions(sql);
    await adoptOrphans(folder, own.path, send, log);
  };
  const stops = [
    regularly(poll, everyMs.poll, (error) => log.debug({ error }, 'the log cannot be asked for changes')),
    regularly(snapshot, everyMs.snapshot, (error) => log.warn({ error }, 'the routes could not be written to disk'), {
      restFor: (ms) => Math.min(ms * snapshotRest.perWork, snapshotRest.mostMs),
    }),
    regularly(upkeep, everyMs.upkeep, (error) => log.debug({ error }, 'upkeep waits for Postgres')),
  ];

  return {
    redirect: createRedirect({ routes, recorder, geo, trustedProxies, clock, log, metrics }),
    apply: (entries) => routes.apply(entries),
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
      await snapshot().catch(() => {});
      await recorder.stop();
      geo.close();
      await sql.end({ timeout: 2 });
    },
  };
}

/** The first folder that no other edge has: what an earlier process left there is taken over with it. */
async function takeFolder(parent: string, maxBytes: number, log: Logger): Promise<{ path: string; spool: Spool }> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  for (let number = 0; number < mostEdges; number++) {
    const path = join(parent, `edge-${number}`);
    try {
      return { path, spool: await openSpool({ folder: path, maxBytes, onEvent: (event) => log.warn(event, 'spool') }) };
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
    }
  }
  throw new StartError(`More than ${mostEdges} edges use ${parent}: give this one another EDGE_DIR.`);
}

/** Sends what edges left behind that run no more, and that nobody has replaced. */
async function adoptOrphans(
  parent: string,
  own: string,
  send: (record: Uint8Array) => Promise<void>,
  log: Logger,
): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    if (path === own || !/^edge-\d+$/.test(name)) continue;
    const orphan = await openSpool({ folder: path, maxBytes: Number.MAX_SAFE_INTEGER }).catch(() => undefined);
    if (orphan === undefined) continue;
    try {
      let sent = 0;
      for (let record = await orphan.peek(); record !== undefined; record = await orphan.peek(), sent++) {
        await send(record);
        await orphan.drop();
      }
      // It holds keys of visitors, which must not outlive their codes: nobody follows changes for it any more.
      await removeSnapshot(path);
      if (sent > 0) log.info({ batches: sent, folder: name }, 'sent what an earlier edge had spooled');
    } finally {
      await orphan.close();
    }
  }
}

/** Runs a task, waits, and runs it again, until stopped; what it throws is told and does not end it. */
function regularly(
  task: () => Promise<void>,
  ms: number,
  onError: (error: string) => void,
  { restFor = (_tookMs: number): number => 0 } = {},
): () => Promise<void> {
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const run = () => {
    const started = performance.now();
    running = inTime(task(), taskWithinMs, () => new Error('it takes too long'))
      .catch((error) => onError(messageOf(error)))
      .finally(() => {
        if (!stopped) timer = setTimeout(run, Math.max(ms, restFor(performance.now() - started)));
      });
  };
  run();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}
