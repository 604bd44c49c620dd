import { number, percent, visitors } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Loading } from '../parts/states.tsx';
import { type Resource, useResource } from '../resource.ts';
import { urlWith } from '../router.ts';
import type { AccountTimeSeries, CodeFigures, Page } from '../types.ts';
import { Change } from './change.tsx';
import type { Filters } from './filters.ts';
import { intervalOf, periodBeforeLabel } from './period.ts';

interface Props {
  codes: Resource<Page<CodeFigures>>;
  filters: Filters;
  codeUrl(id: string): string;
}

/** The most for which the API has time series in one read. */
const maxLines = 10;

/** Codes side by side: figures, change and course of each. Names lead to the code, figures select it on this page. */
export function CodesTable({ codes, filters, codeUrl }: Props) {
  const { name, period, query } = filters;
  const series = useResource<AccountTimeSeries>('/analytics/timeseries', {
    query: { ...query, interval: intervalOf(period), top: maxLines },
    refreshIntervalMs: 30_000,
  });
  if (codes.data === undefined) return <Loading error={codes.error} retry={codes.reload} lines={3} />;
  const { data, pagination } = codes.data;
  const before = periodBeforeLabel(name, period);
  const total = data.reduce((sum, { total_scans }) => sum + total_scans, 0);
  const lines = new Map(series.data?.qrcodes?.map(({ qr_id, data: buckets }) => [qr_id, buckets]));
  return (
    <section class="card" aria-label="Codes side by side" aria-busy={codes.loading}>
      <h2>Codes side by side</h2>
      <Scroll label="Table of codes">
        <table class="rows side-by-side">
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col" class="number">
                Scans
              </th>
              <th scope="col">Change</th>
              <th scope="col">Course</th>
              <th scope="col" class="number">
                Share
              </th>
              <th scope="col" class="number">
                Visitors
              </th>
              <th scope="col" class="number">
                New
              </th>
            </tr>
          </thead>
          <tbody>
            {data.map(({ qr_id, name: codeName, total_scans, unique_visitors, unique_scans, previous }) => (
              <tr key={qr_id}>
                <th scope="row">
                  <a href={codeUrl(qr_id)} dir="auto">
                    {codeName}
                  </a>
                </th>
                <td class="number">
                  <a href={urlWith({ codes: qr_id, page: undefined })} title={`Show only ${codeName}`}>
                    {number(total_scans)}
                  </a>
                </td>
                <td>{previous && <Change now={total_scans} previous={previous.total_scans} before={before} />}</td>
                <td>
                  <Sparkline values={lines.get(qr_id)?.map((bucket) => bucket.total_scans) ?? []} />
                </td>
                <td class="number">{percent(total === 0 ? 0 : total_scans / total)}</td>
                <td class="number">{visitors(unique_visitors)}</td>
                <td class="number">{visitors(unique_scans)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {pagination.total > data.length && (
        <p class="hint">
          The {number(data.length)} codes with the most scans, of {number(pagination.total)}. Shares are of these codes.
        </p>
      )}
    </section>
  );
}
