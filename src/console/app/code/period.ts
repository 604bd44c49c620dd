export const periods = [
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['90d', 'Last 90 days'],
  ['12m', 'Last 12 months'],
  ['custom', 'Custom range'],
] as const;
export type PeriodName = (typeof periods)[number][0];

export const intervals = [
  ['hour', 'Hourly'],
  ['day', 'Daily'],
  ['week', 'Weekly'],
  ['month', 'Monthly'],
] as const;
export type Interval = (typeof intervals)[number][0];

export interface Period {
  start_date: string;
  end_date: string | undefined;
}

const dayMs = 86_400_000;
const isoDate = (time: number) => new Date(time).toISOString().slice(0, 10);
const dayCounts: Partial<Record<PeriodName, number>> = { '7d': 7, '30d': 30, '90d': 90, '12m': 365 };

/** The period as whole UTC days that end today; for "24h", the last 24 hours up to the current one. */
export function periodOf(name: PeriodName, from: string | null, to: string | null, now = Date.now()): Period {
  // Rounded to the hour, so that a refresh sends the same query.
  if (name === '24h') {
    const start = Math.floor((now - dayMs) / 3_600_000 + 1) * 3_600_000;
    return { start_date: new Date(start).toISOString(), end_date: undefined };
  }
  if (name === 'custom' && from !== null) return { start_date: from, end_date: to !== null && to >= from ? to : from };
  return { start_date: isoDate(now - ((dayCounts[name] ?? 30) - 1) * dayMs), end_date: isoDate(now) };
}

/** The default interval for a period: the one that gives a readable number of buckets. */
export function intervalOf({ start_date, end_date }: Period, now = Date.now()): Interval {
  const span = ((end_date === undefined ? now : Date.parse(end_date)) - Date.parse(start_date)) / dayMs;
  if (span <= 2) return 'hour';
  if (span <= 100) return 'day';
  return span <= 700 ? 'week' : 'month';
}
