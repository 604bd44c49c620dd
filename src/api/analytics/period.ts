import { type Static, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { type Fault, invalid } from '../../lib/errors.ts';
import { botChoices } from '../../warehouse/selection.ts';

const date = (description: string) =>
  t.Optional(t.String({ description, examples: ['2026-03-01'], 'x-expected': 'a date or a timestamp' }));

/** What every read of analytics takes. */
export const periodQuery = {
  start_date: date(
    'First day, `YYYY-MM-DD` in UTC, or a full ISO 8601 timestamp (without a zone: UTC). Default: 30 days before the end; ' +
      'with a plain `end_date`, the 30 days that end with it.',
  ),
  end_date: date(
    'Last day, included to its end, or a full timestamp. Default: now; with a `start_date` still to come, the end of ' +
      'that day, or that very moment.',
  ),
  bots: t.Optional(
    oneOf(botChoices, {
      default: 'include',
      description: 'Every scan is counted; `exclude` leaves out those by programs, `only` leaves out all others.',
    }),
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

/** How many days of the calendar a period touches. */
export const daysOf = ({ start, end }: Period) =>
  Math.floor(end.getTime() / dayMs) - Math.floor(start.getTime() / dayMs) + 1;

/** A time as it was given: a plain date is a whole day. */
interface Given {
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

/** Midnight, UTC; nothing for a day that is in no calendar. */
function dayOf(text: string): number | undefined {
  const [, year, month, day] = (plainDate.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const midnight = new Date(Date.UTC(year, month - 1, day));
  const exists = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day;
  return exists && year >= firstYear && year <= lastYear ? midnight.getTime() : undefined;
}

function read(text: string): Given | undefined {
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

/** The period that a query asks for. */
export function periodOf({ start_date, end_date }: PeriodQuery, now: Date): Period {
  const faults: Fault[] = [];
  const given = (field: 'start_date' | 'end_date', text: string | undefined) => {
    if (text === undefined) return undefined;
    const time = read(text);
    if (time === undefined) faults.push({ field, message: `${field} ${expected}.` });
    return time;
  };
  const first = given('start_date', start_date);
  const last = given('end_date', end_date);
  if (first !== undefined && last !== undefined && first.from > last.to)
    faults.push({ field: 'start_date', message: 'start_date must not be after end_date.' });
  const [fault, ...more] = faults;
  if (fault !== undefined) throw invalid([fault, ...more]);

  const end = last?.to ?? endOf(first, now.getTime());
  const start = first?.from ?? startOf(last ?? { from: end, to: end });
  return { start: new Date(start), end: new Date(end) };
}

const endOf = (first: Given | undefined, now: number) => (first !== undefined && first.from > now ? first.to : now);

/** A plain last day is the last of 30; a moment has 30 times 24 hours before it. */
const startOf = ({ from, to }: Given) => (from === to ? to - 30 * dayMs : from - 29 * dayMs);
