import { isCodeEvent } from '../../events/catalogue.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { Change } from '../../events/entry.ts';
import { isScan } from '../../events/entry.ts';
import type { Recorded } from '../../events/recorded.ts';
import type { RouteSnapshot } from '../../events/route.ts';
import { createResolver, type Resolver } from '../../events/targeting/resolver.ts';
import { applyToRoute, type Route } from '../../projections/routes.ts';
import { batchCalls } from '../lib/batch-calls.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { EarlierRoutes } from './earlier-routes.ts';
import { bytesOf, type KnownRoute } from './known-route.ts';
import { readRoutes } from './read-routes.ts';
import { type RecentChanges, recentChanges } from './recent-changes.ts';
import { RouteCache } from './route-cache.ts';

const defaultMaxRoutes = 200_000;
/** What 200,000 routes without rules take. Rules of one code can have 64 kB. */
const defaultMaxRouteBytes = 192 * 1024 * 1024;
const maxUnknown = 20_000;
const maxAliases = 20_000;
const unknownTtlMs = 2_000;
const maxWaitingCodes = 20_000;
const maxRefreshBatch = 1_000;
const rejectLookup = () => {
  throw new Error(`Postgres did not answer a lookup of routes within ${timeouts.routeLookupMs} ms`);
};

export type { KnownRoute } from './known-route.ts';

interface RoutesOptions {
  sql: Sql;
  box: SecretBox;
  toLocation(destination: string): string;
  metrics: Metrics;
  /** Routes and aliases that an earlier run has written to disk. */
  snapshot?: RouteSnapshot;
  maxRoutes?: number;
  maxRouteBytes?: number;
  timers?: Timers;
}

