import type { Figures, Totals } from '../../analytics/figures.ts';
import { daysOf, type Period, presentPeriod } from './period.ts';
import { browsers, devices, type SummaryFigures } from './schemas.ts';

const sum = (counts: { scans: number }[]) => counts.reduce((total, { scans }) => total + scans, 0);

/** Caps `visitors`, which may be an estimate, at the number of scans. */
export const presentCounts = ({ scans, visitors }: { scans: number; visitors: number }) => ({
  total_scans: scans,
  unique_visitors: Math.min(visitors, scans),
});

export const presentFigures = ({ scans, visitors, uniqueScans, botScans }: Totals, period: Period): SummaryFigures => ({
  ...presentCounts({ scans, visitors }),
  avg_daily_scans: Math.round((scans * 100) / daysOf(period)) / 100,
  unique_scans: uniqueScans,
  bot_scans: botScans,
});

/** `previous`, where a read has compared with the period before. */
export const presentPrevious = (totals: Totals | undefined, period: Period) =>
  totals === undefined ? {} : { previous: { period: presentPeriod(period), summary: presentFigures(totals, period) } };

const countsBy = <T extends string>(names: readonly T[], countOf: (name: T) => number) =>
  Object.fromEntries(names.map((name) => [name, countOf(name)]));

export const presentDistribution = ({ clients, countries, cities }: Figures) => ({
  top_countries: countries,
  top_cities: cities,
  devices: countsBy(devices, (name) => sum(clients.filter(({ device }) => device === name))),
  browsers: countsBy(browsers, (name) => sum(clients.filter(({ browser }) => browser === name))),
});
