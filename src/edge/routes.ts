import { isCodeEvent } from '../../events/catalogue.ts';
import type { Change } from '../../events/entry.ts';
import { isScan } from '../../events/entry.ts';
import { applyToRoute, type Route } from '../../projections/routes.ts';
import { inTime } from '../lib/in-time.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../log/connect.ts';
import { recentChanges } from './recent-changes.ts';

const defaultMaxRoutes = 200_000;
/** Bounds the pause of one eviction while most routes are in use. */
const maxSecondChances = 32;
const kept = { unknown: 20_000, unknownMs: 2_000 };
const most = { wanted: 20_000, inQuery: 1_000 };

/** As long as a redirect waits for it: a query on a connection that died silently must not hold up the next one. */
const lookupTimeoutMs = 2_000;
const lookupTimedOut = () => new Error(`Postgres did not answer a lookup of routes within ${lookupTimeoutMs} ms`);

/** A route as it is answered: what it leads to is written out once, not for every scan. */
export interface KnownRoute extends Route {
  location: string;
  /** Decrypted by the first scan that needs it. In memory only: nothing writes it to disk. */
  visitor_key: Uint8Array | undefined;
}

export interface Routes {
  /** What is known in memory: the route, that there is none, or nothing. */
  get(shortCode: string): KnownRoute | 'unknown' | undefined;
  /** Asks Postgres. Many misses at once are one query, and at most one query runs at a time. */
  load(shortCode: string): Promise<KnownRoute | 'unknown'>;
  /** What an earlier run knew, for when Postgres cannot be asked. */
  earlier(shortCode: string): KnownRoute | undefined;
  /**
   * Reads everything anew, what an earlier run knew included: whatever was read before somebody began to follow the log
   * may have changed since without anybody telling.
   */
  refresh(): Promise<void>;
  /** Believes nothing in memory any more: routes serve only while Postgres does not answer, until they are refreshed. */
  forget(): void;
  /** Follows what happened to codes; each event counts once, in whatever order and however often it is told. */
  apply(entries: Change[]): void;
  all(): Iterable<Route>;
  /** The key under which the code's visitors are hashed. Throws where it is encrypted with another SECRET_KEY. */
  visitorKeyOf(route: KnownRoute): Uint8Array;
  /** Increases with every change of what `all` gives. */
  changes(): number;
}

interface Slot {
  route: KnownRoute;
  /** Looked up since it was inserted or last passed over for eviction. */
  used: boolean;
}

interface Waiter {
  resolve(route: KnownRoute | 'unknown'): void;
  reject(error: unknown): void;
}

