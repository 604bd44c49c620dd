import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import { foldShortCode, isGiven } from '../../events/short-code.ts';
import { applyToRoute, type Route } from '../../projections/routes.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';

const maxAgeMs = 30_000;
/** A change of rules can have 130 kB, and a revert makes thousands of changes at once. */
const defaultMaxBytes = 32 * 1024 * 1024;
const overheadBytes = 500;

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

/** The recent events of a code. */
interface Changes {
  at: number;
  events: Recorded<CodeEvent>[];
  bytes: number;
  /** Events up to this version were removed, because all together had too many bytes. */
  removedTo: number;
  /** The short code, if the code was created. */
  shortCode: string | undefined;
}

export function recentChanges(timers: Timers = systemTimers, maxBytes = defaultMaxBytes): RecentChanges {
  /** By code, least recently changed first: those with events, and those whose events were removed. */
  const changes = new Map<string, Changes>();
  const emptied = new Map<string, Changes>();
  const created = new Set<string>();
  const createdGiven = new Set<string>();
  let totalBytes = 0;

  function removeOld(from: Map<string, Changes>, now: number): void {
    for (const [code, { at, bytes, shortCode }] of from) {
      if (at > now - maxAgeMs) return;
      from.delete(code);
      totalBytes -= bytes;
      if (shortCode === undefined) continue;
      created.delete(shortCode);
      createdGiven.delete(foldShortCode(shortCode));
    }
  }

  /** Routes that were read before these events are read again instead. */
  function removeBytes(): void {
    for (const [code, change] of changes) {
      if (totalBytes <= maxBytes) return;
      totalBytes -= change.bytes;
      changes.delete(code);
      const removedTo = Math.max(change.removedTo, ...change.events.map(({ version }) => version));
      emptied.set(code, { ...change, events: [], bytes: 0, removedTo });
    }
  }

  const find = (code: string): Changes | undefined => changes.get(code) ?? emptied.get(code);

  return {
    add(event) {
      const now = timers.now();
      removeOld(changes, now);
      removeOld(emptied, now);
      const { stream } = event;
      const change = find(stream) ?? { at: now, events: [], bytes: 0, removedTo: 0, shortCode: undefined };
      const bytes = overheadBytes + 2 * JSON.stringify(event.data).length;
      change.at = now;
      change.events.push(event);
      change.bytes += bytes;
      totalBytes += bytes;
      changes.delete(stream);
      emptied.delete(stream);
      changes.set(stream, change);
      if (event.type === 'code_created') {
        const { short_code } = event.data;
        // Changes before it are of the time until its account was deleted here; then it came back from another instance.
        change.events = change.events.filter(({ position }) => position >= event.position);
        change.shortCode = short_code;
        created.add(short_code);
        if (isGiven(event.data)) createdGiven.add(foldShortCode(short_code));
      }
      if (totalBytes > maxBytes) removeBytes();
    },
    appliedTo(route) {
      const { events = [], removedTo = 0 } = find(route.code) ?? {};
      if (route.version < removedTo) return undefined;
      // They arrive from NATS and from the log, so in any order.
      const inOrder = events.toSorted((a, b) => a.version - b.version);
      return inOrder.reduce<Route | undefined>((updated, event) => updated && applyToRoute(updated, event), route);
    },
    clear() {
      changes.clear();
      emptied.clear();
      created.clear();
      createdGiven.clear();
      totalBytes = 0;
    },
    createdExactly: (shortCode) => created.has(shortCode),
    created: (shortCode) => created.has(shortCode) || createdGiven.has(foldShortCode(shortCode)),
  };
}
