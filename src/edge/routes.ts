import { isCodeEvent } from '../../events/catalogue.ts';
import type { CodeEvent } from '../../events/code.ts';
import type { Change } from '../../events/entry.ts';
import { isScan } from '../../events/entry.ts';
import type { Recorded } from '../../events/recorded.ts';
import { applyToRoute, type Route } from '../../projections/routes.ts';
import { batchCalls } from '../lib/batch-calls.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { readRoutes } from './read-routes.ts';
import { recentChanges } from './recent-changes.ts';
import { RouteCache } from './route-cache.ts';

const defaultMaxRoutes = 200_000;
const maxUnknown = 20_000;
const unknownTtlMs = 2_000;
const maxWaitingCodes = 20_000;
const maxRefreshBatch = 1_000;
/** As long as a redirect waits: a query on a connection that died silently must not block the next one for longer. */
const lookupTimeoutMs = 2_000;
const rejectLookup = () => {
  throw new Error(`Postgres did not answer a lookup of routes within ${lookupTimeoutMs} ms`);
};

/** A route with its `Location` header, which is encoded once and not for every scan. */
export interface KnownRoute extends Route {
  location: string;
  /** Decrypted by the first scan that needs it. In memory only: nothing writes it to disk. */
  visitor_key: Uint8Array | undefined;
}

interface RoutesOptions {
  sql: Sql;
  box: SecretBox;
  toLocation(destination: string): string;
  metrics: Metrics;
  /** Routes that an earlier run has written to disk. */
  snapshot?: Iterable<Route>;
  maxRoutes?: number;
}

