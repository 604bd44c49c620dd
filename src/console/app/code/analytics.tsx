import { useEffect, useState } from 'preact/hooks';
import { country, displayName, number, percent } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { Empty, Failure, Skeleton } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { useRoute } from '../router.ts';
import type { QrCode, Summary, TimeSeries } from '../types.ts';
import { Attribution } from './attribution.tsx';
import { Bars } from './bars.tsx';
import { bucketName, TimeChart } from './chart.tsx';
import { CountCells, CountHeaders } from './counts.tsx';
import { SplitByDestination } from './destinations.tsx';
import { type Interval, intervalOf, intervals, type PeriodName, periodOf } from './period.ts';
import { PeriodPicker } from './period-picker.tsx';

/** Changes with every new scan and again 2.5 s later, since analytics lag the scan counter by up to 2 s. */
function useRefreshKey(total: number): number {
  const [settled, setSettled] = useState(total);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(total), 2_500);
    return () => clearTimeout(timer);
  }, [total]);
  return total + settled;
}

export function Analytics({ code }: { code: QrCode }) {
  const { query } = useRoute();
  const name = (query.get('period') ?? '30d') as PeriodName;
  const period = periodOf(name, query.get('from'), query.get('to'));
  const interval = (intervals.find(([option]) => option === query.get('interval'))?.[0] ??
    intervalOf(period)) as Interval;
  const filters = { ...period, bots: query.get('bots') ?? undefined };
  const refreshKey = useRefreshKey(code.total_scans);
  const base = `/qrcodes/${code.id}/analytics`;
  const summary = useResource<Summary>(base, { query: filters, refreshKey });
  const series = useResource<TimeSeries>(`${base}/timeseries`, { query: { ...filters, interval }, refreshKey });

  return (
    <>
      <PeriodPicker code={code} name={name} period={period} interval={interval} />
      {summary.error !== undefined && summary.data === undefined ? (
        <Failure error={summary.error} retry={summary.reload} />
      ) : summary.data === undefined ? (
        <Skeleton lines={6} />
      ) : (
        <div class="analytics" aria-busy={summary.loading || series.loading}>
          <Figures summary={summary.data.summary} />
          <section class="card" aria-label="Scans over time">
            <h3>Scans over time</h3>
            {series.error !== undefined ? (
              <Failure error={series.error} retry={series.reload} />
            ) : series.data === undefined ? (
              <Skeleton lines={4} />
            ) : (
              <ScansOverTime series={series.data} />
            )}
          </section>
          {summary.data.summary.total_scans === 0 ? <NoScans code={code} /> : <Breakdown summary={summary.data} />}
          <SplitByDestination code={code} query={filters} refreshKey={refreshKey} />
        </div>
      )}
    </>
  );
}

function Figures({ summary: { total_scans, unique_visitors, avg_daily_scans } }: { summary: Summary['summary'] }) {
  return (
    <dl class="figures">
      <div class="card">
        <dt>Scans</dt>
        <dd>{number(total_scans)}</dd>
      </div>
      <div class="card">
        <dt>Visitors</dt>
        <dd>{number(unique_visitors)}</dd>
      </div>
      <div class="card">
        <dt>Daily scans</dt>
        <dd>{number(avg_daily_scans)}</dd>
      </div>
      <div class="card">
        <dt>New vs. returning visitors</dt>
        <dd class="visitor-split">
          {total_scans > 0 && (
            <span class="track" aria-hidden="true">
              <span style={{ inlineSize: `${(unique_visitors / total_scans) * 100}%` }} />
            </span>
          )}
          <ScanShare label="New" scans={unique_visitors} total={total_scans} />
          <ScanShare label="Returning" scans={total_scans - unique_visitors} total={total_scans} />
        </dd>
      </div>
    </dl>
  );
}

const ScanShare = ({ label, scans, total }: { label: string; scans: number; total: number }) => (
  <span>
    {label} <strong>{number(scans)}</strong>
    {total > 0 && ` (${percent(scans / total)})`}
  </span>
);

function ScansOverTime({ series }: { series: TimeSeries }) {
  const { interval } = series;
  return (
    <>
      <TimeChart series={series.data} interval={interval} />
      <details>
        <summary>View as table</summary>
        <Scroll label="Table of scans over time">
          <table>
            <thead>
              <tr>
                <th scope="col">Date</th>
                <CountHeaders />
              </tr>
            </thead>
            <tbody>
              {series.data.toReversed().map((bucket) => (
                <tr key={bucket.date}>
                  <td>{bucketName(bucket.date, interval)}</td>
                  <CountCells counts={bucket} />
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </>
  );
}

const NoScans = ({ code }: { code: QrCode }) => (
  <Empty title={code.total_scans === 0 ? 'No scans yet' : 'No scans in this period'}>
    <p>
      {code.total_scans === 0
        ? 'Scan the code or open its short link. The scan shows up here within seconds.'
        : 'Try a longer period.'}
    </p>
  </Empty>
);

const rankedRows = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([value, scans]) => ({ label: displayName(value), scans }))
    .sort((a, b) => b.scans - a.scans);

const Breakdown = ({ summary: { summary, top_countries, top_cities, devices, browsers } }: { summary: Summary }) => (
  <div class="breakdown">
    <Bars
      title="Countries"
      total={summary.total_scans}
      rows={top_countries.map(({ country: code, scans }) => ({ label: country(code), scans }))}
      empty="No location data"
    />
    <Bars
      title="Cities"
      total={summary.total_scans}
      rows={top_cities.map(({ city, country: code, scans }) => ({
        label: city,
        hint: code === 'XX' ? undefined : country(code),
        scans,
      }))}
      empty="No location data"
    />
    <Bars title="Devices" total={summary.total_scans} rows={rankedRows(devices)} empty="No device data" />
    <Bars title="Browsers" total={summary.total_scans} rows={rankedRows(browsers)} empty="No browser data" />
    <Attribution />
  </div>
);
