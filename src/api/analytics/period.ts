import { type Static, Type as t } from '@sinclair/typebox';
import { type FieldError, invalid } from '../../lib/errors.ts';

const date = (description: string) =>
  t.Optional(t.String({ description, examples: ['2026-03-01'], 'x-expected': 'a date or a timestamp' }));

/** Query parameters that select a period. */
export const periodQuery = {
  start_date: date(
    'First day, `YYYY-MM-DD` in UTC, or a full ISO 8601 timestamp (UTC if it has no zone). Default: 30 days before the ' +
      'end; if `end_date` is a plain date, the 30 days up to and including it.',
  ),
  end_date: date(
    'Last day, included in full, or a full timestamp. Default: now; if `start_date` is in the future, the end of that ' +
      'day, or the same timestamp.',
  ),
};

export type PeriodQuery = Static<ReturnType<typeof t.Object<typeof periodQuery>>>;

/** From the first to the last millisecond, both included. */
export interface Period {
  start: Date;
  end: Date;
}

export const presentPeriod = ({ start, end }: Period) => ({ start: start.toISOString(), end: end.toISOString() });

export const dayMs = 86_400_000;

/** Length in days, at least 1. Rounded to seconds, since a whole day ends one millisecond before the next. */
export const daysOf = ({ start, end }: Period) =>
  Math.max(1, Math.round((end.getTime() - start.getTime()) / 1000) / (dayMs / 1000));

/** The period of equal length that ends where this one starts. */
export const periodBefore = ({ start, end }: Period): Period => ({
  start: new Date(2 * start.getTime() - end.getTime() - 1),
  end: new Date(start.getTime() - 1),
});

/** A parsed parameter: a plain date is a whole day, a timestamp one millisecond. */
interface TimeRange {
  from: number;
  to: number;
}

const firstYear = 1900;
const lastYear = 2299;
const expected =
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

function parseTime(text: string): TimeRange | undefined {
  const day = dayOf(text);
  if (day !== undefined) return { from: day, to: day + dayMs - 1 };
  const [, dayText = '', hour, minute, second = '0', fraction = '', zone = 'Z', zoneHour = '0', zoneMinute = '0'] =
    fullTimestamp.exec(text) ?? [];
  const midnight = dayOf(dayText);
  if (midnight === undefined) return undefined;
  const ms =
    ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000 * (zone.startsWith('-') ? -1 : 1);
  const time = midnight + ms - offset;
  return { from: time, to: time };
}

/** The period of a query; throws 400 for invalid dates. */
export function periodOf({ start_date, end_date }: PeriodQuery, now: Date): Period {
  const errors: FieldError[] = [];
  const parse = (field: 'start_date' | 'end_date', text: string | undefined) => {
    if (text === undefined) return undefined;
    const time = parseTime(text);
    if (time === undefined) errors.push({ field, message: `${field} ${expected}.` });
    return time;
  };
  const first = parse('start_date', start_date);
  const last = parse('end_date', end_date);
  if (first !== undefined && last !== undefined && first.from > last.to)
    errors.push({ field: 'start_date', message: 'start_date must not be after end_date.' });
  const [error, ...more] = errors;
  if (error !== undefined) throw invalid([error, ...more]);

  const end = last?.to ?? endOf(first, now.getTime());
  const start = first?.from ?? startOf(last ?? { from: end, to: end });
  return { start: new Date(start), end: new Date(end) };
}

const endOf = (first: TimeRange | undefined, now: number) => (first !== undefined && first.from > now ? first.to : now);

/** A plain `end_date` is the last of 30 days; a timestamp ends a period of 30 × 24 hours. */
const startOf = ({ from, to }: TimeRange) => (from === to ? to - 30 * dayMs : from - 29 * dayMs);
