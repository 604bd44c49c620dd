import type { ReportInterval, ReportPeriod } from '../../events/report-periods.ts';
import type { LogoArt } from '../qr/logo-art.ts';
import { localeOf, textsIn } from '../texts/in-language.ts';
import type { ReportTexts, ShareTexts } from '../texts/texts.ts';

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
  language: string;
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

/** How a report is written in its language. */
export interface ReportWriting {
  /** What shared pages and reports both say, and what only reports say. */
  common: ShareTexts;
  words: ReportTexts;
  count(value: number): string;
  average(value: number): string;
  /** How a figure has changed: `+12 %`, `−3 %`, `no change`, or `new` after nothing. */
  change(now: number, before: number): string;
  /** `9 – 15 November 2026`, or `November 2026`. */
  period(period: ReportPeriod, every: ReportInterval): string;
  /** `Mon 9` */
  day(date: string): string;
  title(every: ReportInterval): string;
}

/** Fonts lack the narrow spaces that some languages have in numbers and between dates. */
const withPlainSpaces = (text: string) => text.replace(/[\u2009\u202f]/gu, '\u00a0');

const dateParts = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;

export function writingIn(language: string): ReportWriting {
  const { share: common, report: words } = textsIn(language);
  const locale = localeOf(language);
  const number = new Intl.NumberFormat(locale);
  const decimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
  const dates = new Intl.DateTimeFormat(locale, dateParts);
  const months = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const days = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', timeZone: 'UTC' });
  const count = (value: number) => withPlainSpaces(number.format(value));
  return {
    common,
    words,
    count,
    average: (value) => withPlainSpaces(decimal.format(value)),
    change(now, before) {
      if (now === before) return words.noChange;
      if (before === 0) return words.isNew;
      const percent = ((now - before) / before) * 100;
      const size = Math.abs(percent);
      const shown = size < 10 ? withPlainSpaces(decimal.format(size)) : count(Math.round(size));
      return `${percent < 0 ? '−' : '+'}${shown} %`;
    },
    period({ first, last }, every) {
      const [from, to] = [new Date(first), new Date(last)];
      if (every === 'month') return withPlainSpaces(months.format(from));
      return withPlainSpaces(dates.formatRange(from, to).replace(/\s*–\s*/u, ' – '));
    },
    day: (date) => withPlainSpaces(days.format(new Date(date))),
    title: (every) => (every === 'week' ? words.weekly : words.monthly),
  };
}

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
