import type { Sql } from '../lib/sql.ts';
import { type Due, dueDeliveries } from './deliveries.ts';
import type { Held } from './leases.ts';

const refillBelow = 128;
const refillBatch = 512;
const maxUnrecorded = 2048;

/** The due deliveries of one endpoint, read ahead of sending. Each is handed out once until its outcome is recorded. */
export class DueQueue {
  readonly #sql: Sql;
  readonly #held: Held;
  readonly #waiting: Due[] = [];
  /** Read, and perhaps still shown as pending by the next read. */
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

  /** How many deliveries were read whose outcome is not recorded, those that wait here included. */
  get unrecorded(): number {
    return this.#handled.size - this.#recorded.length;
  }

  get needsRefill(): boolean {
    return this.#mayHaveMore && this.#waiting.length < refillBelow && this.unrecorded < maxUnrecorded;
  }

  next(): Due | undefined {
    return this.#waiting.shift();
  }

  /** The delivery was not sent: the next read may show it again. */
  putBack({ id }: Due): void {
    this.#handled.delete(id);
  }

  /** Its outcome is in the database. */
  markRecorded({ id }: Due): void {
    this.#recorded.push(id);
  }

  /** Puts back all deliveries that wait. */
  clear(): void {
    for (const delivery of this.#waiting.splice(0)) this.putBack(delivery);
  }

  /** The database may have deliveries that were not read yet. */
  expectMore(): void {
    this.#mayHaveMore = true;
  }

  async refill(now: Date): Promise<void> {
    this.#mayHaveMore = false;
    // Recorded before this read begins: if one is shown all the same, it is to be sent again.
    for (const id of this.#recorded) this.#handled.delete(id);
    this.#recorded = [];
    // Continues after the last one, so that what is being sent is not read repeatedly; from the start at the end.
    const limit = refillBatch + (this.#lastRead === undefined ? this.#handled.size : 0);
    const due = await dueDeliveries(this.#sql, this.#held, { now, most: limit, after: this.#lastRead });
    this.#lastRead = due.length === limit ? due.at(-1) : undefined;
    if (this.#lastRead !== undefined) this.#mayHaveMore = true;
    for (const delivery of due) {
      if (this.#handled.has(delivery.id)) continue;
      this.#handled.add(delivery.id);
      this.#waiting.push(delivery);
    }
  }
}
