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

/** What calendar and clocks show in a time zone: `2026-03-01T09:00:00`. */
export const localTime = (time: number, timezone: string) =>
  new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: timezone })
    .format(time)
    .replace(' ', 'T');

/** The date of today in a time zone: `2026-03-01`. */
export const todayIn = (timezone: string, now = Date.now()) => localTime(now, timezone).slice(0, 10);

const dayCounts: Partial<Record<PeriodName, number>> = { '7d': 7, '30d': 30, '90d': 90, '12m': 365 };

/**
 * The period from the start of a day of the time zone, or for "24h" of an hour, up to now. It has no end date: with the rest of today, it
 * would be compared with a longer period, and its daily average would be too low.
 */
export function periodOf(
  name: PeriodName,
  from: string | null,
  to: string | null,
  timezone: string,
  now = Date.now(),
): Period {
  const today = todayIn(timezone, now);
  // Rounded to the hour, so that a refresh sends the same query.
  if (name === '24h') {
    const minuteOf = (zone: string) => Number(localTime(now, zone).slice(14, 16));
    const shiftMs = (minuteOf(timezone) - minuteOf('UTC')) * 60_000;
    const start = Math.floor((now - dayMs + shiftMs) / 3_600_000 + 1) * 3_600_000 - shiftMs;
    return { start_date: new Date(start).toISOString(), end_date: undefined };
  }
  if (name === 'custom' && from !== null) {
    const end = to !== null && to >= from ? to : from;
    return { start_date: from, end_date: end === today && from < end ? undefined : end };
  }
  return { start_date: isoDate(Date.parse(today) - ((dayCounts[name] ?? 30) - 1) * dayMs), end_date: undefined };
}

/** The default interval for a period: the one that gives a readable number of buckets. */
export function intervalOf({ start_date, end_date }: Period, now = Date.now()): Interval {
  const span = ((end_date === undefined ? now : Date.parse(end_date)) - Date.parse(start_date)) / dayMs;
  if (span <= 2) return 'hour';
  if (span <= 100) return 'day';
  return span <= 700 ? 'week' : 'month';
}

/**
 * Where a bucket is on the time axis: an hour (`2026-03-01T09:00:00+01:00`) where it starts, and a day (`2026-03-01`) or
 * month (`2026-03`) as if it were in UTC, since only its name matters.
 */
export const startOf = (date: string) => Date.parse(date.length === 7 ? `${date}-01` : date);

const shortDate = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' },
});

/** What a figure says about its period: "Last 30 days", "1 Mar 2026 – 31 Mar 2026". */
export function periodLabel(name: PeriodName, { start_date, end_date }: Period): string {
  if (name !== 'custom') return periods.find(([option]) => option === name)?.[1] ?? '';
  const [first, last] = [start_date, end_date].map((text) => (text ? shortDate.format(new Date(text)) : 'today'));
  return first === last ? (first ?? '') : `${first} – ${last}`;
}

/** What the period before is called: "the 30 days before". */
export function periodBeforeLabel(name: PeriodName, { start_date, end_date }: Period, now = Date.now()): string {
  if (name === '24h') return 'the 24 hours before';
  if (name === '12m') return 'the 12 months before';
  const last = end_date === undefined ? now : Date.parse(end_date);
  const days = dayCounts[name] ?? Math.floor((last - Date.parse(start_date)) / dayMs) + 1;
  return days === 1 ? 'the day before' : `the ${days} days before`;
}
