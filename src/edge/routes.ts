import { isCodeEvent } from '../../events/catalogue.ts';
import type { LogEntry } from '../../events/entry.ts';
import { isScan } from '../../events/entry.ts';
import { applyToRoute, type Route } from '../../projections/routes.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Sql } from '../log/connect.ts';

const kept = { routes: 200_000, unknown: 20_000, unknownMs: 2_000, recentMs: 30_000 };

/** A route as it is answered: what it leads to is written out once, not for every scan. */
export interface KnownRoute extends Route {
  location: string;
}

export interface Routes {
  /** What is known in memory: the route, that there is none, or nothing. */
  get(shortCode: string): KnownRoute | 'unknown' | undefined;
  /** Asks Postgres. Many misses at once are one query, and at most one query runs at a time. */
  load(shortCode: string): Promise<KnownRoute | 'unknown'>;
  /** Follows what happened to codes; each event counts once, in whatever order and however often it is told. */
  apply(entries: LogEntry[]): void;
  all(): Iterable<Route>;
}

export function createRoutes(sql: Sql, toLocation: (destination: string) => string, metrics: Metrics): Routes {
  const routes = new Map<string, KnownRoute>();
  const shortCodes = new Map<string, string>();
  const unknown = new Map<string, number>();
  /** Events of the last moments, for routes that were being read from Postgres while they came. */
  let recent: { at: number; entry: LogEntry }[] = [];
  let wanted = new Map<string, Waiter[]>();
  let loading = false;

  const hits = metrics.routeLookups.labels('hit');
  const misses = metrics.routeLookups.labels('miss');

  function keep(route: Route): KnownRoute {
    const known = { ...route, location: toLocation(route.destination_url) };
    routes.set(route.short_code, known);
    shortCodes.set(route.code, route.short_code);
    unknown.delete(route.short_code);
    const oldest = routes.size > kept.routes ? routes.values().next().value : undefined;
    if (oldest !== undefined) {
      routes.delete(oldest.short_code);
      shortCodes.delete(oldest.code);
    }
    return known;
  }

  function follow(route: Route, entry: LogEntry): Route {
    return !isScan(entry) && isCodeEvent(entry) && entry.stream === route.code ? applyToRoute(route, entry) : route;
  }

  async function loadWanted(): Promise<void> {
    loading = true;
    while (wanted.size > 0) {
      const waiters = wanted;
      wanted = new Map();
      try {
        const found = new Map((await readRoutes(sql, [...waiters.keys()])).map((route) => [route.short_code, route]));
        for (const [shortCode, waiting] of waiters) {
          const read = found.get(shortCode);
          const result =
            read === undefined ? notThere(shortCode) : keep(recent.reduce((r, { entry }) => follow(r, entry), read));
          for (const { resolve } of waiting) resolve(result);
        }
      } catch (error) {
        for (const waiting of waiters.values()) for (const { reject } of waiting) reject(error);
      }
    }
    loading = false;
  }

  function notThere(shortCode: string): 'unknown' {
    // It may have been created while it was looked for.
    if (recent.some(({ entry }) => entry.type === 'code_created' && entry.data.short_code === shortCode))
      return 'unknown';
    if (unknown.size >= kept.unknown) unknown.clear();
    unknown.set(shortCode, Date.now() + kept.unknownMs);
    return 'unknown';
  }

  return {
    get(shortCode) {
      const route = routes.get(shortCode);
      if (route !== undefined) {
        hits.inc();
        return route;
      }
      const until = unknown.get(shortCode);
      if (until !== undefined && until > Date.now()) {
        hits.inc();
        return 'unknown';
      }
      misses.inc();
      return undefined;
    },
    load: (shortCode) =>
      new Promise((resolve, reject) => {
        const waiting = wanted.get(shortCode);
        if (waiting === undefined) wanted.set(shortCode, [{ resolve, reject }]);
        else waiting.push({ resolve, reject });
        if (!loading) queueMicrotask(() => loading || loadWanted());
      }),
    apply(entries) {
      const now = Date.now();
      if (recent.length > 0 && (recent[0]?.at ?? 0) < now - kept.recentMs)
        recent = recent.filter(({ at }) => at >= now - kept.recentMs);
      for (const entry of entries) {
        if (isScan(entry) || !isCodeEvent(entry)) continue;
        recent.push({ at: now, entry });
        if (entry.type === 'code_created') unknown.delete(entry.data.short_code);
        const shortCode = shortCodes.get(entry.stream);
        const route = shortCode === undefined ? undefined : routes.get(shortCode);
        if (route === undefined) continue;
        const next = applyToRoute(route, entry);
        if (next !== route) keep(next);
      }
    },
    all: () => routes.values(),
  };
}

interface Waiter {
  resolve(route: KnownRoute | 'unknown'): void;
  reject(error: unknown): void;
}

function readRoutes(sql: Sql, shortCodes: string[]): Promise<Route[]> {
  return sql<Route[]>`
    SELECT c.id AS code, c.account, c.mode, c.short_code, c.destination_url, c.destination_revision AS revision, c.status,
      c.version, coalesce(k.key, '') AS visitor_key
    FROM codes c LEFT JOIN visitor_keys k ON k.code = c.id
    WHERE c.short_code = ANY(${shortCodes})`;
}
