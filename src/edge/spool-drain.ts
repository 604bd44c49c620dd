import { setTimeout as sleep } from 'node:timers/promises';
import { NewerVersion } from '../../events/wire/newer-version.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Spool } from './spool.ts';

export interface SpoolDrainOptions {
  spool: Spool;
  /** Stores a record of the spool, or what of it is valid. */
  send(record: Uint8Array): Promise<void>;
  log: Logger;
  metrics: Metrics;
}

const firstBackoffMs = 100;
const maxBackoffMs = 500;
const stopTimeoutMs = 3_000;

/** Sends what is in the spool to Postgres, oldest first, until the spool is empty. */
export class SpoolDrain {
  readonly #options: SpoolDrainOptions;
  #draining: Promise<void> | undefined;
  #stopping = false;

  constructor(options: SpoolDrainOptions) {
    this.#options = options;
    this.update();
  }

  /** Call after each append to the spool: updates its metrics, and starts sending if that is not under way. */
  update(): void {
    this.#showSize();
    if (this.#stopping || this.#options.spool.waiting.records === 0) return;
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
      // A record that was appended after the last peek.
      this.update();
    });
  }

  /** What is not sent within the timeout is sent by the process that opens the folder next. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.race([this.#draining, sleep(stopTimeoutMs, undefined, { ref: false })]);
  }

  async #drain(): Promise<void> {
    const { log } = this.#options;
    let backoffMs = firstBackoffMs;
    let sent = 0;
    while (!this.#stopping) {
      try {
        if (!(await this.#sendNext())) break;
        sent++;
        this.#showSize();
        backoffMs = firstBackoffMs;
      } catch (error) {
        const detail = { error: messageOf(error), batches: this.#options.spool.waiting.records };
        // It stays on disk with all records after it, until a process of the newer version opens the folder.
        if (error instanceof NewerVersion) log.error(detail, 'the spool cannot be sent');
        else log.warn(detail, 'the spool waits for Postgres');
        await sleep(backoffMs);
        backoffMs = Math.min(backoffMs * 2, maxBackoffMs);
      }
    }
    if (sent > 0) log.info({ batches: sent }, 'spooled scans were committed');
  }

  /** Returns false when the spool is empty. */
  async #sendNext(): Promise<boolean> {
    const { spool, send } = this.#options;
    const record = await spool.peek();
    if (record === undefined) return false;
    await send(record);
    await spool.drop();
    return true;
  }

  #showSize(): void {
    const { spool, metrics } = this.#options;
    metrics.spoolBatches.set(spool.waiting.records);
    metrics.spoolBytes.set(spool.waiting.bytes);
  }
}
