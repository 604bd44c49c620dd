import { country, number } from '../format.ts';
import { useResource } from '../resource.ts';
import type { Aggregate } from '../types.ts';

/** Totals of all codes for the last 30 days; nothing while there are no scans. */
export function Overview({ refreshKey }: { refreshKey: number }) {
  const { data } = useResource<Aggregate>('/analytics/aggregate', { refreshKey });
  if (data === undefined || data.summary.total_scans === 0) return null;
  const { summary, top_countries, top_qrcodes } = data;
  const topCountry = top_countries.find(({ country: code }) => code !== 'XX');
  const figures = [
    ['Scans', number(summary.total_scans)],
    ['Visitors', number(summary.unique_visitors)],
    ['Top code', top_qrcodes[0]?.name ?? '–'],
    ['Top country', topCountry === undefined ? '–' : country(topCountry.country)],
  ] as const;
  return (
    <section class="overview card" aria-label="Last 30 days">
      <h2>Last 30 days</h2>
      <dl>
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
