import { type Reading, rowsOf } from './reading.ts';
import { grouped, parametersOf, type Selection, scope, timeParameter } from './selection.ts';
import { tableName } from './tables.ts';

/** A scan as the interface shows it. */
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
}

/** ISO 8601. */
export const timestamp = "concat(replaceOne(toString(time), ' ', 'T'), 'Z')";

/** Between which hours a page lies, and how many scans of them come before it. */
interface Place {
  total: number | string;
  first_hour: number | string;
  last_hour: number | string;
  before: number | string;
}

/** One page of scans, the newest first, and how many there are in all. */
export async function readScans(
  reading: Reading,
  selection: Selection,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ scans: ScanRecord[]; total: number }> {
  const parameters = parametersOf(selection);
  const place = await placeOf(reading, selection, { offset, limit });
  const total = Number(place?.total ?? 0);
  if (place === undefined || offset >= total) return { scans: [], total };
  const scans = await rowsOf<ScanRecord>(
    reading,
    `SELECT id, ${timestamp} AS timestamp, country, region, city, device, browser, is_unique, is_bot
     FROM ${tableName(reading.warehouse, reading.version)}
     WHERE ${scope(selection)}
       AND time >= greatest(${timeParameter('from')}, toDateTime64({first_hour:UInt32}, 3, 'UTC'))
       AND time < least(${timeParameter('until')}, toDateTime64({last_hour:UInt32} + 3600, 3, 'UTC'))
     ORDER BY time DESC, position DESC
     LIMIT {limit:UInt32} OFFSET {skip:UInt64}`,
    {
      ...parameters,
      ...{ first_hour: place.first_hour, last_hour: place.last_hour },
      ...{ limit, skip: offset - Number(place.before) },
    },
  );
  return { scans, total };
}

/** Found by how many scans each hour has, so that a page far behind costs no more than the first one. */
async function placeOf(reading: Reading, selection: Selection, { offset, limit }: { offset: number; limit: number }) {
  const keys = ['toStartOfHour(time) AS hour'];
  const [place] = await rowsOf<Place>(
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
  return place;
}
