import type { CodeEvent } from '../../events/code.ts';
import type { Recorded } from '../../events/recorded.ts';
import { applyToRoute, type Route } from '../../projections/routes.ts';

const keptMs = 30_000;

/** Events of the last moments, for routes that were being read from Postgres while they came. */
export interface RecentChanges {
  add(event: Recorded<CodeEvent>): void;
  /** The route with what came while it was read; nothing when that is later than what was read, with a gap between. */
  appliedTo(route: Route): Route | undefined;
  clear(): void;
  /** Whether a code with this short code was just created. */
  created(shortCode: string): boolean;
}

export function recentChanges(): RecentChanges {
  /** By code, least lately changed first. */
  const changes = new Map<string, { at: number; events: Recorded<CodeEvent>[] }>();
  const created = new Map<string, string>();

  function forgetOld(now: number): void {
    for (const [code, { at, events }] of changes) {
      if (at > now - keptMs) return;
      changes.delete(code);
      for (const event of events) if (event.type === 'code_created') created.delete(event.data.short_code);
    }
  }

  return {
    add(event) {
      const now = Date.now();
      forgetOld(now);
      const events = changes.get(event.stream)?.events ?? [];
      events.push(event);
      changes.delete(event.stream);
      changes.set(event.stream, { at: now, events });
      if (event.type === 'code_created') created.set(event.data.short_code, event.stream);
    },
    appliedTo(route) {
      const events = changes.get(route.code)?.events ?? [];
      // They may have been told in any order, by several sides.
      const inOrder = events.toSorted((a, b) => a.version - b.version);
      return inOrder.reduce<Route | undefined>((known, event) => known && applyToRoute(known, event), route);
    },
    clear() {
      changes.clear();
      created.clear();
    },
    created: (shortCode) => created.has(shortCode),
  };
}
