import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';

export interface PeriodicTask {
  name: string;
  /** The error of the last run, if at least two runs in a row have failed. */
  failure(): string | undefined;
  stop(): Promise<void>;
}

export interface PeriodicOptions {
  name: string;
  everyMs: number;
  /** The pause after a run that took `tookMs`, if longer than `everyMs`. */
  restFor?: (tookMs: number) => number;
  log: Logger;
  metrics: Metrics;
  /** For the time since the last log line of a failure. */
  timers?: Timers | undefined;
}

/** A task that keeps failing with the same error is logged once a minute. */
const repeatLogMs = 60_000;
/** A single failure is retried soon and not reported, such as a lost connection, or a migration at the first start. */
const firstRetryMs = 1_000;
const reportedFailures = 2;

/**
 * Runs a task with pauses until stopped. Failures are logged and counted, and the task is retried. The task must have a
 * timeout for everything it waits for, as every query has (src/log/connect.ts).
 */
export function runPeriodically(task: () => Promise<void>, options: PeriodicOptions): PeriodicTask {
  const { name, everyMs, restFor = () => 0, log, metrics, timers = systemTimers } = options;
  let failure: string | undefined;
  let failures = 0;
  let logged = { message: '', at: Number.NEGATIVE_INFINITY };

  function succeeded(): void {
    if (failures >= reportedFailures) log.info({ task: name, failures }, 'edge task succeeds again');
    failure = undefined;
    failures = 0;
    logged = { message: '', at: Number.NEGATIVE_INFINITY };
  }

  function failed(error: unknown): void {
    const message = messageOf(error);
    failure = message;
    failures++;
    metrics.edgeTaskFailures.inc({ task: name });
    if (failures < reportedFailures) return;
    if (message === logged.message && timers.now() - logged.at < repeatLogMs) return;
    logged = { message, at: timers.now() };
    log.warn({ task: name, error: message, failures, again_in_ms: everyMs }, 'edge task failed: retrying');
  }

  const waitMs = (tookMs: number) =>
    failures === 1 ? Math.min(everyMs, firstRetryMs) : Math.max(everyMs, restFor(tookMs));

  const run = async () => {
    const started = performance.now();
    await task().then(succeeded, failed);
    return waitMs(performance.now() - started);
  };
  const loop = every(everyMs, run, { onError: failed });
  return { name, failure: () => (failures < reportedFailures ? undefined : failure), stop: loop.stop };
}
