const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Offsets of time zones change only at multiples of 15 minutes. */
export const offsetStepMs = 15 * minuteMs;

interface Zone {
  format: Intl.DateTimeFormat;
  /** The last step that was asked for, and the offset in it. */
  step: number;
  offsetMs: number;
}

const zones = new Map<string, Zone>();

/** The IANA name of a time zone as it is spelled, given in any case; undefined if there is no such zone. */
export function timeZoneNamed(name: string): string | undefined {
  // Intl also takes offsets, such as +01:00.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

export const timeZoneProblem = 'must be the IANA name of a time zone, such as Europe/Berlin';

/** How far the clocks of a zone are ahead of UTC at a time. Creating a format costs 50 µs, and using it 5 µs. */
export function offsetOf(timeZone: string, atMs: number): number {
  if (timeZone === 'UTC') return 0;
  const step = Math.floor(atMs / offsetStepMs);
  const zone = zones.get(timeZone) ?? openZone(timeZone);
  if (zone.step !== step) {
    zone.step = step;
    zone.offsetMs = readOffset(zone.format, step * offsetStepMs);
  }
  return zone.offsetMs;
}

function openZone(timeZone: string): Zone {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    era: 'short',
    hourCycle: 'h23',
    second: 'numeric',
    ...numeric,
  });
  const zone: Zone = { format, step: Number.NaN, offsetMs: 0 };
  zones.set(timeZone, zone);
  return zone;
}

function readOffset(format: Intl.DateTimeFormat, atMs: number): number {
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - atMs;
}

export interface LocalTime {
  /** From 0, Monday, to 6, Sunday. */
  weekday: number;
  /** Minutes on the clock since midnight. */
  minute: number;
}

/** What calendar and clock show in a zone at a time. */
export function localTime(timeZone: string, atMs: number): LocalTime {
  const localMs = atMs + offsetOf(timeZone, atMs);
  const day = Math.floor(localMs / dayMs);
  // 1970-01-01 was a Thursday.
  return { weekday: (((day + 3) % 7) + 7) % 7, minute: Math.floor((localMs - day * dayMs) / minuteMs) };
}

/**
 * The moment at which the clocks of a zone show `localMs`, a time on them as if they showed UTC. A time that the clocks skip is
 * moved forward by what they skip; of two equal ones, it is the first.
 */
export function instantOf(localMs: number, timeZone: string): number {
  // The offset a day before and after: they differ only around a change of the clocks.
  const candidates = [-dayMs, dayMs].map((shiftMs) => localMs - offsetOf(timeZone, localMs + shiftMs));
  const exact = candidates.filter((atMs) => atMs + offsetOf(timeZone, atMs) === localMs);
  return exact.length > 0 ? Math.min(...exact) : (candidates[0] ?? localMs);
}
