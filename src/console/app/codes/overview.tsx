import { country, number } from '../format.ts';
import { useResource } from '../resource.ts';
import type { Aggregate } from '../types.ts';

/** How all codes together have fared in the last 30 days; nothing while that is not known. */
export function Overview({ since }: { since: number }) {
  const { data } = useResource<Aggregate>('/analytics/aggregate', { since });
  if (data === undefined || data.summary.total_scans === 0) return null;
  const { summary, top_countries, top_qrcodes } = data;
  const top = top_countries.find(({ country: code }) => code !== 'XX');
  const facts = [
    ['Scans', number(summary.total_scans)],
    ['Visitors', number(summary.unique_visitors)],
    ['Most scanned', top_qrcodes[0]?.name ?? '–'],
    ['Mostly from', top === undefined ? '–' : country(top.country)],
  ] as const;
  return (
    <section class="overview card" aria-label="The last 30 days">
      <h2>Last 30 days</h2>
      <dl>
        {facts.map(([what, value]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
