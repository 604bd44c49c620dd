import { country, displayName, time } from '../format.ts';
import { pageQueryOf } from '../parts/page-numbers.ts';
import { Paged } from '../parts/pager.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Empty, Failure, Skeleton } from '../parts/states.tsx';
import { useResource } from '../resource.ts';
import { useRoute } from '../router.ts';
import type { Page, QrCode, ScanRecord } from '../types.ts';
import { Attribution } from './attribution.tsx';
import { type PeriodName, periodOf } from './period.ts';
import { PeriodPicker } from './period-picker.tsx';

const sizes = [50, 100, 250] as const;

/** The scans of the period, newest first. */
export function Scans({ code }: { code: QrCode }) {
  const { query } = useRoute();
  const name = (query.get('period') ?? '30d') as PeriodName;
  const period = periodOf(name, query.get('from'), query.get('to'));
  const filters = { ...period, bots: query.get('bots') ?? undefined, ...pageQueryOf(query, sizes) };
  const { data, error, loading, reload } = useResource<Page<ScanRecord>>(`/qrcodes/${code.id}/analytics/scans`, {
    query: filters,
    refreshKey: code.total_scans,
    refreshIntervalMs: 5_000,
  });
  return (
    <>
      <PeriodPicker code={code} name={name} period={period} />
      {error !== undefined && data === undefined ? (
        <Failure error={error} retry={reload} />
      ) : data === undefined ? (
        <Skeleton lines={6} />
      ) : data.pagination.total === 0 ? (
        <Empty title="No scans in this period">
          <p>Try a longer period.</p>
        </Empty>
      ) : (
        <Paged what="scans" pagination={data.pagination} sizes={sizes} loading={loading}>
          <Scroll label="Scans" isCard>
            <table class="rows">
              <thead>
                <tr>
                  <th scope="col">Time</th>
                  <th scope="col">Location</th>
                  <th scope="col">Device</th>
                  <th scope="col">Browser</th>
                  <th scope="col">Visitor</th>
                </tr>
              </thead>
              <tbody>
                {data.data.map((scan) => (
                  <tr key={scan.id}>
                    <td>
                      <time dateTime={scan.timestamp}>{time(scan.timestamp)}</time>
                    </td>
                    <td>{locationOf(scan)}</td>
                    <td>{displayName(scan.device)}</td>
                    <td>{displayName(scan.browser)}</td>
                    <td>
                      {scan.is_unique ? <span class="badge active">New</span> : 'Returning'}{' '}
                      {scan.is_bot && <span class="badge">Bot</span>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <Attribution />
        </Paged>
      )}
    </>
  );
}

const locationOf = (scan: ScanRecord) =>
  [...new Set([scan.city, scan.region, country(scan.country)])].filter((name) => name !== 'Unknown').join(', ') ||
  'Unknown';
