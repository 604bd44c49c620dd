import type { Sql } from '../lib/sql.ts';
import { type Due, dueDeliveries } from './deliveries.ts';
import type { Held } from './leases.ts';

const refillBelow = 128;
const refillBatch = 512;
const maxUnrecorded = 2048;

/** The due deliveries of one endpoint, read in advance. `next` returns each once until its outcome is recorded. */
export class DueQueue {
  readonly #sql: Sql;
  readonly #held: Held;
  readonly #waiting: Due[] = [];
  /** Read already; the next read may return them as pending again. */
  readonly #handled = new Set<string>();
  #recorded: string[] = [];
  #lastRead: Due | undefined;
  #mayHaveMore = true;

  constructor(sql: Sql, held: Held) {
    this.#sql = sql;
    this.#held = held;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** The number of deliveries that were read and whose outcome is not recorded, including those in the queue. */
  get unrecorded(): number {
    return this.#handled.size - this.#recorded.length;
  }

  get needsRefill(): boolean {
    return this.#mayHaveMore && this.#waiting.length < refillBelow && this.unrecorded < maxUnrecorded;
  }

  next(): Due | undefined {
    return this.#waiting.shift();
  }

  /** The delivery was not sent: a later read may return it again. */
  putBack({ id }: Due): void {
    this.#handled.delete(id);
  }

  /** The outcome is stored in the database. */
  markRecorded({ id }: Due): void {
    this.#recorded.push(id);
  }

  /** Puts back all deliveries in the queue. */
  clear(): void {
    for (const delivery of this.#waiting.splice(0)) this.putBack(delivery);
  }

  /** The database may have new due deliveries. */
  expectMore(): void {
    this.#mayHaveMore = true;
  }

  async refill(now: Date): Promise<void> {
    this.#mayHaveMore = false;
    // Their outcomes were stored before this read begins: one that it returns is due again.
    for (const id of this.#recorded) this.#handled.delete(id);
    this.#recorded = [];
    // Continues after the last one, so that deliveries in flight are not read repeatedly; at the end, starts over.
    const limit = refillBatch + (this.#lastRead === undefined ? this.#handled.size : 0);
    const due = await dueDeliveries(this.#sql, this.#held, { now, limit, after: this.#lastRead });
    this.#lastRead = due.length === limit ? due.at(-1) : undefined;
    if (this.#lastRead !== undefined) this.#mayHaveMore = true;
    for (const delivery of due) {
      if (this.#handled.has(delivery.id)) continue;
      this.#handled.add(delivery.id);
      this.#waiting.push(delivery);
    }
  }
}
