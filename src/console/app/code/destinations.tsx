import { CountCells, CountHeaders } from '../analytics/counts.tsx';
import type { Query } from '../api.ts';
import { displayDestination } from '../codes/destination.ts';
import { date } from '../format.ts';
import { Scroll } from '../parts/scroll.tsx';
import { useResource } from '../resource.ts';
import type { Destinations, QrCode } from '../types.ts';

interface Props {
  code: QrCode;
  query: Query;
  refreshKey: number;
}

/** Scans of each destination that the code had in the period; nothing when there was only one. */
export function SplitByDestination({ code, query, refreshKey }: Props) {
  const { data } = useResource<Destinations>(`/qrcodes/${code.id}/analytics/destinations`, { query, refreshKey });
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
              <CountHeaders />
            </tr>
          </thead>
          <tbody>
            {shown.map(({ destination_url, from, to, ...counts }) => (
              <tr key={from}>
                <td class="url">{displayDestination(destination_url)}</td>
                <td>
                  {date(from)} – {to === null ? 'now' : date(to)}
                </td>
                <CountCells counts={counts} />
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
