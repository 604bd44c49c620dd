import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import type { Timers } from '../lib/timers.ts';
import { ensurePartitions } from '../log/partitions.ts';
import { type EdgeState, LogFollower } from './log-follower.ts';
import { type PeriodicOptions, runPeriodically } from './periodic.ts';
import { createSnapshotTask } from './snapshot-task.ts';
import type { DrainStatus } from './spool/drain.ts';
import { Orphans } from './spool/orphans.ts';
import type { StoreOptions } from './spool/refused-scans.ts';
import { writeStatus } from './spool/status-file.ts';

interface EdgeTaskOptions {
  sql: Sql;
  box: SecretBox;
  state: EdgeState;
  /** The folder of all edges of this machine, and this edge's own in it. */
  folder: string;
  ownFolder: string;
  /** How scans from the spools of earlier edges are stored. */
  storing: StoreOptions;
  /** What waits in the spool of this edge. */
  spool(): DrainStatus;
  log: Logger;
  metrics: Metrics;
  intervals?: EdgeIntervals | undefined;
  timers?: Timers | undefined;
}

/** The pauses of the periodic tasks. */
export interface EdgeIntervals {
  /** Between two reads of changes from the log. */
  pollMs: number;
  /** Between two writes of routes, bans and domains to disk. */
  snapshotMs: number;
  /** Between two runs of any other task. */
  otherMs: number;
}

export interface EdgeTasks {
  /** Resolves once routes, bans and domains no longer come from a snapshot alone. */
  caughtUp: Promise<void>;
  /** A sentence for each task that fails repeatedly, and for each spool that cannot be read. */
  failures(): string[];
  /** Stops the tasks and writes routes, bans and domains to disk one last time. */
  stop(): Promise<void>;
}

const defaultIntervals: EdgeIntervals = { pollMs: 2_000, snapshotMs: 3_000, otherMs: 5_000 };
const statusMs = 1_000;
/** Postgres may be down for less; then it is reported itself. */
const maxStalledSeconds = 60;
/** The pause is 20 × the duration of the last write, because writing 200,000 routes takes 0.5 s. */
const snapshotRestFactor = 20;
const maxSnapshotRestMs = 30_000;

/** Runs the periodic tasks of an edge. */
export function startEdgeTasks(options: EdgeTaskOptions): EdgeTasks {
  const { sql, box, state, folder, ownFolder, storing, spool, log, metrics, timers } = options;
  const { pollMs, snapshotMs, otherMs } = options.intervals ?? defaultIntervals;
  const follower = new LogFollower(sql, state);
  const writeRoutes = createSnapshotTask(ownFolder, box, state.routes);
  const saveBans = () => state.bans.save(ownFolder);
  const saveDomains = () => state.domains.save(ownFolder);
  const stopping = new AbortController();
  const orphans = new Orphans({ parent: folder, own: ownFolder, signal: stopping.signal, storing, log, metrics });
  const periodic = (name: string, task: () => Promise<void>, timing: Partial<PeriodicOptions>) =>
    runPeriodically(task, { name, everyMs: otherMs, log, metrics, timers, ...timing });
  const tasks = [
    periodic('partitions', () => ensurePartitions(sql), {}),
    periodic('poll', () => follower.poll(), { everyMs: pollMs }),
    periodic('bans', saveBans, { everyMs: snapshotMs }),
    periodic('domains', saveDomains, { everyMs: snapshotMs }),
    periodic('snapshot', writeRoutes, {
      everyMs: snapshotMs,
      restFor: (tookMs) => Math.min(tookMs * snapshotRestFactor, maxSnapshotRestMs),
    }),
    periodic('orphans', () => adoptOrphans(sql, orphans), {}),
    periodic('status', createStatusTask(ownFolder, spool), { everyMs: statusMs }),
  ];
  return {
    caughtUp: follower.caughtUp,
    failures: () => [
      ...tasks.flatMap(({ name, failure }) => (failure() === undefined ? [] : [`${name}: ${failure()}`])),
      ...orphans.unreadable(),
      ...stalledSentence(spool()),
    ],
    async stop() {
      stopping.abort();
      await Promise.all(tasks.map((task) => task.stop()));
      await Promise.allSettled([writeRoutes(), saveBans(), saveDomains()]);
    },
  };
}

/** Writes the status of the spool to disk whenever it has changed. */
function createStatusTask(folder: string, status: () => DrainStatus): () => Promise<void> {
  let written = '';
  return async () => {
    const current = status();
    const text = JSON.stringify(current);
    if (text !== written) await writeStatus(folder, current);
    written = text;
  };
}

const stalledSentence = ({ batches, stalledSeconds }: DrainStatus): string[] =>
  stalledSeconds < maxStalledSeconds
    ? []
    : [`${batches} batches of scans in the spool wait, and none was committed for ${Math.round(stalledSeconds)} s`];

async function adoptOrphans(sql: Sql, orphans: Orphans): Promise<void> {
  // Without Postgres, another edge may need to start from a snapshot that adoption would remove.
  await sql`SELECT 1`;
  await orphans.adopt();
}
