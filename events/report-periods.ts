import { instantOf, offsetOf } from './targeting/local-time.ts';

export const reportIntervals = ['week', 'month'] as const;
export type ReportInterval = (typeof reportIntervals)[number];

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** 1970-01-05, a Monday. */
const firstMondayMs = 4 * dayMs;
/** When a report is mailed on the first day after its period: in the morning, when scans that arrive late are there. */
const mailedAtMs = 6 * hourMs;
/** A period that ended longer ago is not mailed any more, so that a service without mail for a year does not send 52. */
const maxLateMs = 31 * dayMs;

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const msOf = (date: string) => Date.parse(`${date}T00:00:00Z`);

/** Days of the calendar, such as 2026-11-09, both included. */
export interface ReportPeriod {
  first: string;
  last: string;
}

/** The period that a day is in. Weeks begin on Monday. */
function periodFrom(ms: number, every: ReportInterval): ReportPeriod {
  const day = new Date(ms);
  if (every === 'month')
    return {
      first: dateOf(Date.UTC(day.getUTCFullYear(), day.getUTCMonth())),
      last: dateOf(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)),
    };
  const first = Math.floor((ms - firstMondayMs) / (7 * dayMs)) * 7 * dayMs + firstMondayMs;
  return { first: dateOf(first), last: dateOf(first + 6 * dayMs) };
}

/** The period that the calendar of a zone shows at a time. */
export const periodAt = (at: Date, every: ReportInterval, timezone: string): ReportPeriod =>
  periodFrom(at.getTime() + offsetOf(timezone, at.getTime()), every);

export const periodStarting = (first: string, every: ReportInterval): ReportPeriod => periodFrom(msOf(first), every);

export const periodBefore = ({ first }: Pick<ReportPeriod, 'first'>, every: ReportInterval): ReportPeriod =>
  periodFrom(msOf(first) - dayMs, every);

export const periodAfter = ({ last }: Pick<ReportPeriod, 'last'>, every: ReportInterval): ReportPeriod =>
  periodFrom(msOf(last) + dayMs, every);

/** When the report about a period is mailed. */
export const dueAt = ({ last }: Pick<ReportPeriod, 'last'>, timezone: string): Date =>
  new Date(instantOf(msOf(last) + dayMs + mailedAtMs, timezone));

/** Whether it is too late to mail the report about a period. */
export const isTooLate = (period: Pick<ReportPeriod, 'last'>, timezone: string, now: Date): boolean =>
  now.getTime() - dueAt(period, timezone).getTime() > maxLateMs;
