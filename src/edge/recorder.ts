import type { Scan } from '../../events/scan.ts';
import { encodeSpoolRecord } from '../../events/wire/spool-record.ts';
import { messageOf } from '../lib/errors.ts';
import { batchOf } from '../log/append-scans.ts';
import { type DrainStatus, SpoolDrain, type SpoolDrainOptions } from './spool/drain.ts';

/** The spool does not accept the scan. Without a record there is no redirect. */
export class Overloaded extends Error {}

interface RecorderOptions extends SpoolDrainOptions {
  /** Returns a name for the table `scan_writers` that was never used before. */
  newWriter(): string;
}

const maxBatchSize = 1_000;
const maxUnanswered = 10_000;
/**
 * Each commit updates its writer's row in `scan_writers`. A long snapshot, such as a backup's snapshot, keeps all versions of
 * the row, and every update reads them: a new name after some minutes bounds their number.
 */
const renameAfterMs = 5 * 60_000;

interface WaitingScan {
  scan: Scan;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Records scans: all that arrive during a sync of the spool are the next record, so records grow with the load. The spool is
 * drained into Postgres in large batches, and a response is sent when the scan is as durable as `durability` requires.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #drain: SpoolDrain;
  readonly #waiting: WaitingScan[] = [];
  #unanswered = 0;
  #running: Promise<void> | undefined;
  #writer = '';
  #lastNumber = 0;
  #renameAt = Number.NEGATIVE_INFINITY;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#drain = new SpoolDrain(options);
  }

  /** Resolves once the scan is synced to disk or, with durability `log`, committed. */
  record(scan: Scan): Promise<void> {
    if (this.#unanswered >= maxUnanswered)
      return Promise.reject(new Overloaded(`${maxUnanswered} scans already wait for the spool`));
    this.#unanswered++;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ scan, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  status(): DrainStatus {
    return this.#drain.status();
  }

  async stop(): Promise<void> {
    await this.#running;
    await this.#drain.stop();
    await this.#options.spool.close();
  }

  async #run(): Promise<void> {
    // setImmediate, so that scans which arrive in the same turn of the event loop share a sync.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) await this.#append(this.#waiting.splice(0, maxBatchSize));
    this.#running = undefined;
  }

  async #append(group: WaitingScan[]): Promise<void> {
    const { spool, log } = this.#options;
    const record = encodeSpoolRecord(this.#batchOf(group));
    try {
      await spool.append(record);
      void this.#drain.added(record.length).then(() => this.#settle(group, ({ resolve }) => resolve()));
    } catch (error) {
      log.error(
        { error: messageOf(error), scans: group.length },
        'the spool does not store scans: their redirects are answered with 503',
      );
      const overloaded = new Overloaded('the spool does not store scans');
      this.#settle(group, ({ reject }) => reject(overloaded));
    }
  }

  #batchOf(group: WaitingScan[]) {
    const { timers, newWriter } = this.#options;
    const now = timers.now();
    if (now >= this.#renameAt) {
      this.#writer = newWriter();
      this.#lastNumber = 0;
      this.#renameAt = now + renameAfterMs;
    }
    const scans = group.map(({ scan }) => scan);
    return batchOf(this.#writer, ++this.#lastNumber, scans);
  }

  #settle(group: WaitingScan[], settle: (waiting: WaitingScan) => void): void {
    this.#unanswered -= group.length;
    for (const waiting of group) settle(waiting);
  }
}
