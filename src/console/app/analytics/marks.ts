import type { TimeSeries } from '../types.ts';
import { type Interval, localTime, startOf } from './period.ts';

/** Something that happened to a code, which may explain its scans. */
export interface Happening {
  /** An ISO timestamp. */
  at: string;
  text: string;
}

/** What happened in a bucket of a series. */
export interface Mark {
  index: number;
  texts: string[];
}

/** Happenings by the bucket that has them, oldest first; those outside of the period are left out. */
export function marksOf(
  happenings: readonly Happening[],
  { interval, data }: Pick<TimeSeries, 'interval' | 'data'>,
  timezone: string,
): Mark[] {
  const starts = data.map(({ date }) => startOf(date));
  const end = endOf(starts.at(-1) ?? 0, interval);
  const byIndex = new Map<number, string[]>();
  for (const { at, text } of happenings.toSorted((a, b) => a.at.localeCompare(b.at))) {
    const time = Date.parse(at);
    // Days, weeks and months are names of the time zone, which `startOf` has put into UTC.
    const named = interval === 'hour' ? time : Date.parse(`${localTime(time, timezone)}Z`);
    const index = starts.findLastIndex((start) => start <= named);
    if (index !== -1 && named < end) byIndex.set(index, [...(byIndex.get(index) ?? []), text]);
  }
  return [...byIndex].map(([index, texts]) => ({ index, texts }));
}

function endOf(start: number, interval: Interval): number {
  const end = new Date(start);
  if (interval === 'hour') end.setUTCHours(end.getUTCHours() + 1);
  else if (interval === 'month') end.setUTCMonth(end.getUTCMonth() + 1);
  else end.setUTCDate(end.getUTCDate() + (interval === 'week' ? 7 : 1));
  return end.getTime();
}
