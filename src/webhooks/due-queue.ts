import type { Sql } from '../lib/sql.ts';
import { type Due, dueDeliveries } from './deliveries.ts';
import type { LeasedEndpoint } from './leases.ts';

const refillBelow = 128;
const refillBatch = 512;
const maxUnrecorded = 2048;
/** Of the data of all that wait: 512 scans have 0.2 MB. */
const maxWaitingBytes = 512 * 1024;
/** Fewer, so that a replay keeps little in memory that is sent after everything else. */
const refillReplayedBelow = 32;
const refillReplayedBatch = 128;

/**
 * The due deliveries of one endpoint, read in advance. `next` returns each once until its outcome is recorded, and a
 * delivery of a replay only while no other is due.
 */
export class DueQueue {
  readonly #sql: Sql;
  readonly #endpoint: LeasedEndpoint;
  readonly #waiting: Due[] = [];
  readonly #replayed: Due[] = [];
  /** Read already, by id, with their size; the next read may return them as pending again. */
  readonly #handled = new Map<string, number>();
  #handledBytes = 0;
  #recorded: string[] = [];
  #bytes = 0;
  #lastRead: Due | undefined;
  #mayHaveMore = true;
  #mayHaveReplayed = true;

  constructor(sql: Sql, endpoint: LeasedEndpoint) {
    this.#sql = sql;
    this.#endpoint = endpoint;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#replayed.length === 0;
  }

  /** Whether only deliveries of a replay wait: another one that was added since then goes first. */
  get hasOnlyReplayed(): boolean {
    return this.#waiting.length === 0 && this.#replayed.length > 0;
  }

  /** The number of deliveries that were read and whose outcome is not recorded, including those in the queue. */
  get unrecorded(): number {
    return this.#handled.size - this.#recorded.length;
  }

  get needsRefill(): boolean {
    if (this.unrecorded >= maxUnrecorded || this.#bytes >= maxWaitingBytes) return false;
    return (this.#mayHaveMore && this.#waiting.length < refillBelow) || this.#needsReplayed;
  }

  get #needsReplayed(): boolean {
    return (
      this.#endpoint.replaying &&
      this.#mayHaveReplayed &&
      this.#waiting.length === 0 &&
      this.#replayed.length < refillReplayedBelow
    );
  }

  next(): Due | undefined {
    const next = this.#waiting.shift() ?? this.#replayed.shift();
    this.#bytes -= next?.bytes ?? 0;
    return next;
  }

  /** The delivery was not sent: a later read may return it again. */
  putBack({ id }: Due): void {
    this.#forget(id);
  }

  #forget(id: string): void {
    this.#handledBytes -= this.#handled.get(id) ?? 0;
    this.#handled.delete(id);
  }

  #putBackAll(deliveries: Due[]): void {
    for (const delivery of deliveries) {
      this.putBack(delivery);
      this.#bytes -= delivery.bytes;
    }
  }

  /** The outcome is stored in the database. */
  markRecorded({ id }: Due): void {
    this.#recorded.push(id);
  }

  /** Puts back all deliveries in the queue. */
  clear(): void {
    this.#putBackAll(this.#waiting.splice(0));
    this.clearReplayed();
  }

  /** Puts back deliveries of a replay that was canceled or has ended. */
  clearReplayed(): void {
    this.#putBackAll(this.#replayed.splice(0));
  }

  /** The database may have new due deliveries. */
  expectMore(): void {
    this.#mayHaveMore = true;
    this.#mayHaveReplayed = true;
  }

  async refill(now: Date): Promise<void> {
    // Outcomes that are stored before this read begins: a delivery that it returns is due again.
    for (const id of this.#recorded) this.#forget(id);
    this.#recorded = [];
    if (this.#mayHaveMore) await this.#refill(now);
    if (this.#needsReplayed) await this.#refillReplayed(now);
  }

  async #refill(now: Date): Promise<void> {
    this.#mayHaveMore = false;
    // Continues after the last one, so that deliveries in flight are not read repeatedly; at the end, starts over.
    const limit = refillBatch + (this.#lastRead === undefined ? this.#handled.size : 0);
    const [after, maxBytes] = [this.#lastRead, this.#maxReadBytes];
    const { due, mayHaveMore } = await dueDeliveries(this.#sql, this.#endpoint, { now, limit, maxBytes, after });
    this.#lastRead = mayHaveMore ? due.at(-1) : undefined;
    if (this.#lastRead !== undefined) this.#mayHaveMore = true;
    this.#take(due, this.#waiting);
  }

  /** A read can return those again that are handled. */
  get #maxReadBytes(): number {
    return maxWaitingBytes + this.#handledBytes;
  }

  async #refillReplayed(now: Date): Promise<void> {
    this.#mayHaveReplayed = false;
    const limit = refillReplayedBatch + this.#handled.size;
    const maxBytes = this.#maxReadBytes;
    const { due, mayHaveMore } = await dueDeliveries(this.#sql, this.#endpoint, {
      now,
      limit,
      maxBytes,
      replayed: true,
    });
    if (mayHaveMore) this.#mayHaveReplayed = true;
    this.#take(due, this.#replayed);
  }

  #take(due: Due[], into: Due[]): void {
    for (const delivery of due) {
      if (this.#handled.has(delivery.id)) continue;
      this.#handled.set(delivery.id, delivery.bytes);
      this.#handledBytes += delivery.bytes;
      this.#bytes += delivery.bytes;
      into.push(delivery);
    }
  }
}
