import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { connect, type Sql } from '../log/connect.ts';
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
}

interface RetentionTimes {
  /** Delay of the first step after the start of the process, so that a setting that is too short can be corrected. */
  firstMs: number;
  everyMs: number;
  /** How often a run that waits checks again. */
  waitMs: number;
}

const defaultTimes: RetentionTimes = { firstMs: 60_000, everyMs: 3_600_000, waitMs: 5_000 };
/** A pause of twice the duration of the last step leaves two thirds of the time to appends. */
const pausePerStep = 2;

/** Removes old scans in the background. Needs no leader, because each step takes a lock. */
export function runRetention(options: RetentionOptions): Leadership {
  const { sql, databaseUrl, months, clock, log, metrics, times = defaultTimes } = options;
  const stopping = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});

  /** Uses the earlier of our clock and that of Postgres, because a clock that is years ahead would delete everything. */
  async function cutoff(): Promise<Date | undefined> {
    if (months === undefined) return undefined;
    const [{ now }] = await sql<[{ now: Date }]>`SELECT now()`;
    return cutoffOf(months, new Date(Math.min(now.getTime(), clock().getTime())));
  }

  /** Runs steps until there is nothing to do. */
  async function run(maintenance: Sql): Promise<void> {
    let waitsFor: string | undefined;
    while (!stopping.signal.aborted) {
      const started = performance.now();
      const step = await dropNext(maintenance, await cutoff(), clock());
      await measure();
      if (step.state === 'idle') return;
      if (step.state === 'ended')
        log.info({ before: step.before, scans: step.scans }, 'old scans are removed from the log and the warehouse');
      if (step.state === 'ended' && step.scans > 0) await vacuum(maintenance);
      if (step.state === 'waiting' && step.for !== waitsFor)
        log.info({ for: step.for }, 'the removal of old scans waits');
      waitsFor = step.state === 'waiting' ? step.for : undefined;
      const hasProgressed = step.state === 'progressed' || step.state === 'ended';
      await pause(hasProgressed ? (performance.now() - started) * pausePerStep : times.waitMs);
    }
  }

  /** Makes the space of deleted rows reusable. Does not block reads or writes. */
  async function vacuum(maintenance: Sql): Promise<void> {
    await maintenance`SET statement_timeout = 0`;
    await maintenance.unsafe('VACUUM (SKIP_LOCKED) scans');
  }

  async function measure(): Promise<void> {
    const latest = await latestRun(sql);
    const isUnderWay = latest !== undefined && latest.done_at === null;
    metrics.retentionSeconds.set(isUnderWay ? (clock().getTime() - latest.started_at.getTime()) / 1000 : 0);
  }

  const running = (async () => {
    if (months !== undefined)
      log.warn(
        { months, before: cutoffOf(months, clock()), begins_in_ms: times.firstMs },
        'SCAN_RETENTION_MONTHS is set: scans from before this time are deleted for good; totals of codes stay',
      );
    await pause(times.firstMs);
    if (stopping.signal.aborted) return;
    // Without a timeout, because counting a whole partition takes long.
    const maintenance = connect(databaseUrl, { max: 1, answerTimeoutMs: 'none' });
    stopping.signal.addEventListener('abort', () => void maintenance.end({ timeout: 1 }), { once: true });
    while (!stopping.signal.aborted) {
      const isDone = await run(maintenance).then(
        () => true,
        (error) => {
          if (!stopping.signal.aborted)
            log.warn({ error: messageOf(error) }, 'old scans could not be removed, trying again');
          return false;
        },
      );
      // Without the setting, only a run that has already started remains to be ended.
      if (isDone && months === undefined) break;
      await pause(isDone ? times.everyMs : times.waitMs);
    }
    await maintenance.end({ timeout: 1 });
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