/** Cache of routes: read from Postgres on a miss, and updated by events. */
export class Routes {
  readonly #sql: Sql;
  readonly #box: SecretBox;
  readonly #toLocation: (destination: string) => string;
  readonly #metrics: Metrics;
  readonly #known: RouteCache<KnownRoute>;
  readonly #earlier: EarlierRoutes;
  /** Short codes as requested, and the given one that differs from it only in case and has the route. */
  readonly #aliases = new RouteCache<string>({ maxEntries: maxAliases });
  /** Short codes without a route, with the time until which this is cached. */
  readonly #unknown = new Map<string, number>();
  /** Short code by code id. */
  readonly #shortCodes = new Map<string, string>();
  readonly #timers: Timers;
  readonly #recent: RecentChanges;
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
    this.#timers = options.timers ?? systemTimers;
    this.#recent = recentChanges(this.#timers);
    this.#known = new RouteCache({
      maxEntries: options.maxRoutes ?? defaultMaxRoutes,
      maxBytes: options.maxRouteBytes ?? defaultMaxRouteBytes,
      bytesOf,
      onEvict: ({ code }) => this.#shortCodes.delete(code),
    });
    this.#earlier = new EarlierRoutes(options.snapshot ?? { routes: [], aliases: [] }, (route) => this.#located(route));
    for (const { code, short_code } of this.#earlier.routes()) this.#shortCodes.set(code, short_code);
  }

  /** The cached route, `unknown` if it is cached that there is none, or undefined if neither is cached. */
  get(shortCode: string): KnownRoute | 'unknown' | undefined {
    const route = this.#known.use(shortCode) ?? this.#knownByAlias(shortCode) ?? this.#knownMissing(shortCode);
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
    return this.#earlier.find(shortCode);
  }

  /** Reads all routes again, including routes of an earlier run: the edge may have missed events. */
  async refresh(): Promise<void> {
    await this.#readAll((shortCode, route) => {
      if (route !== undefined) this.#keep(route, shortCode);
      else {
        this.#earlier.delete(shortCode);
        this.#dropAlias(shortCode);
      }
    });
  }

  /** Like `refresh`, and also replaces newer versions: the log may have lost events that are applied to cached routes. */
  async reload(): Promise<void> {
    this.#recent.clear();
    this.#unknown.clear();
    await this.#readAll((shortCode, route) => {
      this.#known.delete(shortCode);
      this.#earlier.delete(shortCode);
      this.#dropAlias(shortCode);
      this.#changes++;
      if (route !== undefined) this.#keep(route, shortCode);
    });
  }

  /** Applies events of codes, which may arrive in any order and more than once. */
  apply(entries: Change[]): void {
    for (const entry of entries) if (!isScan(entry) && isCodeEvent(entry)) this.#applyEvent(entry);
  }

  all(): Iterable<Route> {
    return this.#known.values();
  }

  /** Short codes as requested, each with the given one that differs from it only in case. */
  aliases(): Iterable<[string, string]> {
    return this.#aliases.entries();
  }

  /** A counter that increases with every change of what `all` and `aliases` return. */
  changes(): number {
    return this.#changes;
  }

  /** The key for hashes of the code's visitors. Throws if it is encrypted with another SECRET_KEY. */
  visitorKeyOf(route: KnownRoute): Uint8Array {
    route.visitor_key ??= this.#box.openVisitorKey(route.sealed_key, route.code);
    return route.visitor_key;
  }

  /** Where scans of a route with targeting lead. */
  resolverOf(route: KnownRoute): Resolver {
    route.resolver ??= createResolver(route.destination_url, route.targeting ?? {}, this.#toLocation);
    return route.resolver;
  }

  /** Answers further scans of a code without a query. A later change of the limit replaces the route. */
  reachLimit(route: KnownRoute): void {
    if (this.#known.peek(route.short_code)?.version === route.version)
      this.#keep({ ...route, targeting: { ...route.targeting, limit_reached: true } });
  }

  #knownByAlias(requested: string): KnownRoute | undefined {
    const shortCode = this.#aliases.use(requested);
    return shortCode === undefined ? undefined : this.#known.use(shortCode);
  }

  #knownMissing(shortCode: string): 'unknown' | undefined {
    const until = this.#unknown.get(shortCode);
    // A code that was created since then may have this short code in another case.
    return until !== undefined && until > this.#timers.now() && !this.#recent.created(shortCode)
      ? 'unknown'
      : undefined;
  }

  #located(route: Route): KnownRoute {
    return { ...route, location: this.#toLocation(route.destination_url), visitor_key: undefined, resolver: undefined };
  }

  /** Caches the route, found by `requested`, unless a newer version is cached; returns the newer one. */
  #keep(route: Route, requested = route.short_code): KnownRoute {
    if (requested !== route.short_code) this.#keepAlias(requested, route.short_code);
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

  #keepAlias(requested: string, shortCode: string): void {
    this.#unknown.delete(requested);
    this.#earlier.deleteAlias(requested);
    // A code with exactly this short code may have been created while the query ran.
    if (this.#recent.createdExactly(requested) || this.#aliases.peek(requested) === shortCode) return;
    this.#aliases.set(requested, shortCode);
    this.#changes++;
  }

  #dropAlias(requested: string): void {
    this.#aliases.delete(requested);
    this.#earlier.deleteAlias(requested);
  }

  #keepMissing(shortCode: string): 'unknown' {
    // It may have been created while the query ran.
    if (this.#recent.created(shortCode)) return 'unknown';
    if (this.#unknown.size >= maxUnknown) this.#unknown.clear();
    this.#unknown.set(shortCode, this.#timers.now() + unknownTtlMs);
    return 'unknown';
  }

  #applyEvent(event: Recorded<CodeEvent>): void {
    this.#recent.add(event);
    if (event.type === 'code_created') this.#dropAlias(event.data.short_code);
    const shortCode = this.#shortCodes.get(event.stream) ?? '';
    this.#earlier.apply(shortCode, event);
    const route = this.#known.peek(shortCode);
    if (route === undefined) return;
    // A code whose account was deleted can come back from another instance, and begins with an earlier version.
    const isBack = event.type === 'code_created' && route.status === 'deleted';
    const next = isBack ? undefined : applyToRoute(route, event);
    if (next === undefined) {
      // An earlier event is missing, so the cached route is outdated: read it from Postgres.
      this.#known.delete(shortCode);
      this.#changes++;
      this.load(shortCode).catch(() => {});
    } else if (next !== route) this.#keep(next);
  }

  /** Reads all routes again, and calls `onRead` for each requested short code. Lookups that overlap are repeated. */
  async #readAll(onRead: (shortCode: string, route: Route | undefined) => void): Promise<void> {
    this.#refreshes++;
    const shortCodes = [...new Set([...this.#known.keys(), ...this.#aliases.keys(), ...this.#earlier.requested()])];
    for (let i = 0; i < shortCodes.length; i += maxRefreshBatch) {
      const batch = shortCodes.slice(i, i + maxRefreshBatch);
      const found = await this.#read(batch);
      for (const shortCode of batch) onRead(shortCode, found.get(shortCode));
    }
  }

  /** Reads routes from Postgres and applies events that arrived during the query; returns them by requested short code. */
  async #read(shortCodes: string[]): Promise<Map<string, Route>> {
    const found = await readRoutes(this.#sql, this.#box, shortCodes);
    const outdated: string[] = [];
    for (const [shortCode, route] of found) {
      const current = this.#recent.appliedTo(route);
      if (current === undefined) outdated.push(shortCode);
      else found.set(shortCode, current);
    }
    if (outdated.length === 0) return found;
    const again = await readRoutes(this.#sql, this.#box, outdated);
    for (const shortCode of outdated) {
      const route = again.get(shortCode);
      if (route === undefined) found.delete(shortCode);
      else found.set(shortCode, this.#recent.appliedTo(route) ?? route);
    }
    return found;
  }

  async #lookUpAll(shortCodes: string[]): Promise<(KnownRoute | 'unknown')[]> {
    this.#waiting = new Map();
    const found = await this.#readCurrent(shortCodes);
    return shortCodes.map((shortCode) => {
      const route = found.get(shortCode);
      return route === undefined ? this.#keepMissing(shortCode) : this.#keep(route, shortCode);
    });
  }

  /** Repeats the query if a refresh began during it: the log may have lost events that the result contains. */
  async #readCurrent(shortCodes: string[]): Promise<Map<string, Route>> {
    for (;;) {
      const refreshesBefore = this.#refreshes;
      const reading = this.#read(shortCodes);
      const found = await withTimeout(reading, timeouts.routeLookupMs, rejectLookup, this.#timers);
      if (this.#refreshes === refreshesBefore) return found;
    }
  }
}
