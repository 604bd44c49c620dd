import type { Change } from '../../events/entry.ts';
import type { Sql } from '../log/connect.ts';
import { floorOfLog } from '../log/floor.ts';
import { headOfLog, readEvents } from '../log/read.ts';
import type { Bans } from './bans.ts';
import type { Routes } from './routes.ts';

const maxEventsPerRead = 1_000;

/** Applies events to the routes and bans in memory. */
export function applyEntries(routes: Routes, bans: Bans, entries: Change[]): void {
  routes.apply(entries);
  bans.apply(entries);
}

/**
 * Keeps routes and bans up to date from the log. Changes arrive sooner over NATS; the log covers lost messages and NATS
 * outages.
 */
export class LogFollower {
  readonly #sql: Sql;
  readonly #routes: Routes;
  readonly #bans: Bans;
  #position: number | undefined;
  #floor = 0;

  constructor(sql: Sql, routes: Routes, bans: Bans) {
    this.#sql = sql;
    this.#routes = routes;
    this.#bans = bans;
  }

  /** Applies the events since the last call; the first call reads the current state instead. */
  async poll(): Promise<void> {
    const floor = await floorOfLog(this.#sql);
    if (this.#position === undefined || floor > this.#floor) await this.#refresh(floor);
    let events: Change[];
    do {
      events = await readEvents(this.#sql, this.#position ?? 0, maxEventsPerRead);
      applyEntries(this.#routes, this.#bans, events);
      this.#position = events.at(-1)?.position ?? this.#position;
    } while (events.length === maxEventsPerRead);
  }

  async #refresh(floor: number): Promise<void> {
    const head = await headOfLog(this.#sql);
    // The log has lost events that routes and bans may contain, so Postgres may return older versions of them.
    if (this.#position !== undefined) {
      this.#routes.forget();
      this.#bans.forget();
    }
    await Promise.all([this.#routes.refresh(), this.#bans.refresh()]);
    this.#position = head;
    this.#floor = floor;
  }
}
