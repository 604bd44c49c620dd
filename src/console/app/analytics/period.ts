export const periods = [
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['week', 'This week'],
  ['last-week', 'Last week'],
  ['month', 'This month'],
  ['last-month', 'Last month'],
  ['year', 'This year'],
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
  return (
    calendarPeriod(name, today) ?? { start_date: daysBefore(today, (dayCounts[name] ?? 30) - 1), end_date: undefined }
  );
}

const daysBefore = (day: string, days: number) => isoDate(Date.parse(day) - days * dayMs);

/** A day, week, month or year of the calendar, up to now if it is not over. Weeks begin on Monday. */
function calendarPeriod(name: PeriodName, today: string): Period | undefined {
  const monday = daysBefore(today, (new Date(today).getUTCDay() + 6) % 7);
  const firstOfMonth = `${today.slice(0, 7)}-01`;
  const endOfLastMonth = daysBefore(firstOfMonth, 1);
  const yesterday = daysBefore(today, 1);
  const calendar: Partial<Record<PeriodName, Period>> = {
    today: { start_date: today, end_date: undefined },
    yesterday: { start_date: yesterday, end_date: yesterday },
    week: { start_date: monday, end_date: undefined },
    'last-week': { start_date: daysBefore(monday, 7), end_date: daysBefore(monday, 1) },
    month: { start_date: firstOfMonth, end_date: undefined },
    'last-month': { start_date: `${endOfLastMonth.slice(0, 7)}-01`, end_date: endOfLastMonth },
    year: { start_date: `${today.slice(0, 4)}-01-01`, end_date: undefined },
  };
  return calendar[name];
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
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

/** What a figure says about its period: "Last 30 days", "1 Mar 2026 – 31 Mar 2026". */
export function periodLabel(name: PeriodName, { start_date, end_date }: Period): string {
  if (name !== 'custom') return periods.find(([option]) => option === name)?.[1] ?? '';
  const [first, last] = [start_date, end_date].map((text) => (text ? shortDate.format(new Date(text)) : 'today'));
  return first === last ? (first ?? '') : `${first} – ${last}`;
}

function daysIn(name: PeriodName, { start_date, end_date }: Period, now: number): number {
  const last = end_date === undefined ? now : Date.parse(end_date);
  return dayCounts[name] ?? Math.floor((last - Date.parse(start_date)) / dayMs) + 1;
}

/** What the period before is called: "the 30 days before". */
export function periodBeforeLabel(name: PeriodName, period: Period, now = Date.now()): string {
  if (name === '24h') return 'the 24 hours before';
  if (name === '12m') return 'the 12 months before';
  const days = daysIn(name, period, now);
  return days === 1 ? 'the day before' : `the ${days} days before`;
}

/** What the chart compares with, and its name: the same weekdays where it shows several weeks of days. */
export function chartComparison(
  name: PeriodName,
  period: Period,
  interval: Interval,
  now = Date.now(),
): { compare: 'previous' | 'previous_weeks'; before: string } {
  const days = daysIn(name, period, now);
  if (interval !== 'day' || days < 7) return { compare: 'previous', before: periodBeforeLabel(name, period, now) };
  const weeks = Math.ceil(days / 7);
  return {
    compare: 'previous_weeks',
    before: weeks === 1 ? 'the week before' : `the same weekdays ${weeks} weeks before`,
  };
}

/** Whether a bucket of a series lasts until after now, so that its scans are those so far. */
export function isSoFar(date: string, interval: Interval, timezone: string, now = Date.now()): boolean {
  if (interval === 'hour') return Date.parse(date) + 3_600_000 > now;
  const today = todayIn(timezone, now);
  if (interval === 'month') return date.slice(0, 7) >= today.slice(0, 7);
  return startOf(date) + (interval === 'week' ? 7 : 1) * dayMs > startOf(today);
}
