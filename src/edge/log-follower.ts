import type { Change } from '../../events/entry.ts';
import type { Sql } from '../lib/sql.ts';
import { floorOfLog } from '../log/floor.ts';
import { headOfLog, readEvents } from '../log/read.ts';
import type { Bans } from './bans.ts';
import type { Domains } from './domains.ts';
import type { Routes } from './routes.ts';

const maxEventsPerRead = 1_000;

/** What an edge has in memory of the log. */
export interface EdgeState {
  routes: Routes;
  bans: Bans;
  domains: Domains;
}

/** Applies events to the state in memory. */
export function applyEntries({ routes, bans, domains }: EdgeState, entries: Change[]): void {
  routes.apply(entries);
  bans.apply(entries);
  domains.apply(entries);
}

/**
 * Keeps routes, bans and domains up to date from the log. Changes arrive sooner over NATS; the log covers lost messages and NATS
 * outages.
 */
export class LogFollower {
  readonly #sql: Sql;
  readonly #state: EdgeState;
  readonly #caughtUp = Promise.withResolvers<void>();
  #position: number | undefined;
  #origin = '';

  constructor(sql: Sql, state: EdgeState) {
    this.#sql = sql;
    this.#state = state;
  }

  /** Resolves once the state no longer comes from a snapshot alone. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Applies the events since the last call; the first call reads the current state instead. */
  async poll(): Promise<void> {
    const origin = await originOf(this.#sql);
    if (this.#position === undefined || origin !== this.#origin) await this.#refresh(origin);
    let events: Change[];
    do {
      events = await readEvents(this.#sql, this.#position ?? 0, maxEventsPerRead);
      applyEntries(this.#state, events);
      this.#position = events.at(-1)?.position ?? this.#position;
    } while (events.length > 0);
    this.#caughtUp.resolve();
  }

  async #refresh(origin: string): Promise<void> {
    const head = await headOfLog(this.#sql);
    const state = Object.values(this.#state) as EdgeState[keyof EdgeState][];
    if (this.#position === undefined) await Promise.all(state.map((part) => part.refresh()));
    // The log may have lost events that are applied, so Postgres may return older versions.
    else await Promise.all(state.map((part) => part.reload()));
    this.#position = head;
    this.#origin = origin;
  }
}

/**
 * Another value whenever the log may have lost events: its floor, which rises when the stream or a projection has them, and
 * the start of the Postgres server, because the edge may have events that a promoted replica lacks and no one else has seen.
 */
async function originOf(sql: Sql): Promise<string> {
  const [{ started_at }] = await sql<[{ started_at: string }]>`SELECT pg_postmaster_start_time()::text AS started_at`;
  return `${started_at} ${await floorOfLog(sql)}`;
}
