import type { Figures, Totals } from '../../analytics/figures.ts';
import { daysOf, type Period, presentPeriod } from './period.ts';
import { browsers, devices, type SummaryFigures } from './schemas.ts';

const sum = (counts: { scans: number }[]) => counts.reduce((total, { scans }) => total + scans, 0);

/** Caps `visitors`, which may be an estimate, at the number of scans. */
export const presentCounts = ({ scans, visitors }: { scans: number; visitors: number }) => ({
  total_scans: scans,
  unique_visitors: Math.min(visitors, scans),
});

/** What a summary has beside the figures that it always has. */
type Include = 'counts' | undefined;

export const presentFigures = (totals: Totals, period: Period, include: Include): SummaryFigures => ({
  ...presentCounts(totals),
  avg_daily_scans: Math.round((totals.scans * 100) / daysOf(period)) / 100,
  ...(include === 'counts' && { unique_scans: totals.uniqueScans, bot_scans: totals.botScans }),
});

/** `previous`, where a read has compared with an earlier period. */
export const presentPrevious = (totals: Totals, period: Period, include: Include) => ({
  previous: { period: presentPeriod(period), summary: presentFigures(totals, period, include) },
});

const countsBy = <T extends string>(names: readonly T[], countOf: (name: T) => number) =>
  Object.fromEntries(names.map((name) => [name, countOf(name)]));

export const presentDistribution = ({ clients, countries, cities }: Figures) => ({
  top_countries: countries,
  top_cities: cities,
  devices: countsBy(devices, (name) => sum(clients.filter(({ device }) => device === name))),
  browsers: countsBy(browsers, (name) => sum(clients.filter(({ browser }) => browser === name))),
});
