import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { connect } from '../log/connect.ts';
import { vacuumScans } from '../log/partitions.ts';
import type { Leadership } from '../stream/leader.ts';
import { cutoffOf, dropNext, latestRun } from './retention.ts';

interface RetentionOptions {
  sql: Sql;
  databaseUrl: string;
  /** How long scans are kept; undefined keeps them forever. */
  months: number | undefined;
  clock: Clock;
  log: Logger;
  metrics: Pick<Metrics, 'retentionSeconds'>;
  times?: RetentionTimes;
  timers?: Timers;
}

interface RetentionTimes {
  /** Delay of the first step after the start of the process, so that a setting that is too short can be corrected. */
  firstMs: number;
  everyMs: number;
  /** How often a run that waits checks again. */
  waitMs: number;
}

const defaultTimes = (): RetentionTimes => {
  const firstMs = timeouts.retentionStartMs;
  return { firstMs, everyMs: 3_600_000, waitMs: 5_000 };
};
/** A pause of twice the duration of the last step leaves two thirds of the time to appends, where the step held them up. */
const pausePerStep = 2;

/** Removes old scans in the background. Needs no leader, because each step takes a lock. */
export function runRetention(options: RetentionOptions): Leadership {
  const retention = new Retention(options);
  return { stop: () => retention.stop() };
}

class Retention {
  readonly #options: RetentionOptions;
  readonly #times: RetentionTimes;
  readonly #timers: Timers;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#times = options.times ?? defaultTimes();
    this.#timers = options.timers ?? systemTimers;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #pause(ms: number): Promise<void> {
    await this.#timers.sleep(ms, { signal: this.#stopping.signal });
  }

  async #run(): Promise<void> {
    const { databaseUrl, months, clock, log } = this.#options;
    const { firstMs, everyMs, waitMs } = this.#times;
    if (months !== undefined)
      log.warn(
        { months, before: cutoffOf(months, clock()), begins_in_ms: firstMs },
        'SCAN_RETENTION_MONTHS is set: scans from before this time are deleted for good; totals of codes stay',
      );
    await this.#pause(firstMs);
    if (this.#isStopping) return;
    // Without a timeout, because counting a whole partition takes long. Rewriting an archive file needs three connections.
    const maintenance = connect(databaseUrl, { max: 3, responseTimeoutMs: 'none' });
    this.#stopping.signal.addEventListener('abort', () => void maintenance.end({ timeout: 1 }), { once: true });
    while (!this.#isStopping) {
      const isDone = await this.#tryAllSteps(maintenance);
      // Without the setting, only a run that has already started remains to be ended.
      if (isDone && months === undefined) break;
      await this.#pause(isDone ? everyMs : waitMs);
    }
    await maintenance.end({ timeout: 1 });
  }

  /** Resolves to whether there is nothing left to do; logs an error. */
  async #tryAllSteps(maintenance: Sql): Promise<boolean> {
    try {
      await this.#runAllSteps(maintenance);
      return true;
    } catch (error) {
      if (!this.#isStopping)
        this.#options.log.warn({ error: messageOf(error) }, 'old scans could not be removed, trying again');
      return false;
    }
  }

  /** Runs steps until there is nothing to do. */
  async #runAllSteps(maintenance: Sql): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    let waitsFor: string | undefined;
    while (!this.#isStopping) {
      const started = this.#timers.now();
      const step = await dropNext(maintenance, await cutoffNow(this.#options), clock(), { signal });
      await measure(this.#options);
      if (step.state === 'idle') return;
      if (step.state === 'ended')
        log.info({ before: step.before, scans: step.scans }, 'old scans are removed from the log and the warehouse');
      if (step.state === 'ended' && step.scans > 0) await vacuumScans(maintenance);
      if (step.state === 'waiting' && step.for !== waitsFor)
        log.info({ for: step.for }, 'the removal of old scans waits');
      waitsFor = step.state === 'waiting' ? step.for : undefined;
      if (step.state === 'progressed' && step.isArchive) continue;
      const hasProgressed = step.state === 'progressed' || step.state === 'ended';
      await this.#pause(hasProgressed ? (this.#timers.now() - started) * pausePerStep : this.#times.waitMs);
    }
  }
}

/** Uses the earlier of our clock and the clock of Postgres, because a clock that is years ahead would delete everything. */
async function cutoffNow({ sql, months, clock }: RetentionOptions): Promise<Date | undefined> {
  if (months === undefined) return undefined;
  const [{ now }] = await sql<[{ now: Date }]>`SELECT now()`;
  return cutoffOf(months, new Date(Math.min(now.getTime(), clock().getTime())));
}

async function measure({ sql, clock, metrics }: RetentionOptions): Promise<void> {
  const latest = await latestRun(sql);
  const isUnderWay = latest !== undefined && latest.done_at === null;
  metrics.retentionSeconds.set(isUnderWay ? (clock().getTime() - latest.started_at.getTime()) / 1000 : 0);
}
