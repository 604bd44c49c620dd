import type { Logger } from '../lib/logger.ts';
import type { Timers } from '../lib/timers.ts';
import type { ErasureStep } from './erasure.ts';

const everyMs = 60_000;

interface Pace {
  /** The time and position from which the pace is measured. */
  startedAt: number;
  from: number;
  /** The last position and report. */
  position: number;
  reportedAt: number;
}

/** Logs once a minute how far the erasure of an account is, and how long the rest takes at this pace. */
export class ErasureProgress {
  readonly #paces = new Map<string, Pace>();
  readonly #log: Pick<Logger, 'info'>;
  readonly #timers: Pick<Timers, 'now'>;

  constructor(log: Pick<Logger, 'info'>, timers: Pick<Timers, 'now'>) {
    this.#log = log;
    this.#timers = timers;
  }

  add(account: string, step: ErasureStep): void {
    if (step.state === 'done') this.#paces.delete(account);
    if (step.state !== 'progressed') return;
    const { scansTo, total } = step;
    const now = this.#timers.now();
    const pace = this.#paceOf(account, scansTo, now);
    pace.position = scansTo;
    if (now - pace.reportedAt < everyMs || scansTo === pace.from) return;
    pace.reportedAt = now;
    const remainingMs = ((now - pace.startedAt) * (total - scansTo)) / (scansTo - pace.from);
    this.#log.info(
      { account, position: scansTo, of: total, remaining_seconds: Math.ceil(remainingMs / 1000) },
      'erasing the scans of a deleted account',
    );
  }

  /** The archive files are searched from the beginning of the log, after the table: another pace. */
  #paceOf(account: string, position: number, now: number): Pace {
    const pace = this.#paces.get(account);
    if (pace !== undefined && pace.position <= position) return pace;
    const started = { startedAt: now, from: position, position, reportedAt: now };
    this.#paces.set(account, started);
    return started;
  }
}
