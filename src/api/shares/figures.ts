import { timezoneOf } from '../../../events/account.ts';
import { offsetOf } from '../../../events/targeting/local-time.ts';
import type { OpenedShare } from '../../accounts/shares.ts';
import { type CodeFigures, readCodes } from '../../analytics/codes.ts';
import { readTotals } from '../../analytics/figures.ts';
import { readGroups } from '../../analytics/groups.ts';
import { type Interval, readSeries } from '../../analytics/series.ts';
import { codesWith, codesWithIds, type ListedCode } from '../../codes/codes.ts';
import { bucketsOf } from '../analytics/buckets.ts';
import { type Period, periodOf, presentPeriod } from '../analytics/period.ts';
import { readWarehouse } from '../analytics/reading.ts';
import type { Service } from '../service.ts';
import { type Cell, hideInSeries, hideInTable, hideTotals, minVisitors, type Shown, type ShownTable } from './hide.ts';

export const sharePeriods = ['7d', '30d', '90d', '12m'] as const;
export type SharePeriod = (typeof sharePeriods)[number];
export const defaultSharePeriod: SharePeriod = '30d';

/** Everything that a page shows: neither ids nor destinations, and no figure of few people. */
export interface SharedFigures {
  name: string;
  period: { start: string; end: string };
  timezone: string;
  bots: OpenedShare['bots'];
  scans: Shown;
  visitors: Shown;
  interval: Interval;
  series: { name: string; scans: Shown }[];
  codes: ShownTable;
  countries: ShownTable;
  devices: ShownTable;
  browsers: ShownTable;
}

type Warehouse = Pick<Service, 'sql' | 'warehouse'>;

const maxRows = 10;
/** Codes that a page can tell apart; the scans of the others are in its totals. */
const maxCodes = 1_000;

/** Reads what a page shows of a period that ends now. */
export async function readShared(
  service: Warehouse,
  share: OpenedShare,
  periodName: SharePeriod,
  now: Date,
): Promise<SharedFigures> {
  const timezone = timezoneOf(share);
  const period = periodUntil(now, periodName, timezone);
  const interval = periodName === '12m' ? 'month' : 'day';
  const codes = await codesOf(service, share);
  const { account, mode, bots, name } = share;
  const selection = { account, mode, bots, codes: { among: codes.map(({ id }) => id) }, ...period };
  const { found } = await readWarehouse(service, share, (reading) =>
    Promise.all([
      readTotals(reading, selection),
      readSeries(reading, selection, interval),
      readCodes(reading, selection, { offset: 0, limit: maxCodes }),
      readGroups(reading, selection, minVisitors),
    ]),
  );
  const [totals, series, byCode, groups] = found;
  const names = new Map(codes.map((code) => [code.id, code.name]));
  const tableOf = (kind: string) =>
    hideInTable(
      groups.filter((group) => group.kind === kind),
      maxRows,
    );
  return {
    name,
    period: presentPeriod(period),
    timezone,
    bots,
    ...hideTotals(totals),
    interval,
    series: hideInSeries(
      bucketsOf(period, interval).map((bucket) => ({ name: bucket, ...(series.get(bucket) ?? nothing) })),
    ),
    codes: hideInTable(cellsOf(byCode.codes, names, totals.scans), maxRows),
    countries: tableOf('country'),
    devices: tableOf('device'),
    browsers: tableOf('browser'),
  };
}

/** With one more cell for the scans of codes beyond `maxCodes`. */
function cellsOf(codes: readonly CodeFigures[], names: ReadonlyMap<string, string>, totalScans: number): Cell[] {
  const cells = codes.map(({ code, scans, visitors }) => ({ name: names.get(code) ?? '', scans, visitors }));
  const rest = totalScans - codes.reduce((sum, { scans }) => sum + scans, 0);
  return rest > 0 ? [...cells, { name: '', scans: rest, visitors: 0 }] : cells;
}

const nothing = { scans: 0, visitors: 0 };

/** The codes of a share that are not deleted, as they are now. */
async function codesOf({ sql }: Warehouse, share: OpenedShare): Promise<ListedCode[]> {
  if (share.codes !== null) return [...(await codesWithIds(sql, share, share.codes)).values()];
  return codesWith(sql, share, { tags: { tags: share.tags ?? [], match: 'any' } });
}

const dayCounts = { '7d': 7, '30d': 30, '90d': 90 } as const;

/** Whole days or months on the clocks of the account, and the present one so far. */
function periodUntil(now: Date, name: SharePeriod, timezone: string): Period {
  const local = new Date(now.getTime() + offsetOf(timezone, now.getTime()));
  const first =
    name === '12m'
      ? Date.UTC(local.getUTCFullYear(), local.getUTCMonth() - 11)
      : Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate() + 1 - dayCounts[name]);
  return periodOf({ start_date: new Date(first).toISOString().slice(0, 10), timezone }, now);
}
