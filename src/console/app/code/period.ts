/** What stretch of time analytics are about, and in which steps. */
export const periods = [
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['90d', 'Last 90 days'],
  ['12m', 'Last 12 months'],
  ['custom', 'From … to …'],
] as const;
export type PeriodName = (typeof periods)[number][0];

export const intervals = [
  ['hour', 'Hours'],
  ['day', 'Days'],
  ['week', 'Weeks'],
  ['month', 'Months'],
] as const;
export type Interval = (typeof intervals)[number][0];

export interface Period {
  start_date: string;
  end_date: string | undefined;
}

const day = 86_400_000;
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
const days: Partial<Record<PeriodName, number>> = { '7d': 7, '30d': 30, '90d': 90, '12m': 365 };

/** Whole days, all of them in UTC as the service counts them; the last is today. */
export function periodOf(name: PeriodName, from: string | null, to: string | null, now = Date.now()): Period {
  // To the whole hour, so that asking again asks for the same.
  if (name === '24h') {
    const start = Math.floor((now - day) / 3_600_000 + 1) * 3_600_000;
    return { start_date: new Date(start).toISOString(), end_date: undefined };
  }
  if (name === 'custom' && from !== null) return { start_date: from, end_date: to !== null && to >= from ? to : from };
  return { start_date: dayOf(now - ((days[name] ?? 30) - 1) * day), end_date: dayOf(now) };
}

/** Steps that make a readable chart: some dozens of them. */
export function intervalOf({ start_date, end_date }: Period, now = Date.now()): Interval {
  const span = ((end_date === undefined ? now : Date.parse(end_date)) - Date.parse(start_date)) / day;
  if (span <= 2) return 'hour';
  if (span <= 100) return 'day';
  return span <= 700 ? 'week' : 'month';
}