/** Cache of routes: read from Postgres on a miss, and updated by events. */
export class Routes {
  readonly #sql: Sql;
  readonly #box: SecretBox;
  readonly #toLocation: (destination: string) => string;
  readonly #metrics: Metrics;
  readonly #known: RouteCache<KnownRoute>;
  /** Routes from an earlier run, or from before the log lost events: used only while Postgres does not answer. */
  readonly #earlier = new Map<string, KnownRoute>();
  /** Short codes without a route, with the time until which this is cached. */
  readonly #unknown = new Map<string, number>();
  /** Short code by code id. */
  readonly #shortCodes = new Map<string, string>();
  readonly #recent = recentChanges();
  /** Lookups for the next query. */
  #waiting = new Map<string, Promise<KnownRoute | 'unknown'>>();
  readonly #lookUp = batchCalls((shortCodes: string[]) => this.#lookUpAll(shortCodes), {
    maxBatchSize: maxWaitingCodes,
  });
  #refreshes = 0;
  #changes = 0;

  constructor(options: RoutesOptions) {
    this.#sql = options.sql;
    this.#box = options.box;
    this.#toLocation = options.toLocation;
    this.#metrics = options.metrics;
    this.#known = new RouteCache(options.maxRoutes ?? defaultMaxRoutes, ({ code }) => this.#shortCodes.delete(code));
    for (const route of options.snapshot ?? []) {
      this.#earlier.set(route.short_code, this.#located(route));
      this.#shortCodes.set(route.code, route.short_code);
    }
  }

  /** The cached route, `unknown` if it is cached that there is none, or undefined if neither is cached. */
  get(shortCode: string): KnownRoute | 'unknown' | undefined {
    const route = this.#known.use(shortCode) ?? this.#knownMissing(shortCode);
    this.#metrics.routeLookups.count(route === undefined ? 'miss' : 'hit');
    return route;
  }

  /** Reads the route from Postgres. Concurrent misses share one query, and at most one query runs at a time. */
  load(shortCode: string): Promise<KnownRoute | 'unknown'> {
    // Joins only the next query: one that is running may have read an older state.
    const joined = this.#waiting.get(shortCode);
    if (joined !== undefined) return joined;
    if (this.#waiting.size >= maxWaitingCodes)
      return Promise.reject(new Error(`${maxWaitingCodes} short codes are waiting for a lookup in Postgres already`));
    const route = this.#lookUp(shortCode);
    this.#waiting.set(shortCode, route);
    return route;
  }

  /** The route of an earlier run, for use while Postgres does not answer. */
  earlier(shortCode: string): KnownRoute | undefined {
    return this.#earlier.get(shortCode);
  }

  /** Reads all routes again, including those of an earlier run: the edge may have missed events. */
  async refresh(): Promise<void> {
    this.#refreshes++;
    const shortCodes = [...new Set([...this.#known.keys(), ...this.#earlier.keys()])];
    for (let i = 0; i < shortCodes.length; i += maxRefreshBatch) {
      const batch = shortCodes.slice(i, i + maxRefreshBatch);
      const found = await this.#read(batch);
      for (const route of found.values()) this.#keep(route);
      for (const shortCode of batch) if (!found.has(shortCode)) this.#earlier.delete(shortCode);
    }
  }

  /** Until the next refresh, uses the cached routes only while Postgres does not answer. */
  forget(): void {
    for (const route of this.#known.values()) this.#earlier.set(route.short_code, route);
    this.#known.clear();
    this.#changes++;
    this.#unknown.clear();
    this.#recent.clear();
  }

  /** Applies events of codes, which may arrive in any order and more than once. */
  apply(entries: Change[]): void {
    for (const entry of entries) if (!isScan(entry) && isCodeEvent(entry)) this.#applyEvent(entry);
  }

  all(): Iterable<Route> {
    return this.#known.values();
  }

  /** A counter that increases with every change of what `all` returns. */
  changes(): number {
    return this.#changes;
  }

  /** The key for hashes of the code's visitors. Throws if it is encrypted with another SECRET_KEY. */
  visitorKeyOf(route: KnownRoute): Uint8Array {
    route.visitor_key ??= this.#box.openVisitorKey(route.sealed_key, route.code);
    return route.visitor_key;
  }

  #knownMissing(shortCode: string): 'unknown' | undefined {
    const until = this.#unknown.get(shortCode);
    return until !== undefined && until > Date.now() ? 'unknown' : undefined;
  }

  #located(route: Route): KnownRoute {
    return { ...route, location: this.#toLocation(route.destination_url), visitor_key: undefined };
  }

  /** Caches the route unless a newer version is cached; returns the newer one. */
  #keep(route: Route): KnownRoute {
    const before = this.#known.peek(route.short_code);
    if (before !== undefined && before.version > route.version) return before;
    const known = this.#located(route);
    this.#known.set(route.short_code, known);
    this.#changes++;
    this.#shortCodes.set(route.code, route.short_code);
    this.#unknown.delete(route.short_code);
    this.#earlier.delete(route.short_code);
    return known;
  }

  #keepMissing(shortCode: string): 'unknown' {
    // It may have been created while the query ran.
    if (this.#recent.created(shortCode)) return 'unknown';
    if (this.#unknown.size >= maxUnknown) this.#unknown.clear();
    this.#unknown.set(shortCode, Date.now() + unknownTtlMs);
    return 'unknown';
  }

  #applyEvent(event: Recorded<CodeEvent>): void {
    this.#recent.add(event);
    if (event.type === 'code_created') this.#unknown.delete(event.data.short_code);
    const shortCode = this.#shortCodes.get(event.stream) ?? '';
    this.#applyToEarlier(shortCode, event);
    const route = this.#known.peek(shortCode);
    if (route === undefined) return;
    const next = applyToRoute(route, event);
    if (next === undefined) {
      // An earlier event is missing, so the cached route is outdated: read it from Postgres.
      this.#known.delete(shortCode);
      this.#changes++;
      this.load(shortCode).catch(() => {});
    } else if (next !== route) this.#keep(next);
  }

  #applyToEarlier(shortCode: string, event: Recorded<CodeEvent>): void {
    const route = this.#earlier.get(shortCode);
    if (route === undefined) return;
    const next = applyToRoute(route, event);
    if (next === undefined) this.#earlier.delete(shortCode);
    else this.#earlier.set(shortCode, this.#located(next));
  }

  /** Reads routes from Postgres and applies events that arrived during the query; returns them by short code. */
  async #read(shortCodes: string[]): Promise<Map<string, Route>> {
    const found = await readRoutes(this.#sql, this.#box, shortCodes);
    const current = found.map((route) => this.#recent.appliedTo(route) ?? route.short_code);
    const outdated = current.filter((route) => typeof route === 'string');
    const again = outdated.length === 0 ? [] : await readRoutes(this.#sql, this.#box, outdated);
    const all = [
      ...current.filter((route) => typeof route !== 'string'),
      ...again.map((route) => this.#recent.appliedTo(route) ?? route),
    ];
    return new Map(all.map((route) => [route.short_code, route]));
  }

  async #lookUpAll(shortCodes: string[]): Promise<(KnownRoute | 'unknown')[]> {
    this.#waiting = new Map();
    const found = await this.#readCurrent(shortCodes);
    return shortCodes.map((shortCode) => {
      const route = found.get(shortCode);
      return route === undefined ? this.#keepMissing(shortCode) : this.#keep(route);
    });
  }

  /** Repeats the query if a refresh began during it: the log may have lost events that the result contains. */
  async #readCurrent(shortCodes: string[]): Promise<Map<string, Route>> {
    for (;;) {
      const refreshesBefore = this.#refreshes;
      const found = await withTimeout(this.#read(shortCodes), lookupTimeoutMs, rejectLookup);
      if (this.#refreshes === refreshesBefore) return found;
    }
  }
}
