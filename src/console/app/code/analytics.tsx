import { useFilters } from '../analytics/filters.ts';
import type { Happening } from '../analytics/marks.ts';
import { useRefreshKey } from '../analytics/refresh-key.ts';
import { AnalyticsView } from '../analytics/view.tsx';
import { displayDestination } from '../codes/destination.ts';
import { Empty } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import type { HistoryEntry, Page, QrCode } from '../types.ts';
import { SplitByDestination } from './destinations.tsx';

/** When the destination of the code changed, as far as its last 250 changes tell. */
function useDestinationChanges({ id, updated_at }: QrCode): Happening[] {
  const { data } = useResource<Page<HistoryEntry>>(`/qrcodes/${id}/history`, {
    query: { limit: 250 },
    refreshKey: updated_at,
  });
  return (data?.data ?? [])
    .filter(({ event }) => event === 'destination_changed')
    .map(({ timestamp, to }) => ({ at: timestamp, text: `Destination changed to ${displayDestination(String(to))}` }));
}

export function Analytics({ code }: { code: QrCode }) {
  const filters = useFilters();
  const refreshKey = useRefreshKey(code.total_scans);
  const base = `/qrcodes/${code.id}/analytics`;
  const paths = {
    summary: base,
    timeseries: `${base}/timeseries`,
    heatmap: `${base}/heatmap`,
    export: `${base}/export`,
  };
  return (
    <AnalyticsView
      paths={paths}
      filters={filters}
      refresh={{ refreshKey }}
      noScans={<NoScans code={code} />}
      happenings={useDestinationChanges(code)}
    >
      <SplitByDestination code={code} query={filters.query} refreshKey={refreshKey} />
    </AnalyticsView>
  );
}

const NoScans = ({ code }: { code: QrCode }) => (
  <Empty title={code.total_scans === 0 ? 'No scans yet' : 'No such scans in this period'}>
    <p>
      {code.total_scans === 0
        ? 'Scan the code or open its short link. The scan shows up here within seconds.'
        : 'Try a longer period, or fewer filters.'}
    </p>
  </Empty>
);
