import type { ComponentChildren } from 'preact';
import { Failure, Skeleton } from '../parts/states.tsx';
import { ZoneNote } from '../parts/zone-note.tsx';
import { useResource } from '../resource.ts';
import { useRoute } from '../router.ts';
import type { HeatMap as HeatMapData, Summary, TimeSeries } from '../types.ts';
import { Breakdown } from './breakdown.tsx';
import { Chips } from './chips.tsx';
import { Figures } from './figures.tsx';
import type { Filters } from './filters.ts';
import { HeatMap } from './heat-map.tsx';
import type { Happening } from './marks.ts';
import { OverTime } from './over-time.tsx';
import { chartComparison, type Interval, intervalOf, intervals, periodBeforeLabel, periodLabel } from './period.ts';
import { PeriodPicker } from './period-picker.tsx';

/** The reads of one code, or of the account. */
export interface Paths {
  summary: string;
  timeseries: string;
  heatmap: string;
  export: string;
}

interface Props {
  paths: Paths;
  filters: Filters;
  /** When to read again. */
  refresh: { refreshKey?: string; refreshIntervalMs?: number };
  /** Names of selected codes, for their chips. */
  codeNames?: Map<string, string> | undefined;
  /** Shown in place of the lists when nothing was scanned. */
  noScans: ComponentChildren;
  tools?: ComponentChildren;
  /** What happened to the code, for the chart. */
  happenings?: readonly Happening[];
  children?: ComponentChildren;
}

const botsLabel: Record<Filters['bots'], string> = {
  include: 'with scans by bots',
  exclude: 'without scans by bots',
  only: 'only scans by bots',
};

type Shown = Omit<Summary, 'qr_id'>;
/** More countries than there are, and as many cities as a map can show. */
const places = { countries: 250, cities: 100 };

/** Everything about the scans that the URL selects: figures, chart, lists and heat map. */
export function AnalyticsView({
  paths,
  filters,
  refresh,
  codeNames,
  noScans,
  tools,
  happenings = [],
  children,
}: Props) {
  const { query } = useRoute();
  const { name, period, timezone } = filters;
  const interval = (intervals.find(([option]) => option === query.get('interval'))?.[0] ??
    intervalOf(period)) as Interval;
  const { compare, before: beforeChart } = chartComparison(name, period, interval);
  const summary = useResource<Shown>(paths.summary, {
    query: { ...filters.query, ...places, compare: 'previous', include: 'counts' },
    ...refresh,
  });
  const series = useResource<TimeSeries>(paths.timeseries, {
    query: { ...filters.query, compare, interval },
    ...refresh,
  });
  const hours = useResource<HeatMapData>(paths.heatmap, { query: filters.query, ...refresh });
  const label = periodLabel(name, period);
  const before = periodBeforeLabel(name, period);
  const previous = summary.data?.previous?.summary;
  // Compared with nothing, every figure would only be "new".
  const compared = previous === undefined || previous.total_scans === 0 ? undefined : previous;
  return (
    <>
      <PeriodPicker filters={filters} exportPath={paths.export} interval={interval} tools={tools} />
      <Chips filters={filters} codeNames={codeNames} />
      {summary.error !== undefined && summary.data === undefined ? (
        <Failure error={summary.error} retry={summary.reload} />
      ) : summary.data === undefined ? (
        <Skeleton lines={6} />
      ) : (
        <div class="stack analytics" aria-busy={summary.loading || series.loading}>
          <Figures summary={summary.data.summary} previous={compared} filters={filters} />
          <p class="hint">
            {label}, {botsLabel[filters.bots]}. {compared && `▲ and ▼ compare with ${before}. `}
          </p>
          <ZoneNote />
          <section class="card" aria-label="Scans over time">
            <h2>Scans over time</h2>
            {series.error !== undefined ? (
              <Failure error={series.error} retry={series.reload} />
            ) : series.data === undefined ? (
              <Skeleton lines={4} />
            ) : (
              <OverTime series={series.data} before={beforeChart} timezone={timezone} happenings={happenings} />
            )}
          </section>
          {summary.data.summary.total_scans === 0 ? (
            noScans
          ) : (
            <>
              {children}
              <Breakdown summary={summary.data} />
              <HeatMap hours={hours} />
            </>
          )}
        </div>
      )}
    </>
  );
}
