import { printable } from './page.ts';
import type { ReportContent, ReportWriting, Row } from './report.ts';

/** A table of a report. A row has one figure for each column; `share` is its part of the largest, from 0 to 1. */
export interface ReportTable {
  title: string;
  columns: readonly string[];
  rows: readonly { name: string; figures: readonly string[]; share: number }[];
  note?: string;
}

/** The tables of a report, without those that have no rows. */
export function tablesOf(report: ReportContent, writing: ReportWriting): ReportTable[] {
  const { countries, cities, devices, browsers, totals } = report;
  const { common, words } = writing;
  const lists = [
    [common.countries, countries],
    [words.cities, cities],
    [common.devices, devices],
    [common.browsers, browsers],
  ] as const;
  const tables = lists.map(([title, rows]) => listTable(title, rows, totals.scans, writing));
  return [codesTable(report, writing), ...tables].filter(({ rows }) => rows.length > 0);
}

function codesTable(
  { codes, otherCodes }: ReportContent,
  { common, words, count, change }: ReportWriting,
): ReportTable {
  const max = Math.max(1, ...codes.map(({ scans }) => scans));
  const rows = codes.map(({ name, scans, visitors, scansBefore }) => ({
    name: printable(name, words.unnamed),
    figures: [count(visitors), change(scans, scansBefore), count(scans)],
    share: scans / max,
  }));
  const table = { title: common.codes, columns: [common.visitors, words.change, common.scans], rows };
  return otherCodes === 0 ? table : { ...table, note: words.otherCodes(count(otherCodes)) };
}

function listTable(
  title: string,
  rows: readonly Row[],
  total: number,
  { common, words, count }: ReportWriting,
): ReportTable {
  const max = Math.max(1, ...rows.map(({ scans }) => scans));
  return {
    title,
    columns: [words.share, common.scans],
    rows: rows.map(({ name, scans }) => ({
      name: printable(name, common.unknown),
      figures: [`${Math.round((scans / Math.max(total, 1)) * 100)} %`, count(scans)],
      share: scans / max,
    })),
  };
}
