import { isPossibleLink, type Link } from '../../events/link.ts';
import { timeouts } from '../lib/timeouts.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { Bans } from './bans.ts';
import type { KnownRoute, Routes } from './routes.ts';

/** After a failed lookup, routes of the snapshot are used for this long without a query. */
const unavailableMs = 1_000;

/** Loads routes that are not in memory from Postgres or, while it does not answer, from the snapshot of an earlier run. */
export class RouteLookup {
  readonly #routes: Routes;
  readonly #bans: Bans;
  readonly #timers: Timers;
  #unavailableUntil = Number.NEGATIVE_INFINITY;

  constructor(routes: Routes, bans: Bans, timers: Timers = systemTimers) {
    this.#routes = routes;
    this.#bans = bans;
    this.#timers = timers;
  }

  /** Throws when Postgres does not answer and the snapshot does not have the route. */
  async load(link: Link): Promise<KnownRoute | 'unknown'> {
    // An invalid short code cannot exist, so it is neither queried nor cached. Reserved words are dispatched to the app.
    if (!isPossibleLink(link)) return 'unknown';
    const earlier = this.#routes.earlier(link);
    if (earlier !== undefined && this.#timers.now() < this.#unavailableUntil) return earlier;
    try {
      const timeoutMs = earlier === undefined ? timeouts.routeLookupMs : timeouts.routeLookupWithSnapshotMs;
      const loading = Promise.all([this.#routes.load(link), this.#bans.loaded()]);
      const rejectLookup = () => {
        throw new Error(`Postgres did not answer within ${timeoutMs} ms`);
      };
      const [route] = await withTimeout(loading, timeoutMs, rejectLookup, this.#timers);
      return route;
    } catch (error) {
      this.#unavailableUntil = this.#timers.now() + unavailableMs;
      // Read again: events that arrived meanwhile may have changed or invalidated it.
      const current = this.#routes.earlier(link);
      if (current === undefined) throw error;
      return current;
    }
  }
}