export function createRoutes(
  sql: Sql,
  box: SecretBox,
  toLocation: (destination: string) => string,
  metrics: Metrics,
  snapshot: Iterable<Route> = [],
  maxRoutes = defaultMaxRoutes,
): Routes {
  /** In the order of eviction. */
  const routes = new Map<string, Slot>();
  const earlier = new Map<string, KnownRoute>();
  const shortCodes = new Map<string, string>();
  const unknown = new Map<string, number>();
  const recent = recentChanges();
  let wanted = new Map<string, Waiter[]>();
  let loading = false;
  let refreshes = 0;
  let changes = 0;

  const located = (route: Route): KnownRoute => ({
    ...route,
    location: toLocation(route.destination_url),
    visitor_key: undefined,
  });

  for (const route of snapshot) {
    earlier.set(route.short_code, located(route));
    shortCodes.set(route.code, route.short_code);
  }

  function keep(route: Route): KnownRoute {
    const before = routes.get(route.short_code);
    if (before !== undefined && before.route.version > route.version) return before.route;
    const known = located(route);
    if (before === undefined) {
      if (routes.size >= maxRoutes) evict();
      routes.set(route.short_code, { route: known, used: false });
    } else before.route = known;
    changes++;
    shortCodes.set(route.code, route.short_code);
    unknown.delete(route.short_code);
    earlier.delete(route.short_code);
    return known;
  }

  /** Second chance: the oldest route goes, unless it was used since its last turn; then it moves to the end once. */
  function evict(): void {
    let chances = 0;
    for (const [shortCode, slot] of routes) {
      routes.delete(shortCode);
      if (slot.used && chances++ < maxSecondChances) {
        slot.used = false;
        routes.set(shortCode, slot);
        continue;
      }
      shortCodes.delete(slot.route.code);
      return;
    }
  }

  /** What Postgres has, with what came meanwhile. */
  async function read(codes: string[]): Promise<Map<string, Route>> {
    const found = await readRoutes(sql, box, codes);
    const current = found.map((route) => recent.appliedTo(route) ?? route.short_code);
    const outdated = current.filter((route) => typeof route === 'string');
    const again = outdated.length === 0 ? [] : await readRoutes(sql, box, outdated);
    const all = [
      ...current.filter((route) => typeof route !== 'string'),
      ...again.map((route) => recent.appliedTo(route) ?? route),
    ];
    return new Map(all.map((route) => [route.short_code, route]));
  }

  async function loadWanted(): Promise<void> {
    loading = true;
    while (wanted.size > 0) {
      const waiters = wanted;
      wanted = new Map();
      try {
        let found: Map<string, Route>;
        let refreshesBefore: number;
        do {
          refreshesBefore = refreshes;
          found = await inTime(read([...waiters.keys()]), lookupTimeoutMs, lookupTimedOut);
        } while (refreshes !== refreshesBefore);
        for (const [shortCode, waiting] of waiters) {
          const route = found.get(shortCode);
          const result = route === undefined ? notThere(shortCode) : keep(route);
          for (const { resolve } of waiting) resolve(result);
        }
      } catch (error) {
        for (const waiting of waiters.values()) for (const { reject } of waiting) reject(error);
      }
    }
    loading = false;
  }

  function load(shortCode: string): Promise<KnownRoute | 'unknown'> {
    return new Promise((resolve, reject) => {
      const waiting = wanted.get(shortCode);
      if (waiting !== undefined) waiting.push({ resolve, reject });
      else if (wanted.size < most.wanted) wanted.set(shortCode, [{ resolve, reject }]);
      else reject(new Error('too many short codes wait to be looked up'));
      if (!loading) queueMicrotask(() => loading || loadWanted());
    });
  }

  function notThere(shortCode: string): 'unknown' {
    // It may have been created while it was looked for.
    if (recent.created(shortCode)) return 'unknown';
    if (unknown.size >= kept.unknown) unknown.clear();
    unknown.set(shortCode, Date.now() + kept.unknownMs);
    return 'unknown';
  }

  return {
    get(shortCode) {
      const slot = routes.get(shortCode);
      if (slot !== undefined) {
        slot.used = true;
        metrics.routeLookups.count('hit');
        return slot.route;
      }
      const until = unknown.get(shortCode);
      if (until !== undefined && until > Date.now()) {
        metrics.routeLookups.count('hit');
        return 'unknown';
      }
      metrics.routeLookups.count('miss');
      return undefined;
    },
    load,
    earlier: (shortCode) => earlier.get(shortCode),
    async refresh() {
      refreshes++;
      const codes = [...new Set([...routes.keys(), ...earlier.keys()])];
      for (let i = 0; i < codes.length; i += most.inQuery) {
        const found = await read(codes.slice(i, i + most.inQuery));
        for (const route of found.values()) keep(route);
        for (const code of codes.slice(i, i + most.inQuery)) if (!found.has(code)) earlier.delete(code);
      }
    },
    forget() {
      for (const { route } of routes.values()) earlier.set(route.short_code, route);
      routes.clear();
      changes++;
      unknown.clear();
      recent.clear();
    },
    apply(entries) {
      for (const entry of entries) {
        if (isScan(entry) || !isCodeEvent(entry)) continue;
        recent.add(entry);
        if (entry.type === 'code_created') unknown.delete(entry.data.short_code);
        const shortCode = shortCodes.get(entry.stream) ?? '';
        const old = earlier.get(shortCode);
        const followed = old && applyToRoute(old, entry);
        if (old !== undefined && followed === undefined) earlier.delete(shortCode);
        else if (followed !== undefined) earlier.set(shortCode, located(followed));

        const route = routes.get(shortCode)?.route;
        const next = route && applyToRoute(route, entry);
        if (next !== undefined && next !== route) keep(next);
        if (route === undefined || next !== undefined) continue;
        // An event before this one has not come, or not yet: what is known is wrong, and what is right is in Postgres.
        routes.delete(shortCode);
        changes++;
        load(shortCode).catch(() => {});
      }
    },
    *all() {
      for (const { route } of routes.values()) yield route;
    },
    changes: () => changes,
    visitorKeyOf(route) {
      route.visitor_key ??= box.openVisitorKey(route.sealed_key, route.code);
      return route.visitor_key;
    },
  };
}

async function readRoutes(sql: Sql, box: SecretBox, shortCodes: string[]): Promise<Route[]> {
  const rows = await sql<(Route & { unsealed_key: Uint8Array | null })[]>`
    SELECT c.id AS code, c.account, c.mode, c.short_code, c.destination_url, c.destination_revision AS revision, c.status,
      c.version, c.disabled_at IS NOT NULL AS disabled, coalesce(k.sealed, '') AS sealed_key, u.key AS unsealed_key
    FROM codes c LEFT JOIN visitor_keys k ON k.code = c.id LEFT JOIN unsealed_visitor_keys u ON u.code = c.id
    WHERE c.short_code = ANY(${shortCodes})`;
  // Until visitor-key-upkeep.ts has sealed it, the key of an older version is plain.
  return rows.map(({ unsealed_key, ...route }) =>
    unsealed_key === null ? route : { ...route, sealed_key: box.sealVisitorKey(unsealed_key, route.code) },
  );
}
