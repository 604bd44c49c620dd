import { bare, date, number } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { useResource } from '../resource.ts';
import type { Destinations, QrCode } from '../types.ts';

interface Props {
  code: QrCode;
  query: Record<string, string | undefined>;
  since: number;
}

/** What each destination that the code had in the period has brought. With one alone there is nothing to split. */
export function SplitByDestination({ code, query, since }: Props) {
  const { data } = useResource<Destinations>(`/qrcodes/${code.id}/analytics/destinations`, { query, since });
  const shown = data?.data.filter(({ to }) => to === null || to > data.period.start) ?? [];
  if (shown.length < 2) return null;
  return (
    <section class="card" aria-label="By destination">
      <h3>By destination</h3>
      <Scroll label="Scans by destination">
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">Destination</th>
              <th scope="col">In use</th>
              <th scope="col" class="number">
                Scans
              </th>
              <th scope="col" class="number">
                Visitors
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ destination_url, from, to, total_scans, unique_visitors }) => (
              <tr key={from}>
                <td class="url">{bare(destination_url)}</td>
                <td>
                  {date(from)} – {to === null ? 'now' : date(to)}
                </td>
                <td class="number">{number(total_scans)}</td>
                <td class="number">{number(unique_visitors)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
