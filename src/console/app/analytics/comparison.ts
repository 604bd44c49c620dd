import { percent } from '../format.ts';
import type { TimeSeries } from '../types.ts';
import { localTime } from './period.ts';

/** How a figure compares with the period before, in words: "9% more than the 30 days before". */
export function changeText(now: number, previous: number, before: string): string {
  if (now === previous) return `the same as in ${before}`;
  if (previous === 0) return `none in ${before}`;
  return `${percent(Math.abs(now / previous - 1))} ${now > previous ? 'more' : 'less'} than ${before}`;
}

export type Series = Pick<TimeSeries, 'interval' | 'data' | 'previous'>;

/**
 * Scans in the period before, for each bucket, aligned at the end. Undefined where the period before starts within a bucket,
 * which would look like a day with few scans.
 */
export function previousScans({ interval, data, previous }: Series, timezone: string): (number | undefined)[] {
  const start = Date.parse(previous?.period.start ?? '');
  const isWhole = (date: string) =>
    interval === 'hour'
      ? Date.parse(date) >= start
      : `${date.length === 7 ? `${date}-01` : date}T00:00:00` >= localTime(start, timezone);
  return data.map((_, i) => {
    const bucket = previous?.data.at(i - data.length);
    return bucket !== undefined && isWhole(bucket.date) ? bucket.total_scans : undefined;
  });
}
