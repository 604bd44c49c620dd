import { dayMs, hourMs, offsetsOf } from '../analytics/calendar.ts';

/**
 * Whether a code is scanned as usual. The hours of a window are compared with the same weekdays and hours of the weeks before it,
 * on the clocks of the account's time zone, so that closing days, lunch breaks and weekends are expected. Only complete hours are
 * compared, and a code needs `minWeeks` weeks of scans.
 */

const hoursInDay = 24;
const hoursInWeek = 7 * hoursInDay;
/** How far back the usual is learned. */
const maxWeeks = 8;
const minWeeks = 3;
/** A silence for which a code needs longer than this is not noticed: the code is scanned too rarely. */
const maxSilentHours = 2 * hoursInWeek;
/** How far back scans are needed: a silence, and the weeks before it. */
export const historyHours = maxSilentHours + maxWeeks * hoursInWeek;

/**
 * Scans that the hours of a silence usually have. With 12 expected, no scan at all happens by chance once in 160,000 cases; and
 * every single week must have had some, so that a code whose festival is over is not silent.
 */
const minExpected = 12;
const minInEachWeek = 4;

/** A spike is seen after three hours if it is large, else within a day. */
const spikeHours = [3, hoursInDay];
const minSpikeScans = 30;
/** How many times the average, and the best of the weeks before. */
const spikeFactor = 4;
const spikeFactorOfBest = 2;
/** A spike is over when two days have fewer than this many times the average, or hardly any scans. A single day may be a quiet one. */
const calmHours = 2 * hoursInDay;
const calmFactor = 2;
const maxCalmScans = 10;

/** The hour that the clocks of a zone show at a time, as a number that counts on over days. */
export type LocalClock = (atMs: number) => number;

/** The clock of a zone for times around `now`. Its changes are looked up once, because that takes longer than all the rest. */
export function localClock(timezone: string, now: Date): LocalClock {
  const spans = offsetsOf(timezone, now.getTime() - 2 * historyHours * hourMs, now.getTime() + dayMs);
  return (atMs) => {
    const span = spans.findLast(({ from }) => from <= atMs) ?? spans[0];
    return Math.floor((atMs + (span?.offsetMs ?? 0)) / hourMs);
  };
}

/** The scans of a code by hours of a clock. An hour that the clock repeats has the scans of both. */
export class LocalScans {
  readonly hours = new Map<number, number>();
  /** The first and the last hour with a scan. */
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;

  /** @param counted hours since 1970 in UTC, and the scans that began in them */
  constructor(clock: LocalClock, counted: Iterable<readonly [hour: number, scans: number]> = []) {
    for (const [hour, scans] of counted) this.add(clock(hour * hourMs), scans);
  }

  add(hour: number, scans: number): void {
    if (scans === 0) return;
    this.hours.set(hour, (this.hours.get(hour) ?? 0) + scans);
    this.first = Math.min(this.first, hour);
    this.last = Math.max(this.last, hour);
  }
}

/** What is known of a code, in hours of one clock. */
export interface ScanHistory {
  /** At least over the last `historyHours`. */
  scans: LocalScans;
  /** Before this hour there were no scans, because the code did not exist. */
  created: number;
  /** No silence begins before this hour: the code was changed, or could not be scanned. */
  quietSince: number;
}

/** How a window compares with the same hours of the weeks before. */
export interface Comparison {
  hours: number;
  scans: number;
  /** The scans in each of the weeks before, the last one first. */
  weeks: number[];
}

interface Window {
  from: number;
  /** Not included. */
  until: number;
}

function sum(local: ReadonlyMap<number, number>, { from, until }: Window): number {
  let scans = 0;
  for (let hour = from; hour < until; hour++) scans += local.get(hour) ?? 0;
  return scans;
}

/** Compares a window with the same hours of earlier weeks, none of which overlaps it or begins before `first`. */
function compare(local: ReadonlyMap<number, number>, window: Window, first: number): Comparison {
  const { from, until } = window;
  const hours = until - from;
  const step = Math.max(1, Math.ceil(hours / hoursInWeek));
  const weeks: number[] = [];
  for (let week = step; week <= maxWeeks; week += step) {
    const shift = week * hoursInWeek;
    if (from - shift < first) break;
    weeks.push(sum(local, { from: from - shift, until: until - shift }));
  }
  return { hours, scans: sum(local, window), weeks };
}

export const averageOf = ({ weeks }: Pick<Comparison, 'weeks'>): number =>
  weeks.length === 0 ? 0 : weeks.reduce((total, scans) => total + scans, 0) / weeks.length;

/** The first hour that can be compared: the hour of the first known scan, because a code may be printed long after its creation. */
const firstHour = ({ scans, created }: ScanHistory): number => Math.max(scans.first, created + 1);

/**
 * The silence of a code in the hour `now`: undefined if it was scanned since, or if so few scans are no surprise.
 *
 * @example
 * const clock = localClock('Europe/Vienna', now);
 * const silence = silenceOf(history, clock(now.getTime()));
 * // { hours: 6, scans: 0, weeks: [21, 19, 25, 18] }
 */
export function silenceOf(history: ScanHistory, now: number): Comparison | undefined {
  const { scans, quietSince } = history;
  const from = Math.max(scans.last, quietSince) + 1;
  const until = Math.min(now, from + maxSilentHours);
  if (until <= from) return undefined;
  const found = compare(scans.hours, { from, until }, firstHour(history));
  const isSurprise =
    found.weeks.length >= minWeeks && averageOf(found) >= minExpected && Math.min(...found.weeks) >= minInEachWeek;
  return isSurprise ? { ...found, hours: now - from } : undefined;
}

/** The spike of a code in the hours before `now`; undefined if there is none. */
export const spikeOf = (history: ScanHistory, now: number): Comparison | undefined =>
  spikeHours
    .map((hours) => compare(history.scans.hours, { from: now - hours, until: now }, firstHour(history)))
    .find(
      (found) =>
        found.weeks.length >= minWeeks &&
        found.scans >= minSpikeScans &&
        found.scans >= spikeFactor * averageOf(found) &&
        found.scans >= spikeFactorOfBest * Math.max(...found.weeks),
    );

/** Whether a spike is over. */
export function isCalm(history: ScanHistory, now: number): boolean {
  const found = compare(history.scans.hours, { from: now - calmHours, until: now }, firstHour(history));
  return found.scans < maxCalmScans || found.scans < calmFactor * averageOf(found);
}
