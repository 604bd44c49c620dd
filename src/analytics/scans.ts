import { isFallback } from '../../events/targeting/resolver.ts';
import { hasRules, type Reading, rowsOf } from './reading.ts';
import { grouped, parametersOf, type Selection, scope, timeParameter } from './selection.ts';
import { tableName } from './tables.ts';

/** A scan as the API returns it. */
export interface ScanRecord {
  id: string;
  timestamp: string;
  country: string;
  region: string;
  city: string;
  device: string;
  browser: string;
  is_unique: boolean;
  is_bot: boolean;
  rule: string | null;
  variant: string | null;
}

/** A scan, with its code. */
export interface OwnedScanRecord extends ScanRecord {
  qr_id: string;
}

/** SQL for `time` in ISO 8601. */
export const timestamp = "concat(replaceOne(toString(time), ' ', 'T'), 'Z')";

/** The hours that contain a page, and the number of scans before the first of them. */
interface PageHours {
  total: number | string;
  first_hour: number | string;
  last_hour: number | string;
  before: number | string;
}

/** One page of scans, newest first, and the total number of scans. */
export async function readScans(
  reading: Reading,
  selection: Selection,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ scans: OwnedScanRecord[]; total: number }> {
  const parameters = parametersOf(selection);
  const page = await findPageHours(reading, selection, { offset, limit });
  const total = Number(page?.total ?? 0);
  if (page === undefined || offset >= total) return { scans: [], total };
  const scans = await rowsOf<OwnedScanRecord>(
    reading,
    `SELECT code AS qr_id, id, ${timestamp} AS timestamp, country, region, city, device, browser, is_unique, is_bot,
       ${hasRules(reading) ? 'rule, variant' : "'' AS rule, '' AS variant"}
     FROM ${tableName(reading.warehouse, reading.version)}
     WHERE ${scope(selection)}
       AND time >= greatest(${timeParameter('from')}, toDateTime64({first_hour:UInt32}, 3, 'UTC'))
       AND time < least(${timeParameter('until')}, toDateTime64({last_hour:UInt32} + 3600, 3, 'UTC'))
     ORDER BY time DESC, position DESC
     LIMIT {limit:UInt32} OFFSET {skip:UInt64}`,
    {
      ...parameters,
      first_hour: page.first_hour,
      last_hour: page.last_hour,
      limit,
      skip: offset - Number(page.before),
    },
  );
  return { scans: scans.map(withRule), total };
}

/** The fallback is stored as a rule, and is none for clients. */
const withRule = (scan: OwnedScanRecord): OwnedScanRecord => ({
  ...scan,
  rule: scan.rule === '' || scan.rule === null || isFallback(scan.rule) ? null : scan.rule,
  variant: scan.variant === '' ? null : scan.variant,
});

/** Uses the number of scans per hour, so that a page with a large offset costs no more than the first one. */
async function findPageHours(
  reading: Reading,
  selection: Selection,
  { offset, limit }: { offset: number; limit: number },
): Promise<PageHours | undefined> {
  const keys = ['toStartOfHour(time) AS hour'];
  const [page] = await rowsOf<PageHours>(
    reading,
    `WITH (through > {offset:UInt64} AND through - scans < {offset:UInt64} + {limit:UInt32}) AS on_page
     SELECT sum(scans) AS total, minIf(through - scans, on_page) AS before,
       toUnixTimestamp(minIf(hour, on_page)) AS first_hour, toUnixTimestamp(maxIf(hour, on_page)) AS last_hour
     FROM (
       SELECT hour, scans, sum(scans) OVER (ORDER BY hour DESC ROWS UNBOUNDED PRECEDING) AS through
       FROM (
         SELECT hour, sum(scans) AS scans
         FROM (${grouped(reading, selection, { unit: 'hour', keys, figures: 'count() AS scans' })})
         GROUP BY hour
       )
     )`,
    { ...parametersOf(selection), offset, limit },
  );
  return page;
}
