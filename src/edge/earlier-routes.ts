import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import type { RouteSnapshot } from '../../events/route.ts';
import { applyToRoute, type Route } from '../../projections/routes.ts';
import type { KnownRoute } from './known-route.ts';

/** Routes and aliases that an earlier run has written to disk, used only while Postgres does not answer. */
export class EarlierRoutes {
  readonly #routes: Map<string, KnownRoute>;
  /** Short codes as requested, and the given one that differs from it only in case and has the route. */
  readonly #aliases: Map<string, string>;
  readonly #located: (route: Route) => KnownRoute;

  constructor({ routes, aliases }: RouteSnapshot, located: (route: Route) => KnownRoute) {
    this.#routes = new Map(Iterator.from(routes).map((route) => [route.short_code, located(route)]));
    this.#aliases = new Map(aliases);
    this.#located = located;
  }

  find(shortCode: string): KnownRoute | undefined {
    return this.#routes.get(shortCode) ?? this.#routes.get(this.#aliases.get(shortCode) ?? '');
  }

  routes(): Iterable<KnownRoute> {
    return this.#routes.values();
  }

  /** Every short code under which a route can be found. */
  requested(): Iterable<string> {
    return [...this.#routes.keys(), ...this.#aliases.keys()];
  }

  /** Applies an event to its route. A route that misses an earlier event is deleted. */
  apply(shortCode: string, event: Recorded<CodeEvent>): void {
    const route = this.#routes.get(shortCode);
    if (route === undefined) return;
    const next = applyToRoute(route, event);
    if (next === undefined) this.#routes.delete(shortCode);
    else this.#routes.set(shortCode, this.#located(next));
  }

  delete(shortCode: string): void {
    this.#routes.delete(shortCode);
  }

  deleteAlias(requested: string): void {
    this.#aliases.delete(requested);
  }
}
