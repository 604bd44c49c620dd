import type { Owner } from '../../events/owner.ts';
import { type Reading, rowsOf } from './reading.ts';
import { timeParameter } from './selection.ts';
import { tableName } from './tables.ts';

/** A code and its owner. */
export interface OwnedCode extends Owner {
  id: string;
}

/**
 * Scans by hour of many codes, also of several owners, without those by bots: for each code the hours since 1970 that have some.
 * Answered from the projection by hour. The caller limits the number of codes.
 */
export async function readHours(
  reading: Reading,
  codes: readonly OwnedCode[],
  since: Date,
): Promise<Map<string, Map<number, number>>> {
  const distinct = (values: string[]) => [...new Set(values)];
  const rows = await rowsOf<{ code: string; hours: (number | string)[]; scans: (number | string)[] }>(
    reading,
    `SELECT code, groupArray(hour) AS hours, groupArray(n) AS scans
     FROM (
       SELECT code, intDiv(toUnixTimestamp(started), 3600) AS hour, sum(counted) AS n
       FROM (
         SELECT code, toStartOfHour(time) AS started, count() AS counted
         FROM ${tableName(reading.warehouse, reading.version)}
         WHERE account IN {accounts:Array(String)} AND mode IN {modes:Array(String)} AND code IN {codes:Array(String)}
           AND toStartOfHour(time) >= ${timeParameter('since')} AND NOT is_bot
         GROUP BY code, started
       )
       GROUP BY code, hour
     )
     GROUP BY code`,
    {
      accounts: distinct(codes.map(({ account }) => account)),
      modes: distinct(codes.map(({ mode }) => mode)),
      codes: distinct(codes.map(({ id }) => id)),
      since,
    },
  );
  return new Map(
    rows.map(({ code, hours, scans }) => [code, new Map(hours.map((hour, i) => [Number(hour), Number(scans[i])]))]),
  );
}
