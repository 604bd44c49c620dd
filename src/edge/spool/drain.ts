import { NewerVersion } from '../../../events/wire/newer-version.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { timeouts } from '../../lib/timeouts.ts';
import type { Timers } from '../../lib/timers.ts';
import { DrainRate } from './drain-rate.ts';
import { type Durability, HeldResponses } from './held-responses.ts';
import type { StoreOptions } from './refused-scans.ts';
import { sendOldest } from './send-oldest.ts';
import type { Spool } from './spool.ts';

export interface SpoolDrainOptions extends StoreOptions {
  spool: Spool;
  durability: Durability;
  timers: Timers;
  log: Logger;
  metrics: Metrics;
}

/** What waits in a spool, and how fast it is committed. */
export interface DrainStatus {
  batches: number;
  bytes: number;
  /** Scans per second of the last large commits; undefined before the first. */
  scansPerSecond: number | undefined;
  secondsLeft: number;
  /** How long nothing has been committed although scans wait. */
  stalledSeconds: number;
}

/** Commits start at least this far apart with `disk`, unless a full batch waits. With `log`, responses wait for each. */
const intervalMs = { disk: 50, log: 0 };
const fullBatchBytes = 256 * 1024;
/** With a larger backlog, responses wait for the drain. */
const maxBacklogSeconds = 5;
const firstBackoffMs = 100;
const maxBackoffMs = 500;
export const stopTimeoutMs = 3_000;
/** After this time without scans the file of the newest segment is deleted. */
export const trimAfterMs = 1_000;

/**
 * Sends the records of a spool to Postgres, oldest first, as long as there are any: at once after a pause, else every 50 ms
 * or when a full batch waits. Also decides when the response to a record that is on disk may be sent.
 */
export class SpoolDrain {
  readonly #options: SpoolDrainOptions;
  readonly #responses: HeldResponses;
  readonly #rate = new DrainRate();
  /** How many records were ever in the spool. */
  #records: number;
  /** When the last commit ended, or the spool last was empty. */
  #progressAt: number;
  #sending: Promise<void> | undefined;
  #startAt = Number.NEGATIVE_INFINITY;
  #backoffMs = 0;
  #isStalled = false;
  #isStopping = false;
  #cancelStart: (() => void) | undefined;
  #cancelTrim: (() => void) | undefined;

  constructor(options: SpoolDrainOptions) {
    this.#options = options;
    this.#responses = new HeldResponses(options.durability);
    this.#records = options.spool.waiting.records;
    this.#progressAt = options.timers.now();
    this.#update();
  }

  /** Call after each append. Resolves when the record may be answered. */
  async added(bytes: number): Promise<void> {
    const { spool, timers } = this.#options;
    const record = ++this.#records;
    if (spool.waiting.records === 1) this.#progressAt = timers.now();
    const isHeld = !this.#isStalled && !this.#isStopping && (this.#options.durability === 'log' || this.#isBehind());
    const released = isHeld ? this.#responses.hold({ record, bytes }) : undefined;
    this.#update();
    await released;
  }

