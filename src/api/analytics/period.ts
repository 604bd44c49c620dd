import { type Static, Type as t } from '@sinclair/typebox';
import { offsetOf, timeZoneNamed, timeZoneProblem } from '../../../events/targeting/local-time.ts';
import { dayMs, instantAt } from '../../analytics/calendar.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';

const date = (description: string) =>
  t.Optional(t.String({ description, examples: ['2026-03-01'], 'x-expected': 'a date or a timestamp' }));

/** Query parameters that select a period. */
export const periodQuery = {
  start_date: date(
    'First day, `YYYY-MM-DD` in `timezone`, or a full ISO 8601 timestamp (in `timezone` if it has no offset). Default: 30 ' +
      'days before the end; if `end_date` is a plain date, the 30 days up to and including it.',
  ),
  end_date: date(
    'Last day, included in full, or a full timestamp. Default: now; if `start_date` is in the future, the end of that ' +
      'day, or the same timestamp.',
  ),
  timezone: t.Optional(
    t.String({
      default: 'UTC',
      description:
        'IANA name of the time zone of plain dates, of the buckets of time series, and of weekdays and hours; daylight ' +
        'saving included: 2026-03-29 has 23 hours in Europe/Berlin. Timestamps in responses stay in UTC.',
      examples: ['Europe/Berlin'],
      'x-expected': 'the IANA name of a time zone, such as Europe/Berlin',
    }),
  ),
};

export type PeriodQuery = Static<ReturnType<typeof t.Object<typeof periodQuery>>>;

/** From the first to the last millisecond, both included. */
export interface Period {
  start: Date;
  end: Date;
  timezone: string;
  /** The first and the last day of a period of plain dates: midnight UTC of these dates. */
  dates: { first: number; last: number } | undefined;
}

export const presentPeriod = ({ start, end }: Period) => ({ start: start.toISOString(), end: end.toISOString() });

/** Length in days, at least 1. A plain date is one day, however many hours it has. Rounded to seconds. */
export function daysOf({ start, end, dates }: Period): number {
  if (dates !== undefined) return (dates.last - dates.first) / dayMs + 1;
  return Math.max(1, Math.round((end.getTime() - start.getTime()) / 1000) / (dayMs / 1000));
}

export const comparisons = ['previous', 'previous_weeks', 'week_before', 'year_before'] as const;
export type Comparison = (typeof comparisons)[number];

/** 52 weeks, so that weekdays stay. */
const yearDays = 364;

/** The period that a read is compared with. */
export function comparedPeriod(period: Period, comparison: Comparison, now: Date): Period {
  if (comparison === 'week_before') return movedBack(period, 7);
  if (comparison === 'year_before') return movedBack(period, yearDays);
  if (comparison === 'previous_weeks') return movedBack(period, Math.ceil(daysOf(period) / 7) * 7);
  const days = period.dates === undefined ? daysUntilNow(period, now) : daysOf(period);
  return days === undefined ? periodBefore(period) : movedBack(period, days);
}

/** Moved by days on the clocks of its zone: 14:37 stays 14:37, however many hours the days between have. */
function movedBack({ start, end, timezone, dates }: Period, days: number): Period {
  const backMs = days * dayMs;
  if (dates !== undefined) return { ...wholeDays(dates.first - backMs, dates.last - backMs, timezone), timezone };
  const moved = (time: Date) => new Date(instantAt(timezone, localTime(timezone, time.getTime()) - backMs));
  return { start: moved(start), end: moved(end), timezone, dates };
}

/** The days of a period that begins with a day and ends in the present one, which counts in full; otherwise undefined. */
function daysUntilNow({ start, end, timezone }: Period, now: Date): number | undefined {
  const dayOfTime = (time: Date) => Math.floor(localTime(timezone, time.getTime()) / dayMs);
  const first = dayOfTime(start);
  const isWholeDay = instantAt(timezone, first * dayMs) === start.getTime();
  return isWholeDay && dayOfTime(end) === dayOfTime(now) ? dayOfTime(end) - first + 1 : undefined;
}

