import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Change } from '../../events/entry.ts';
import { decodeSpoolRecord } from '../../events/wire/spool-record.ts';
import type { TrustedProxies } from '../lib/client-address.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { appendScans, type ScanBatch } from '../log/append-scans.ts';
import { connect } from '../log/connect.ts';
import { floorOfLog } from '../log/floor.ts';
import { ensurePartitions } from '../log/partitions.ts';
import { headOfLog, readEvents } from '../log/read.ts';
import { createBans, readSavedBans } from './bans.ts';
import { openGeo } from './geo.ts';
import { toLocation } from './location.ts';
import { createOrphans } from './orphans.ts';
import { type PeriodicOptions, runPeriodically } from './periodic.ts';
import { createRecorder } from './recorder.ts';
import { createRedirect, type Redirect } from './redirect.ts';
import { keepRefused, refusedFileName, storeValid } from './refused-scans.ts';
import { createRoutes } from './routes.ts';
import { readSnapshots } from './snapshot.ts';
import { createSnapshotTask } from './snapshot-task.ts';
import { openSpool, type Spool, SpoolInUse } from './spool.ts';

export interface EdgeOptions {
  databaseUrl: string;
  box: SecretBox;
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
  /** What the edge cannot do now; redirects go on meanwhile. */
  failures(): string[];
  stop(): Promise<void>;
}

const pollMs = 2_000;
const snapshotMs = 3_000;
const upkeepMs = 5_000;
/** 200,000 routes take half a second to write: an edge that loads new ones all the time must not write all the time. */
const snapshotRest = { perWork: 20, maxMs: 30_000 };
const maxEdges = 64;
const eventsAtOnce = 1_000;

/** Starts redirecting. It needs neither Postgres nor NATS to start: an edge works with what it remembers. */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const { databaseUrl, box, folder, spoolMaxBytes, geoPath, trustedProxies, clock, log, metrics } = options;
  // Two commits, the spool, and two for whoever looks something up meanwhile.
  const sql = connect(databaseUrl, { max: 5, name: 'scanlog-edge', planOnce: true });
  const own = await takeFolder(folder, spoolMaxBytes, log);
  const geo = await openGeo({ path: geoPath, onEvent: (event) => log.info(event, 'place data') });
  const remembered = await readSnapshots(folder, box, (ignored) =>
    log.warn(ignored, 'a snapshot of routes is ignored'),
  );
  const routes = createRoutes(sql, box, toLocation, metrics, remembered);
  const bans = createBans(sql, await readSavedBans(folder));
  const apply = (entries: Change[]) => {
    routes.apply(entries);
    bans.apply(entries);
  };
  const store = (batch: ScanBatch) => appendScans(sql, batch);
  const send = async (record: Uint8Array) =>
    storeValid(decodeSpoolRecord(record), {
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
  let floor = 0;
  const poll = async () => {
    const currentFloor = await floorOfLog(sql);
    if (position === undefined || currentFloor > floor) {
      const head = await headOfLog(sql);
      // The log has lost events that routes and bans may contain: what is in Postgres may be an older version.
      if (position !== undefined) {
        routes.forget();
        bans.forget();
      }
      await Promise.all([routes.refresh(), bans.refresh()]);
      position = head;
      floor = currentFloor;
    }
    let events: Change[];
    do {
      events = await readEvents(sql, position, eventsAtOnce);
      apply(events);
      position = events.at(-1)?.position ?? position;
    } while (events.length === eventsAtOnce);
  };
  const writeRoutes = createSnapshotTask(own.path, box, routes);
  const saveBans = () => bans.save(own.path);
  const stopping = new AbortController();
  const orphans = createOrphans({
    parent: folder,
    own: own.path,
    signal: stopping.signal,
    send,
    log,
    metrics,
  });
  const adoptOrphans = async () => {
    // Not without Postgres: it also removes snapshots, which another edge may be about to start from.
    await sql`SELECT 1`;
    await orphans.adopt();
  };
  const periodic = (name: string, task: () => Promise<void>, timing: Partial<PeriodicOptions>) =>
    runPeriodically(task, { name, everyMs: upkeepMs, log, metrics, ...timing });
  const tasks = [
    periodic('partitions', () => ensurePartitions(sql), {}),
    periodic('poll', poll, { everyMs: pollMs }),
    periodic('bans', saveBans, { everyMs: snapshotMs }),
    periodic('snapshot', writeRoutes, {
      everyMs: snapshotMs,
      restFor: (tookMs) => Math.min(tookMs * snapshotRest.perWork, snapshotRest.maxMs),
    }),
    periodic('orphans', adoptOrphans, {}),
  ];

  return {
    redirect: createRedirect({ routes, bans, recorder, geo, trustedProxies, clock, log, metrics }),
    apply,
    failures: () => [
      ...tasks.flatMap(({ name, failure }) => (failure() === undefined ? [] : [`${name}: ${failure()}`])),
      ...orphans.unreadable(),
    ],
    async stop() {
      stopping.abort();
      await Promise.all(tasks.map((task) => task.stop()));
      await Promise.allSettled([writeRoutes(), saveBans()]);
      await recorder.stop();
      geo.close();
      await sql.end({ timeout: 2 });
    },
  };
}

/** The first folder that no other edge has, with what an earlier process left in it. */
async function takeFolder(parent: string, maxBytes: number, log: Logger): Promise<{ path: string; spool: Spool }> {
  await mkdir(parent, { recursive: true, mode: 0o700 }).catch((error) => {
    throw new StartError(`EDGE_DIR ${parent} cannot be used: ${messageOf(error)}`);
  });
  for (let number = 0; number < maxEdges; number++) {
    const path = join(parent, `edge-${number}`);
    try {
      return { path, spool: await openSpool({ folder: path, maxBytes, onEvent: (event) => log.warn(event, 'spool') }) };
    } catch (error) {
      if (!(error instanceof SpoolInUse)) throw error;
    }
  }
  throw new StartError(`More than ${maxEdges} edges use ${parent}: give this one another EDGE_DIR.`);
}
