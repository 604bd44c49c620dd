import { useEffect, useState } from 'preact/hooks';
import { country, named, number, percent } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { Empty, Failure, Skeleton } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { usePlace } from '../router.ts';
import type { QrCode, Summary, TimeSeries } from '../types.ts';
import { Attribution } from './attribution.tsx';
import { Bars } from './bars.tsx';
import { stepName, TimeChart } from './chart.tsx';
import { CountCells, CountHeads } from './counts.tsx';
import { SplitByDestination } from './destinations.tsx';
import { type Interval, intervalOf, intervals, type PeriodName, periodOf } from './period.ts';
import { PeriodPicker } from './period-picker.tsx';

/** Rises with every new scan and once more a moment later: the counter is ahead of the warehouse by as much. */
function usePulse(total: number): number {
  const [settled, setSettled] = useState(total);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(total), 2_500);
    return () => clearTimeout(timer);
  }, [total]);
  return total + settled;
}

export function Analytics({ code }: { code: QrCode }) {
  const { query } = usePlace();
  const name = (query.get('period') ?? '30d') as PeriodName;
  const period = periodOf(name, query.get('from'), query.get('to'));
  const interval = (intervals.find(([one]) => one === query.get('interval'))?.[0] ?? intervalOf(period)) as Interval;
  const asked = { ...period, bots: query.get('bots') ?? undefined };
  const since = usePulse(code.total_scans);
  const base = `/qrcodes/${code.id}/analytics`;
  const summary = useResource<Summary>(base, { query: asked, since });
  const series = useResource<TimeSeries>(`${base}/timeseries`, { query: { ...asked, interval }, since });

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
            <h3>Over time</h3>
            {series.error !== undefined ? (
              <Failure error={series.error} retry={series.reload} />
            ) : series.data === undefined ? (
              <Skeleton lines={4} />
            ) : (
              <OverTime series={series.data} />
            )}
          </section>
          {summary.data.summary.total_scans === 0 ? <NoScans code={code} /> : <Breakdown summary={summary.data} />}
          <SplitByDestination code={code} query={asked} since={since} />
        </div>
      )}
    </>
  );
}

function Figures({ summary: { total_scans, unique_visitors, avg_daily_scans } }: { summary: Summary['summary'] }) {
  const repeated = total_scans - unique_visitors;
  const share = total_scans === 0 ? 0 : unique_visitors / total_scans;
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
        <dt>Scans a day</dt>
        <dd>{number(avg_daily_scans)}</dd>
      </div>
      <div class="card">
        <dt>New against returning</dt>
        <dd class="versus">
          <span class="track" aria-hidden="true">
            <span style={{ inlineSize: `${share * 100}%` }} />
          </span>
          <span>
            <strong>{total_scans === 0 ? '–' : percent(share)}</strong> first scans
          </span>
          <span>
            <strong>{number(repeated)}</strong> by people who came back
          </span>
        </dd>
      </div>
    </dl>
  );
}

function OverTime({ series }: { series: TimeSeries }) {
  const { interval } = series;
  return (
    <>
      <TimeChart series={series.data} interval={interval} />
      <details>
        <summary>As a table</summary>
        <Scroll label="Scans over time, as a table">
          <table>
            <thead>
              <tr>
                <th scope="col">When</th>
                <CountHeads />
              </tr>
            </thead>
            <tbody>
              {series.data.toReversed().map((step) => (
                <tr key={step.date}>
                  <td>{stepName(step.date, interval)}</td>
                  <CountCells of={step} />
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
  <Empty title={code.total_scans === 0 ? 'Nobody has scanned this code yet' : 'No scans in this period'}>
    <p>
      {code.total_scans === 0
        ? 'Scan it with your phone, or open the short link: it shows up here within seconds.'
        : 'Choose a longer period above.'}
    </p>
  </Empty>
);

const ranked = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([word, scans]) => ({ label: named(word), scans }))
    .sort((a, b) => b.scans - a.scans);

const Breakdown = ({ summary: { summary, top_countries, top_cities, devices, browsers } }: { summary: Summary }) => (
  <div class="breakdown">
    <Bars
      title="Countries"
      total={summary.total_scans}
      rows={top_countries.map(({ country: code, scans }) => ({ label: country(code), scans }))}
      empty="No place is known."
    />
    <Bars
      title="Cities"
      total={summary.total_scans}
      rows={top_cities.map(({ city, country: code, scans }) => ({
        label: city,
        hint: code === 'XX' ? undefined : country(code),
        scans,
      }))}
      empty="No place is known."
    />
    <Bars title="Devices" total={summary.total_scans} rows={ranked(devices)} empty="No device is known." />
    <Bars title="Browsers" total={summary.total_scans} rows={ranked(browsers)} empty="No browser is known." />
    <Attribution />
  </div>
);
