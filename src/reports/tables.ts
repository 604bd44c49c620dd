import { printable } from './page.ts';
import { changeText, countText, type ReportContent, type Row } from './report.ts';

/** A table of a report. A row has one figure for each column; `share` is its part of the largest, from 0 to 1. */
export interface ReportTable {
  title: string;
  columns: readonly string[];
  rows: readonly { name: string; figures: readonly string[]; share: number }[];
  note?: string;
}

/** The tables of a report, without those that have no rows. */
export function tablesOf(report: ReportContent): ReportTable[] {
  const { countries, cities, devices, browsers, totals } = report;
  const lists = [
    ['Countries', countries],
    ['Cities', cities],
    ['Devices', devices],
    ['Browsers', browsers],
  ] as const;
  const tables = lists.map(([title, rows]) => listTable(title, rows, totals.scans));
  return [codesTable(report), ...tables].filter(({ rows }) => rows.length > 0);
}

function codesTable({ codes, otherCodes }: ReportContent): ReportTable {
  const max = Math.max(1, ...codes.map(({ scans }) => scans));
  const rows = codes.map(({ name, scans, visitors, scansBefore }) => ({
    name: printable(name, '(no name that can be printed)'),
    figures: [countText(visitors), changeText(scans, scansBefore), countText(scans)],
    share: scans / max,
  }));
  const table = { title: 'Codes', columns: ['visitors', 'change', 'scans'], rows };
  if (otherCodes === 0) return table;
  return { ...table, note: `${countText(otherCodes)} more ${otherCodes === 1 ? 'code has' : 'codes have'} scans.` };
}

function listTable(title: string, rows: readonly Row[], total: number): ReportTable {
  const max = Math.max(1, ...rows.map(({ scans }) => scans));
  return {
    title,
    columns: ['share', 'scans'],
    rows: rows.map(({ name, scans }) => ({
      name: printable(name, 'Unknown'),
      figures: [`${Math.round((scans / Math.max(total, 1)) * 100)} %`, countText(scans)],
      share: scans / max,
    })),
  };
}
