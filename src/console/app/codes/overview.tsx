import type { ComponentChildren } from 'preact';
import { Change } from '../analytics/change.tsx';
import { Bots } from '../analytics/figures.tsx';
import { useFilters, withFilters } from '../analytics/filters.ts';
import { periodOf } from '../analytics/period.ts';
import { useRefreshKey } from '../analytics/refresh-key.ts';
import { country, number, visitors } from '../format.ts';
import { useResource } from '../resource.ts';
import { pageUrl, useRoute } from '../router.ts';
import type { Aggregate } from '../types.ts';

/** Totals of all codes for the last 30 days; nothing while there are no scans. `counted`: the scans of the codes in the list. */
export function Overview({ counted }: { counted: number }) {
  const { query } = useRoute();
  const { bots, timezone } = useFilters();
  const { data } = useResource<Aggregate>('/analytics/aggregate', {
    query: { ...periodOf('30d', null, null, timezone), timezone, bots, compare: 'previous', include: 'counts' },
    refreshKey: useRefreshKey(counted),
  });
  if (data === undefined || data.summary.total_scans + data.summary.bot_scans === 0) return null;
  const { summary, previous, top_countries, top_qrcodes } = data;
  const topCountry = top_countries.find(({ country: code }) => code !== 'XX');
  const [topCode] = top_qrcodes;
  const analytics = withFilters(pageUrl('/analytics'), query);
  const filtered = (column: string, value: string) =>
    `${analytics}${analytics.includes('?') ? '&' : '?'}${new URLSearchParams({ [column]: value })}`;
  const change = (figure: 'total_scans' | 'unique_visitors') =>
    previous && <Change now={summary[figure]} previous={previous.summary[figure]} before="the 30 days before" />;
  return (
    <section class="card row overview" aria-label="Last 30 days">
      <h2>Last 30 days</h2>
      <dl class="grid gap-m">
        <Figure label="Scans">
          <a href={analytics}>{number(summary.total_scans)}</a> {change('total_scans')}{' '}
          <Bots scans={summary.bot_scans} bots={bots} />
        </Figure>
        <Figure label="Visitors">
          <a href={analytics}>{visitors(summary.unique_visitors)}</a> {change('unique_visitors')}
        </Figure>
        <Figure label="Top code">
          {topCode === undefined ? (
            '–'
          ) : (
            <a href={withFilters(pageUrl(`/codes/${topCode.qr_id}`), query)} dir="auto">
              {topCode.name}
            </a>
          )}
        </Figure>
        <Figure label="Top country">
          {topCountry === undefined ? (
            '–'
          ) : (
            <a href={filtered('country', topCountry.country)}>{country(topCountry.country)}</a>
          )}
        </Figure>
      </dl>
    </section>
  );
}

const Figure = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div>
    <dt>{label}</dt>
    <dd class="clip">{children}</dd>
  </div>
);
