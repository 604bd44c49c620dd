import { offsetOf, offsetStepMs } from '../../events/targeting/local-time.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** From `from` to before `until`, the clocks of the zone are ahead of UTC by `offsetMs`. */
export interface OffsetSpan {
  from: number;
  until: number;
  offsetMs: number;
}

/**
 * ClickHouse's DateTime covers 1970 to 2106; no scan is outside of that. Before and after, the first and the last offset of
 * a zone apply, so that a period of 400 years costs no more than one of 136.
 */
export const minTimeMs = 0;
export const maxTimeMs = Date.UTC(2106, 0, 1);
const clamp = (ms: number) => Math.min(Math.max(ms, minTimeMs), maxTimeMs);

/** No zone has two changes within this time: the shortest gap is Ramadan in Morocco, about 30 days. */
const searchStepMs = 14 * dayMs;

/** The offsets of a zone from `from` to before `until`, without gaps; adjacent ones differ. */
export function offsetsOf(timezone: string, from: number, until: number): OffsetSpan[] {
  const spans: OffsetSpan[] = [];
  let since = from;
  let offsetMs = offsetOf(timezone, clamp(from));
  const last = clamp(until - 1);
  for (let at = clamp(from); at < last && timezone !== 'UTC'; ) {
    const next = Math.min(at + searchStepMs, last);
    const nextOffsetMs = offsetOf(timezone, next);
    if (nextOffsetMs !== offsetMs) {
      const change = findChange(timezone, at, next);
      spans.push({ from: since, until: change, offsetMs });
      since = change;
      offsetMs = nextOffsetMs;
    }
    at = next;
  }
  return [...spans, { from: since, until, offsetMs }];
}

/** When the offset changes between two times. */
function findChange(timezone: string, after: number, until: number): number {
  const offsetMs = offsetOf(timezone, after);
  let [low, high] = [Math.floor(after / offsetStepMs), Math.floor(until / offsetStepMs)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetOf(timezone, middle * offsetStepMs) === offsetMs) low = middle;
    else high = middle;
  }
  return high * offsetStepMs;
}

/** More than the largest offset and the longest change of one. */
const searchRadiusMs = 2 * dayMs;

/**
 * The first moment at which the clocks of a zone show `localMs` or later, where `localMs` is a time on them as if they
 * showed UTC. Midnight, if it is skipped, is the moment after the gap; if it occurs twice, the first one.
 */
export function instantAt(timezone: string, localMs: number): number {
  const spans = offsetsOf(timezone, localMs - searchRadiusMs, localMs + searchRadiusMs);
  for (const { from, until, offsetMs } of spans) {
    const instant = Math.max(from, localMs - offsetMs);
    if (instant < until) return instant;
  }
  throw new Error(`${timezone} has no time ${localMs}`);
}

const modulo = (value: number, by: number) => ((value % by) + by) % by;

/**
 * The hours of the UTC day, 0 to 23, in which days of a zone begin, or its offset changes, other than at a full hour. None
 * for a zone whose offsets are whole hours.
 */
export function splitHours(offsets: OffsetSpan[]): number[] {
  const hours = new Set<number>();
  for (const [i, { from, offsetMs }] of offsets.entries()) {
    const midnights = modulo(-offsetMs, dayMs);
    if (midnights % hourMs !== 0) hours.add(Math.floor(midnights / hourMs));
    if (i > 0 && modulo(from, hourMs) !== 0) hours.add(Math.floor(modulo(from, dayMs) / hourMs));
  }
  return [...hours];
}

const two = (value: number) => String(Math.floor(value)).padStart(2, '0');

/** The offset at the end of a timestamp: `+05:30`, and `Z` for UTC itself. */
export function offsetName(timezone: string, offsetMs: number): string {
  if (timezone === 'UTC') return 'Z';
  const minutes = Math.abs(offsetMs) / 60_000;
  return `${offsetMs < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}
