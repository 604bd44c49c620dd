import { dayMs, hourMs, offsetName, offsetsOf } from '../../analytics/calendar.ts';
import type { Interval } from '../../analytics/series.ts';
import type { Period } from './period.ts';

/** 1970-01-05, a Monday. */
const firstMondayMs = 4 * dayMs;

const stepsOf = (unitMs: number, originMs = 0) => ({
  ordinal: (time: Date) => Math.floor((time.getTime() - originMs) / unitMs),
  start: (ordinal: number) => new Date(ordinal * unitMs + originMs),
});

/** Buckets are numbered, so that the buckets of a period can be counted without creating them. Times are local, as if in UTC. */
const numbering: Record<Interval, { ordinal(time: Date): number; start(ordinal: number): Date }> = {
  hour: stepsOf(hourMs),
  day: stepsOf(dayMs),
  week: stepsOf(7 * dayMs, firstMondayMs),
  month: {
    ordinal: (time) => time.getUTCFullYear() * 12 + time.getUTCMonth(),
    start: (ordinal) => new Date(Date.UTC(Math.floor(ordinal / 12), ordinal % 12)),
  },
};

const nameOf: Record<Interval, (iso: string, offset: string) => string> = {
  hour: (iso, offset) => `${iso.slice(0, 13)}:00:00${offset}`,
  day: (iso) => iso.slice(0, 10),
  week: (iso) => iso.slice(0, 10),
  month: (iso) => iso.slice(0, 7),
};

interface Run {
  first: number;
  count: number;
  /** The offset in the names of hours. */
  offset: string;
}

/** The buckets that a period overlaps, by offset of its time zone. */
function runsOf({ start, end, timezone }: Period, interval: Interval): Run[] {
  const { ordinal } = numbering[interval];
  let next = Number.NEGATIVE_INFINITY;
  return offsetsOf(timezone, start.getTime(), end.getTime() + 1).map(({ from, until, offsetMs }) => {
    // A day may be on both sides of a change. An hour is not: the same hour at another offset is another bucket.
    const first = Math.max(ordinal(new Date(from + offsetMs)), interval === 'hour' ? Number.NEGATIVE_INFINITY : next);
    const last = ordinal(new Date(until - 1 + offsetMs));
    next = Math.max(next, last + 1);
    return { first, count: Math.max(0, last - first + 1), offset: offsetName(timezone, offsetMs) };
  });
}

export const countBuckets = (period: Period, interval: Interval): number =>
  runsOf(period, interval).reduce((total, { count }) => total + count, 0);

/** The names of all buckets that a period overlaps, in order. */
export const bucketsOf = (period: Period, interval: Interval): string[] =>
  runsOf(period, interval).flatMap(({ first, count, offset }) =>
    Array.from({ length: count }, (_, i) =>
      nameOf[interval](numbering[interval].start(first + i).toISOString(), offset),
    ),
  );
