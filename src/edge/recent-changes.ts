import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import { foldShortCode, isGiven } from '../../events/short-code.ts';
import { applyToRoute, type Route } from '../../projections/routes.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';

const maxAgeMs = 30_000;

/** Events of the last 30 s, to apply to routes that were being read from Postgres when they arrived. */
export interface RecentChanges {
  add(event: Recorded<CodeEvent>): void;
  /** The route with the recent events applied; undefined if events between the route and these are missing. */
  appliedTo(route: Route): Route | undefined;
  clear(): void;
  createdExactly(shortCode: string): boolean;
  /** Whether a code with this short code, or a given one that differs only in case, was created in the last 30 s. */
  created(shortCode: string): boolean;
}

export function recentChanges(timers: Timers = systemTimers): RecentChanges {
  /** By code, least recently changed first. */
  const changes = new Map<string, { at: number; events: Recorded<CodeEvent>[] }>();
  const created = new Set<string>();
  const createdGiven = new Set<string>();

  function removeOld(now: number): void {
    for (const [code, { at, events }] of changes) {
      if (at > now - maxAgeMs) return;
      changes.delete(code);
      for (const event of events) {
        if (event.type !== 'code_created') continue;
        created.delete(event.data.short_code);
        createdGiven.delete(foldShortCode(event.data.short_code));
      }
    }
  }

  return {
    add(event) {
      const now = timers.now();
      removeOld(now);
      const events = changes.get(event.stream)?.events ?? [];
      events.push(event);
      changes.delete(event.stream);
      changes.set(event.stream, { at: now, events });
      if (event.type !== 'code_created') return;
      created.add(event.data.short_code);
      if (isGiven(event.data)) createdGiven.add(foldShortCode(event.data.short_code));
    },
    appliedTo(route) {
      const events = changes.get(route.code)?.events ?? [];
      // They arrive from NATS and from the log, so in any order.
      const inOrder = events.toSorted((a, b) => a.version - b.version);
      return inOrder.reduce<Route | undefined>((updated, event) => updated && applyToRoute(updated, event), route);
    },
    clear() {
      changes.clear();
      created.clear();
      createdGiven.clear();
    },
    createdExactly: (shortCode) => created.has(shortCode),
    created: (shortCode) => created.has(shortCode) || createdGiven.has(foldShortCode(shortCode)),
  };
}
