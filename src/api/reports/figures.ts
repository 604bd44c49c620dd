import type { Owner } from '../../../events/owner.ts';
import type { Report } from '../../../events/report.ts';
import { periodBefore, type ReportPeriod } from '../../../events/report-periods.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { type CodeFigures, readCodes } from '../../analytics/codes.ts';
import { type Figures, readFigures, readTotals } from '../../analytics/figures.ts';
import { readSeries } from '../../analytics/series.ts';
import { codesWith, codesWithIds, type ListedCode } from '../../codes/codes.ts';
import { findArt } from '../../codes/logos.ts';
import { notFound } from '../../lib/errors.ts';
import type { ReportContent, Row } from '../../reports/report.ts';
import { localeOf, textsIn } from '../../texts/in-language.ts';
import { bucketsOf } from '../analytics/buckets.ts';
import { periodOf } from '../analytics/period.ts';
import { readWarehouse } from '../analytics/reading.ts';
import type { Service } from '../service.ts';

/** What decides what a report says. */
export type ReportRequest = Owner & Pick<Report, 'name' | 'every' | 'timezone' | 'language' | 'codes' | 'tags'>;

type Warehouse = Pick<Service, 'sql' | 'warehouse'>;

const maxCodes = 50;
/** Codes of the period before whose scans can be compared. */
const maxComparedCodes = 1_000;
const maxRows = 10;

/** Reads the content of a report for a period. Throws 404 if the account does not exist any more. */
export async function readReport(
  service: Warehouse,
  request: ReportRequest,
  period: ReportPeriod,
): Promise<ReportContent> {
  const { sql } = service;
  const { account: id, mode, name, every, timezone, language } = request;
  const account = await findAccount(sql, id);
  if (account === undefined) throw notFound('account');
  const codes = await codesOf(service, request);
  const selected = { account: id, mode, bots: 'exclude', codes: { among: codes.map((code) => code.id) } } as const;
  const before = periodBefore(period, every);
  const daysOf = ({ first, last }: ReportPeriod) =>
    periodOf({ start_date: first, end_date: last, timezone }, new Date());
  const [now, earlier] = [daysOf(period), daysOf(before)];
  const [selection, selectionBefore] = [
    { ...selected, ...now },
    { ...selected, ...earlier },
  ];
  const { found } = await readWarehouse(service, request, (reading) =>
    Promise.all([
      readFigures(reading, selection),
      readSeries(reading, selection, 'day'),
      readCodes(reading, selection, { offset: 0, limit: maxCodes }),
      readTotals(reading, selectionBefore),
      readSeries(reading, selectionBefore, 'day'),
      readCodes(reading, selectionBefore, { offset: 0, limit: maxComparedCodes }),
    ]),
  );
  const [figures, series, ranked, totalsBefore, seriesBefore, rankedBefore] = found;
  const logo = account.guest_page?.logo ?? undefined;
  return {
    name,
    owner: account.name,
    logo: logo === undefined ? undefined : await findArt(sql, logo),
    language,
    every,
    timezone,
    period,
    before,
    totals: totalsOf(figures),
    totalsBefore: totalsOf(totalsBefore),
    days: bucketsOf(now, 'day').map((date) => ({ date, scans: series.get(date)?.scans ?? 0 })),
    daysBefore: bucketsOf(earlier, 'day').map((date) => seriesBefore.get(date)?.scans ?? 0),
    codes: codeRows(ranked.codes, codes, rankedBefore.codes),
    otherCodes: Math.max(0, ranked.total - ranked.codes.length),
    ...listsOf(figures, language),
  };
}

const totalsOf = ({ scans, visitors }: Pick<Figures, 'scans' | 'visitors'>) => ({
  scans,
  // Estimated above some thousands.
  visitors: Math.min(visitors, scans),
});

/** The codes of a report that are not deleted, as they are now. */
async function codesOf({ sql }: Warehouse, request: ReportRequest): Promise<ListedCode[]> {
  if (request.codes !== null) return [...(await codesWithIds(sql, request, request.codes)).values()];
  return codesWith(sql, request, { tags: { tags: request.tags ?? [], match: 'any' } });
}

function codeRows(now: readonly CodeFigures[], codes: readonly ListedCode[], before: readonly CodeFigures[]) {
  const names = new Map(codes.map(({ id, name }) => [id, name]));
  const scansBefore = new Map(before.map(({ code, scans }) => [code, scans]));
  return now.map(({ code, scans, visitors }) => ({
    name: names.get(code) ?? '',
    scans,
    visitors: Math.min(visitors, scans),
    scansBefore: scansBefore.get(code) ?? 0,
  }));
}

const labels: Record<string, string> = {
  android: 'Android',
  safari: 'Safari',
  chrome: 'Chrome',
  samsung_browser: 'Samsung Internet',
};

function listsOf({ countries, cities, clients }: Figures, language: string) {
  const { share, report } = textsIn(language);
  const regions = new Intl.DisplayNames(localeOf(language), { type: 'region', fallback: 'code' });
  // `of` throws for anything but two letters.
  const countryName = (country: string) =>
    country === 'XX' || !/^[A-Z]{2}$/.test(country) ? share.unknown : (regions.of(country) ?? country);
  const named: Record<string, string> = Object.assign(
    { ios: report.appleMobile, desktop: report.computer, other: share.other },
    labels,
  );
  return {
    countries: countries.map(({ country, scans }) => ({ name: countryName(country), scans })),
    cities: cities.map(({ city, country, scans }) => ({
      name: city === 'Unknown' ? share.unknown : `${city}, ${countryName(country)}`,
      scans,
    })),
    devices: summed(clients.map(({ device, scans }) => ({ name: named[device] ?? device, scans }))),
    browsers: summed(clients.map(({ browser, scans }) => ({ name: named[browser] ?? browser, scans }))),
  };
}

/** One row for each name, most scans first. */
function summed(rows: readonly Row[]): Row[] {
  const sums = new Map<string, number>();
  for (const { name, scans } of rows) sums.set(name, (sums.get(name) ?? 0) + scans);
  return [...sums]
    .map(([name, scans]) => ({ name, scans }))
    .sort((a, b) => b.scans - a.scans || (a.name < b.name ? -1 : 1))
    .slice(0, maxRows);
}