  status(): DrainStatus {
    const { spool, timers } = this.#options;
    const { records: batches, bytes } = spool.waiting;
    return {
      batches,
      bytes,
      scansPerSecond: this.#rate.scansPerSecond,
      secondsLeft: this.#rate.secondsFor(bytes),
      stalledSeconds: batches === 0 ? 0 : (timers.now() - this.#progressAt) / 1_000,
    };
  }

  /** Sends what is left, for up to 3 s. The next process that opens the folder sends the rest. */
  async stop(): Promise<void> {
    const { timers } = this.#options;
    this.#cancelTimers();
    const timeUp = Promise.withResolvers<void>();
    const cancel = timers.after(stopTimeoutMs, timeUp.resolve);
    await Promise.race([this.#sendRest(), timeUp.promise]);
    cancel();
    this.#isStopping = true;
    this.#responses.releaseAll();
  }

  async #sendRest(): Promise<void> {
    await this.#sending;
    while (!this.#isStopping && !this.#isStalled && this.#options.spool.waiting.records > 0) {
      if (this.#sending === undefined) this.#start();
      await this.#sending;
    }
  }

  #isBehind(): boolean {
    return this.#rate.secondsFor(this.#options.spool.waiting.bytes) > maxBacklogSeconds;
  }

  /** Updates the metrics and starts a commit, now or with a timer, unless one is running. */
  #update(): void {
    this.#updateMetrics();
    if (this.#isStopping || this.#sending !== undefined) return;
    const { spool, timers } = this.#options;
    const { records, bytes } = spool.waiting;
    if (records === 0) {
      this.#trimLater();
      return;
    }
    this.#cancelTrim?.();
    const isUrgent = bytes >= fullBatchBytes && this.#backoffMs === 0;
    const waitMs = isUrgent ? 0 : this.#startAt - timers.now();
    if (waitMs <= 0) this.#start();
    else this.#cancelStart ??= timers.after(waitMs, () => this.#start());
  }

  #start(): void {
    this.#cancelTimers();
    this.#sending = this.#send().finally(() => {
      this.#sending = undefined;
      this.#update();
    });
  }

  async #send(): Promise<void> {
    const { spool, timers, metrics, durability } = this.#options;
    const startedAt = timers.now();
    const cancelStall = timers.after(timeouts.commitStallMs, () => this.#stall());
    try {
      const sent = await sendOldest(spool, this.#options);
      const tookMs = timers.now() - startedAt;
      metrics.commitScans.observe(sent.scans);
      metrics.commitSeconds.observe(tookMs / 1_000);
      metrics.drainedScans.inc(sent.scans);
      this.#rate.measure(sent, tookMs);
      this.#progressAt = timers.now();
      this.#isStalled = false;
      this.#backoffMs = 0;
      this.#startAt = startedAt + intervalMs[durability];
      this.#responses.committed(this.#records - spool.waiting.records, sent.bytes);
      if (durability === 'disk' && !this.#isBehind()) this.#responses.releaseAll();
    } catch (error) {
      this.#failed(error);
    } finally {
      cancelStall();
    }
  }

  #failed(error: unknown): void {
    const { spool, timers, log } = this.#options;
    // The spool is closed: the next process sends the rest.
    if (this.#isStopping) return;
    this.#stall();
    this.#backoffMs = Math.min(Math.max(this.#backoffMs * 2, firstBackoffMs), maxBackoffMs);
    this.#startAt = timers.now() + this.#backoffMs;
    const detail = { error: messageOf(error), batches: spool.waiting.records };
    // The record and all after it stay on disk until a process of the newer version opens the folder.
    if (error instanceof NewerVersion)
      log.error(detail, 'the spool cannot be sent: it stays on disk until a newer version opens it');
    else log.warn(detail, 'scans could not be committed: they stay in the spool, retrying');
  }

  /** Postgres is unavailable. Redirects go on: their scans are on disk. */
  #stall(): void {
    this.#isStalled = true;
    this.#responses.releaseAll();
  }

  #trimLater(): void {
    const { spool, timers } = this.#options;
    this.#cancelTrim?.();
    // An error is reported by the spool; the file is then deleted with a later one.
    this.#cancelTrim = timers.after(trimAfterMs, () => void spool.trim().catch(() => undefined));
  }

  #cancelTimers(): void {
    this.#cancelStart?.();
    this.#cancelStart = undefined;
    this.#cancelTrim?.();
    this.#cancelTrim = undefined;
  }

  #updateMetrics(): void {
    const { metrics } = this.#options;
    const { batches, bytes, secondsLeft, stalledSeconds } = this.status();
    metrics.spoolBatches.set(batches);
    metrics.spoolBytes.set(bytes);
    metrics.spoolSecondsLeft.set(secondsLeft);
    metrics.spoolStalledSeconds.set(stalledSeconds);
  }
}
