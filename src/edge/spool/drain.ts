import { setTimeout as sleep } from 'node:timers/promises';
import { NewerVersion } from '../../../events/wire/newer-version.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { Spool } from './spool.ts';

export interface SpoolDrainOptions {
  spool: Spool;
  /** Stores the valid scans of a spooled record. */
  send(record: Uint8Array): Promise<void>;
  log: Logger;
  metrics: Metrics;
}

const firstBackoffMs = 100;
const maxBackoffMs = 500;
const stopTimeoutMs = 3_000;

/** Sends the records of the spool to Postgres, oldest first, until it is empty. */
export class SpoolDrain {
  readonly #options: SpoolDrainOptions;
  #draining: Promise<void> | undefined;
  #stopping = false;

  constructor(options: SpoolDrainOptions) {
    this.#options = options;
    this.update();
  }

  /** Updates the spool's metrics and starts sending, unless it already runs. Call after each append. */
  update(): void {
    this.#updateMetrics();
    if (this.#stopping || this.#options.spool.waiting.records === 0) return;
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
      // A record may have been appended after the last peek.
      this.update();
    });
  }

  /** Waits up to 3 s for the current batch. The rest is sent by the next process that opens the folder. */
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
        this.#updateMetrics();
        backoffMs = firstBackoffMs;
      } catch (error) {
        const detail = { error: messageOf(error), batches: this.#options.spool.waiting.records };
        // The record and all after it stay on disk until a process of the newer version opens the folder.
        if (error instanceof NewerVersion)
          log.error(detail, 'the spool cannot be sent: it stays on disk until a newer version opens it');
        else log.warn(detail, 'spooled scans could not be committed: retrying');
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

  #updateMetrics(): void {
    const { spool, metrics } = this.#options;
    metrics.spoolBatches.set(spool.waiting.records);
    metrics.spoolBytes.set(spool.waiting.bytes);
  }
}
