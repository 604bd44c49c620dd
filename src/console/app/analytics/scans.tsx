import type { ComponentChildren } from 'preact';
import { country, displayName, time } from '../format.ts';
import { longSizes, pageQueryOf } from '../parts/page-numbers.ts';
import { Paged } from '../parts/pager.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Empty, Failure, Skeleton } from '../parts/states.tsx';
import { ZoneNote } from '../parts/zone-note.tsx';
import { useResource } from '../resource.ts';
import { useRoute } from '../router.ts';
import type { OwnedScanRecord, Page, ScanRecord } from '../types.ts';
import { Attribution } from './attribution.tsx';
import { Chips } from './chips.tsx';
import { useFilters } from './filters.ts';
import { PeriodPicker } from './period-picker.tsx';

interface Props {
  path: string;
  exportPath: string;
  refreshKey?: number;
  tools?: ComponentChildren;
  /** Of scans of several codes: the names by id, and the page of a code. */
  codes?: { names: Map<string, string>; url(id: string): string };
}

type Scan = ScanRecord & Partial<Pick<OwnedScanRecord, 'qr_id'>>;

/** The scans of the period, newest first. */
export function Scans({ path, exportPath, refreshKey, tools, codes }: Props) {
  const { query } = useRoute();
  const filters = useFilters();
  const { data, error, loading, reload } = useResource<Page<Scan>>(path, {
    query: { ...filters.query, ...pageQueryOf(query, longSizes) },
    refreshKey,
    refreshIntervalMs: 5_000,
  });
  return (
    <>
      <PeriodPicker filters={filters} exportPath={exportPath} tools={tools} />
      <Chips filters={filters} codeNames={codes?.names} />
      {error !== undefined && data === undefined ? (
        <Failure error={error} retry={reload} />
      ) : data === undefined ? (
        <Skeleton lines={6} />
      ) : data.pagination.total === 0 ? (
        <Empty title="No scans in this period">
          <p>Try a longer period, or fewer filters.</p>
        </Empty>
      ) : (
        <Paged what="scans" pagination={data.pagination} sizes={longSizes} loading={loading}>
          <ZoneNote />
          <Scroll label="Scans" isCard>
            <table class="rows scan-rows">
              <thead>
                <tr>
                  <th scope="col">Time</th>
                  {codes !== undefined && <th scope="col">Code</th>}
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
                    {codes !== undefined && scan.qr_id !== undefined && (
                      <td>
                        <a href={codes.url(scan.qr_id)} dir="auto">
                          {codes.names.get(scan.qr_id) ?? scan.qr_id}
                        </a>
                      </td>
                    )}
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

const locationOf = (scan: Scan) =>
  [...new Set([scan.city, scan.region, country(scan.country)])].filter((name) => name !== 'Unknown').join(', ') ||
  'Unknown';
