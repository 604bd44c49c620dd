import { setTimeout as sleep } from 'node:timers/promises';
import type { Scan } from '../../events/scan.ts';
import { encodeSpoolRecord } from '../../events/wire/spool-record.ts';
import { messageOf } from '../lib/errors.ts';
import { batchOf, type ScanBatch } from '../log/append-scans.ts';
import { SpoolDrain, type SpoolDrainOptions } from './spool/drain.ts';

/** Neither Postgres nor the spool accepts the scan. Without a record there is no redirect. */
export class Overloaded extends Error {}

interface RecorderOptions extends SpoolDrainOptions {
  /** One name for each concurrent commit, unique to this process (table `scan_writers`). */
  writers: string[];
  /** Resolves only when Postgres has confirmed the batch. */
  store(batch: ScanBatch): Promise<void>;
}

/** A commit that takes longer sends its batch to the spool. */
const commitTimeoutMs = 250;
/**
 * While batches are smaller than this, Postgres and the edge have room: every idle writer commits at once what has arrived.
 * From this size on, commits are at least `minCommitIntervalMs` apart, which halves their number, and only two overlap.
 */
const heavyBatchSize = 8;
const minCommitIntervalMs = 1;
const maxBatchSize = 1_000;
const maxWaiting = 10_000;
/**
 * Under load, 64 waiting scans start a second commit without waiting for the first, which keeps Postgres busy while our
 * event loop is saturated. More commits at once cost more than they gain.
 */
const secondCommitFrom = 64;

interface WaitingScan {
  scan: Scan;
  resolve(): void;
  reject(error: unknown): void;
}

interface Writer {
  name: string;
  lastNumber: number;
  lastStartedAt: number;
  committing: Promise<void> | undefined;
}

/**
 * Commits scans in batches: all that arrive while the writers are busy are the next batch, so batches grow with the load.
 * While Postgres is slow or unavailable, batches go to the spool, in order, and from there to Postgres. Batches are
 * committed directly again only once the spool is empty, so a writer's batches always reach Postgres in the order of their
 * numbers.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #drain: SpoolDrain;
  readonly #writers: Writer[];
  readonly #waiting: WaitingScan[] = [];
  #lastBatchSize = 0;
  #isStarting = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#drain = new SpoolDrain(options);
    this.#writers = options.writers.map((name) => ({
      name,
      lastNumber: 0,
      lastStartedAt: Number.NEGATIVE_INFINITY,
      committing: undefined,
    }));
  }

  /** Resolves once the scan is committed, or synced to disk. */
  record(scan: Scan): Promise<void> {
    if (this.#waiting.length >= maxWaiting)
      return Promise.reject(new Overloaded(`${maxWaiting} scans already wait to be committed`));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ scan, resolve, reject });
      this.#startWriter();
    });
  }

  async stop(): Promise<void> {
    const drainStopped = this.#drain.stop();
    await Promise.all(this.#writers.map(({ committing }) => committing));
    await drainStopped;
    await this.#options.spool.close();
  }

  #startWriter(): void {
    if (this.#isStarting) return;
    const idle = this.#writers.find(({ committing }) => committing === undefined);
    if (idle === undefined || !this.#isNeeded(idle)) return;
    this.#isStarting = true;
    // setImmediate, so that scans which arrive in the same turn of the event loop share a commit.
    idle.committing = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#isStarting = false;
      return this.#commitWaiting(idle);
    });
  }

  #isNeeded(writer: Writer): boolean {
    let others = 0;
    for (const other of this.#writers) if (other !== writer && other.committing !== undefined) others++;
    if (others === 0 || this.#isLight()) return this.#waiting.length > 0;
    return others === 1 && this.#waiting.length >= secondCommitFrom;
  }

  #isLight(): boolean {
    return this.#lastBatchSize < heavyBatchSize;
  }

  async #commitWaiting(writer: Writer): Promise<void> {
    while (this.#isNeeded(writer)) {
      const earlyMs = writer.lastStartedAt + minCommitIntervalMs - performance.now();
      if (earlyMs > 0 && !this.#isLight()) {
        await sleep(earlyMs);
        continue;
      }
      writer.lastStartedAt = performance.now();
      const group = this.#waiting.splice(0, maxBatchSize);
      this.#lastBatchSize = group.length;
      try {
        await this.#store(writer, group);
        for (const { resolve } of group) resolve();
      } catch (error) {
        this.#options.log.error(
          { error: messageOf(error), scans: group.length },
          'neither Postgres nor the spool stores scans: their redirects are answered with 503',
        );
        const overloaded = new Overloaded('neither Postgres nor the spool stores scans');
        for (const { reject } of group) reject(overloaded);
      }
    }
    writer.committing = undefined;
  }

  async #store(writer: Writer, group: WaitingScan[]): Promise<void> {
    const { spool, metrics } = this.#options;
    const scans = group.map(({ scan }) => scan);
    const batch = batchOf(writer.name, ++writer.lastNumber, scans);
    metrics.commitScans.observe(group.length);
    if (spool.waiting.records === 0 && (await this.#commit(batch))) return;
    // Postgres may have committed the batch although its answer was late or lost: the number detects the duplicate.
    await spool.append(encodeSpoolRecord(batch));
    this.#drain.update();
  }

  /** Returns whether Postgres has confirmed the batch within the timeout. */
  async #commit(batch: ScanBatch): Promise<boolean> {
    const { store, log, metrics } = this.#options;
    const started = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, commitTimeoutMs, 'late');
    });
    const stored = store(batch).then(
      () => 'stored' as const,
      (error) => {
        log.warn({ error: messageOf(error) }, 'scans could not be committed: they go to the spool');
        return 'failed' as const;
      },
    );
    const outcome = await Promise.race([stored, late]);
    clearTimeout(timer);
    if (outcome === 'late')
      log.warn({ timeout_ms: commitTimeoutMs }, 'Postgres did not commit within the timeout: scans go to the spool');
    metrics.commitSeconds.observe((performance.now() - started) / 1000);
    return outcome === 'stored';
  }
}
