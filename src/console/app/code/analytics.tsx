import { useEffect, useState } from 'preact/hooks';
import { useFilters } from '../analytics/filters.ts';
import { AnalyticsView } from '../analytics/view.tsx';
import { Empty } from '../parts/states.tsx';
import type { QrCode } from '../types.ts';
import { SplitByDestination } from './destinations.tsx';

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
    <AnalyticsView paths={paths} filters={filters} refresh={{ refreshKey }} noScans={<NoScans code={code} />}>
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
