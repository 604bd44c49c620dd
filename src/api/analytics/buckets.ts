import type { Interval } from '../../analytics/series.ts';
import { dayMs, type Period } from './period.ts';

const hourMs = 3_600_000;

/** 1970-01-05, a Monday. */
const firstMondayMs = 4 * dayMs;

const stepsOf = (unitMs: number, originMs = 0) => ({
  ordinal: (time: Date) => Math.floor((time.getTime() - originMs) / unitMs),
  start: (ordinal: number) => new Date(ordinal * unitMs + originMs),
});

/** Buckets are numbered, so that those of a period can be counted without creating them. */
const numbering: Record<Interval, { ordinal(time: Date): number; start(ordinal: number): Date }> = {
  hour: stepsOf(hourMs),
  day: stepsOf(dayMs),
  week: stepsOf(7 * dayMs, firstMondayMs),
  month: {
    ordinal: (time) => time.getUTCFullYear() * 12 + time.getUTCMonth(),
    start: (ordinal) => new Date(Date.UTC(Math.floor(ordinal / 12), ordinal % 12)),
  },
};

const nameOf: Record<Interval, (iso: string) => string> = {
  hour: (iso) => `${iso.slice(0, 13)}:00:00Z`,
  day: (iso) => iso.slice(0, 10),
  week: (iso) => iso.slice(0, 10),
  month: (iso) => iso.slice(0, 7),
};

export const countBuckets = ({ start, end }: Period, interval: Interval): number =>
  numbering[interval].ordinal(end) - numbering[interval].ordinal(start) + 1;

/** The names of all buckets that a period overlaps, in order. */
export function bucketsOf(period: Period, interval: Interval): string[] {
  const { ordinal, start } = numbering[interval];
  const first = ordinal(period.start);
  return Array.from({ length: countBuckets(period, interval) }, (_, i) =>
    nameOf[interval](start(first + i).toISOString()),
  );
}
