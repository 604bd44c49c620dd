import { useFilters } from '../analytics/filters.ts';
import { todayIn } from '../analytics/period.ts';
import { useResource } from '../resource.ts';

/** Scans of a code in the last 30 days, in all and of each day. */
export interface RecentScans {
  id: string;
  total_scans: number;
  days: number[];
}

const refreshIntervalMs = 30_000;

/** The scans of at most 100 codes, by their id, in one read; none are read unless they are shown. */
export function useRecentScans(codes: { id: string }[], isShown: boolean): ReadonlyMap<string, RecentScans> {
  const { bots, timezone } = useFilters();
  const ids = codes.map(({ id }) => id).join(',');
  const { data } = useResource<{ data: RecentScans[] }>(isShown && ids !== '' ? '/selection/scans' : undefined, {
    query: { ids, end_date: todayIn(timezone), timezone, bots },
    refreshIntervalMs,
  });
  return new Map(data?.data.map((scans) => [scans.id, scans]));
}
