import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { connect, type Sql } from '../log/connect.ts';
import type { Leadership } from './leader.ts';
import { cutoffOf, dropNext, latestRun } from './retention.ts';

interface RetentionOptions {
  sql: Sql;
  databaseUrl: string;
  /** How long scans are kept; without it, for good. */
  months: number | undefined;
  clock: Clock;
  log: Logger;
  metrics: Pick<Metrics, 'retentionSeconds'>;
  times?: RetentionTimes;
}

interface RetentionTimes {
  /** From the start of the process to the first step: time to correct a setting that is too short. */
  firstMs: number;
  everyMs: number;
  /** Between two looks at what a run waits for. */
  waitMs: number;
}

const defaultTimes: RetentionTimes = { firstMs: 60_000, everyMs: 3_600_000, waitMs: 5_000 };
/** Twice the duration of the last step, which leaves two thirds of the time to appends. */
const pausePerStep = 2;

/** Removes scans that are too old for as long as the service runs. It needs no leader: each step takes a lock. */
export function runRetention(options: RetentionOptions): Leadership {
  const { sql, databaseUrl, months, clock, log, metrics, times = defaultTimes } = options;
  const stopping = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});

  /** By the earlier of two clocks: one that is years ahead would delete everything. */
  async function cutoff(): Promise<Date | undefined> {
    if (months === undefined) return undefined;
    const [{ now }] = await sql<[{ now: Date }]>`SELECT now()`;
    return cutoffOf(months, new Date(Math.min(now.getTime(), clock().getTime())));
  }

  /** Takes steps until there is nothing to do. */
  async function run(patient: Sql): Promise<void> {
    let waitsFor: string | undefined;
    while (!stopping.signal.aborted) {
      const started = performance.now();
      const step = await dropNext(patient, await cutoff(), clock());
      await measure();
      if (step.state === 'idle') return;
      if (step.state === 'ended')
        log.info(
          { before: step.before, scans: step.scans },
          'scans that were too old have left the log and the warehouse',
        );
      if (step.state === 'ended' && step.scans > 0) await vacuum(patient);
      if (step.state === 'waiting' && step.for !== waitsFor)
        log.info({ for: step.for }, 'the removal of old scans waits');
      waitsFor = step.state === 'waiting' ? step.for : undefined;
      const isTaken = step.state === 'progressed' || step.state === 'ended';
      await pause(isTaken ? (performance.now() - started) * pausePerStep : times.waitMs);
    }
  }

  /** Frees the space of deleted rows, so that new ones overwrite them. Does not block reads or writes. */
  async function vacuum(patient: Sql): Promise<void> {
    await patient`SET statement_timeout = 0`;
    await patient.unsafe('VACUUM (SKIP_LOCKED) scans');
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
    // Counting a whole partition takes longer than other statements may.
    const patient = connect(databaseUrl, { max: 1, answerTimeoutMs: 'none' });
    stopping.signal.addEventListener('abort', () => void patient.end({ timeout: 1 }), { once: true });
    while (!stopping.signal.aborted) {
      const isDone = await run(patient).then(
        () => true,
        (error) => {
          if (!stopping.signal.aborted)
            log.warn({ error: messageOf(error) }, 'scans that are too old could not be removed, trying again');
          return false;
        },
      );
      // Without the setting there is at most one run to end.
      if (isDone && months === undefined) break;
      await pause(isDone ? times.everyMs : times.waitMs);
    }
    await patient.end({ timeout: 1 });
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
