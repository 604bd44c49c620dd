import type { ReportInterval, ReportPeriod } from '../../events/report-periods.ts';
import type { LogoArt } from '../qr/logo-art.ts';

export interface Row {
  name: string;
  scans: number;
}

export interface CodeRow extends Row {
  visitors: number;
  /** In the period before. */
  scansBefore: number;
}

/** The content of a report for a period. */
export interface ReportContent {
  name: string;
  /** The name of the account. */
  owner: string;
  logo: LogoArt | undefined;
  every: ReportInterval;
  timezone: string;
  period: ReportPeriod;
  before: ReportPeriod;
  totals: { scans: number; visitors: number };
  totalsBefore: { scans: number; visitors: number };
  /** A day each, in order. */
  days: { date: string; scans: number }[];
  /** Scans on the days of the period before, which may have more or fewer. */
  daysBefore: number[];
  /** The codes with the most scans; `otherCodes` is the number of all others. */
  codes: CodeRow[];
  otherCodes: number;
  countries: Row[];
  cities: Row[];
  devices: Row[];
  browsers: Row[];
}

const number = new Intl.NumberFormat('en');
const decimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

export const countText = (value: number): string => number.format(value);
export const averageText = (value: number): string => decimal.format(value);

/** How a figure has changed: `+12 %`, `−3 %`, `no change`, or `new` after nothing. */
export function changeText(now: number, before: number): string {
  if (now === before) return 'no change';
  if (before === 0) return 'new';
  const percent = ((now - before) / before) * 100;
  const size = Math.abs(percent);
  const shown = size < 10 ? decimal.format(size) : number.format(Math.round(size));
  return `${percent < 0 ? '−' : '+'}${shown} %`;
}

const dateParts = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
const dateFormat = new Intl.DateTimeFormat('en-GB', dateParts);
const monthFormat = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** `9 – 15 November 2026`, or `November 2026`. */
export function periodText({ first, last }: ReportPeriod, every: ReportInterval): string {
  const [from, to] = [new Date(first), new Date(last)];
  return every === 'month' ? monthFormat.format(from) : dateFormat.formatRange(from, to).replace(/\s*–\s*/u, ' – ');
}

export const titleText = ({ every }: Pick<ReportContent, 'every'>): string =>
  every === 'week' ? 'Weekly report' : 'Monthly report';

/** The name of the file, in ASCII. */
export const fileNameOf = ({ name, period }: Pick<ReportContent, 'name' | 'period'>, extension: string): string => {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .toLowerCase()
    .slice(0, 60);
  return `${words === '' ? 'report' : words}-${period.first}.${extension}`;
};
