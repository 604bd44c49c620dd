import type { ReportContent } from './report.ts';

/** Spreadsheets run what begins with one of these as a formula. */
const formula = /^[=+\-@\t\r]/;

const cell = (value: string | number): string => {
  const text = typeof value === 'string' && formula.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A report as CSV (RFC 4180): one figure a line, all in one table, so that a spreadsheet can filter it. */
export function writeReportCsv(report: ReportContent): Uint8Array<ArrayBuffer> {
  const { period, before, totals, totalsBefore, days, codes } = report;
  const lists = (['countries', 'cities', 'devices', 'browsers'] as const).flatMap((list) =>
    report[list].map(({ name, scans }) => [list, name, scans, '', '']),
  );
  const rows: (string | number)[][] = [
    ['table', 'name', 'scans', 'visitors', 'scans_before'],
    ['period', `${period.first}/${period.last}`, totals.scans, totals.visitors, totalsBefore.scans],
    ['period before', `${before.first}/${before.last}`, totalsBefore.scans, totalsBefore.visitors, ''],
    ...days.map(({ date, scans }) => ['days', date, scans, '', '']),
    ...codes.map(({ name, scans, visitors, scansBefore }) => ['codes', name, scans, visitors, scansBefore]),
    ...lists,
  ];
  return new TextEncoder().encode(`${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`);
}