/** A time on the clocks of a zone, as if they showed UTC. */
const localTime = (timezone: string, ms: number) => ms + offsetOf(timezone, ms);

/** The period of equal length that ends where this one starts. */
const periodBefore = ({ start, end, timezone }: Period): Period => ({
  start: new Date(2 * start.getTime() - end.getTime() - 1),
  end: new Date(start.getTime() - 1),
  timezone,
  dates: undefined,
});

const wholeDays = (first: number, last: number, timezone: string) => ({
  start: new Date(instantAt(timezone, first)),
  end: new Date(instantAt(timezone, last + dayMs) - 1),
  dates: { first, last },
});

/** A parsed parameter: a plain date is a whole day, a timestamp one millisecond. */
interface TimeRange {
  from: number;
  to: number;
  /** Midnight UTC of a plain date. */
  date?: number;
}

const firstYear = 1900;
const lastYear = 2299;
export const timeProblem =
  `must be a date such as 2026-03-01, or a timestamp such as 2026-03-01T09:30:00Z, ` +
  `of the years ${firstYear} to ${lastYear}`;

const plainDate = /^(\d{4})-(\d\d)-(\d\d)$/;
// A plus sign that was not escaped arrives as a space.
const fullTimestamp =
  /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)?([Zz]|[+\- ]([01]\d|2[0-3]):?([0-5]\d)?)?$/;

/** Midnight UTC of a plain date; undefined for a day that does not exist. */
function dayOf(text: string): number | undefined {
  const [, year, month, day] = (plainDate.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const midnight = new Date(Date.UTC(year, month - 1, day));
  const exists = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day;
  return exists && year >= firstYear && year <= lastYear ? midnight.getTime() : undefined;
}

/** Undefined if the text is neither a date nor a timestamp. */
export function parseTime(text: string, timezone: string): TimeRange | undefined {
  const date = dayOf(text);
  if (date !== undefined) {
    return { from: instantAt(timezone, date), to: instantAt(timezone, date + dayMs) - 1, date };
  }
  const [, dayText = '', hour, minute, second = '0', fraction = '', zone, zoneHour = '0', zoneMinute = '0'] =
    fullTimestamp.exec(text) ?? [];
  const midnight = dayOf(dayText);
  if (midnight === undefined) return undefined;
  const ms =
    ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000 * (zone?.startsWith('-') ? -1 : 1);
  const time = zone === undefined ? instantAt(timezone, midnight + ms) : midnight + ms - offset;
  return { from: time, to: time };
}

/** The period of a query; throws 400 for invalid dates or time zones. */
export function periodOf({ start_date, end_date, timezone: zoneName = 'UTC' }: PeriodQuery, now: Date): Period {
  const errors: FieldError[] = [];
  const named = timeZoneNamed(zoneName);
  if (named === undefined) errors.push({ field: 'timezone', message: `timezone ${timeZoneProblem}.` });
  const timezone = named ?? 'UTC';
  const parse = (field: 'start_date' | 'end_date', text: string | undefined) => {
    if (text === undefined) return undefined;
    const time = parseTime(text, timezone);
    if (time === undefined) errors.push({ field, message: `${field} ${timeProblem}.` });
    return time;
  };
  const first = parse('start_date', start_date);
  const last = parse('end_date', end_date);
  if (first !== undefined && last !== undefined && first.from > last.to)
    errors.push({ field: 'start_date', message: 'start_date must not be after end_date.' });
  const [error, ...more] = errors;
  if (error !== undefined) throw invalid([error, ...more]);

  const lastDate = last === undefined && first !== undefined && first.from > now.getTime() ? first.date : last?.date;
  const firstDate = first === undefined && lastDate !== undefined ? lastDate - (defaultDays - 1) * dayMs : first?.date;
  if (firstDate !== undefined && lastDate !== undefined) {
    return { ...wholeDays(firstDate, lastDate, timezone), timezone };
  }
  const end = last?.to ?? Math.max(first?.from ?? 0, now.getTime());
  const start = first?.from ?? end - defaultDays * dayMs;
  return { start: new Date(start), end: new Date(end), timezone, dates: undefined };
}

const defaultDays = 30;
