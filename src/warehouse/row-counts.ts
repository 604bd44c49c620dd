import type { ScanCounts } from '../../events/scan-count.ts';
import type { Warehouse } from './connect.ts';
import { tableName } from './tables.ts';

interface TableRows {
  version: number;
  account: string | undefined;
}

const ofAccount = (account: string | undefined) => (account === undefined ? 'true' : 'account = {account:String}');

async function ask<T>(warehouse: Warehouse, query: string, params: Record<string, unknown>): Promise<T[]> {
  const result = await warehouse.client.query({ query, query_params: params, format: 'JSONEachRow' });
  return result.json<T>();
}

interface RowsUpTo extends TableRows {
  position: number;
  /** Leaves out scans of before a time, up to a position. */
  without?: { before: Date; up_to: number } | undefined;
}

/** Counts the rows of each code, as far as they are at or before `position` of the log. */
export async function countRowsByCode(
  warehouse: Warehouse,
  { version, account, position, without }: RowsUpTo,
): Promise<ScanCounts> {
  const leftOut = 'AND NOT (time < fromUnixTimestamp64Milli({before_ms:Int64}) AND position <= {up_to:UInt64})';
  const rows = await ask<{ code: string; total: string; unique: string }>(
    warehouse,
    `SELECT code, toString(count()) AS total, toString(countIf(is_unique)) AS unique
     FROM ${tableName(warehouse, version)}
     WHERE position <= {position:UInt64} AND ${ofAccount(account)} ${without === undefined ? '' : leftOut} GROUP BY code`,
    { position, account, before_ms: without?.before.getTime() ?? 0, up_to: without?.up_to ?? 0 },
  );
  return new Map(rows.map(({ code, total, unique }) => [code, { total: Number(total), unique: Number(unique) }]));
}

/** The keys by which each projection groups, besides the code's. */
const projections = {
  by_hour: 'toStartOfHour(time)',
  by_client: 'toDate(time), device, browser',
  by_place: 'toDate(time), country, city',
};

/** Codes of which an aggregate that reads are answered from has another number of scans than there are rows. */
export async function wrongAggregates(
  warehouse: Warehouse,
  { version, account }: TableRows,
): Promise<{ aggregate: string; code: string; rows: number; aggregated: number }[]> {
  const table = tableName(warehouse, version);
  const where = `WHERE ${ofAccount(account)}`;
  const wrong = Object.entries(projections).map(async ([aggregate, keys]) => {
    const found = await ask<{ code: string; rows: string; aggregated: string }>(
      warehouse,
      `SELECT code, toString(sum(r)) AS rows, toString(sum(a)) AS aggregated FROM (
         SELECT code, count() AS r, 0 AS a FROM ${table} ${where} GROUP BY code SETTINGS optimize_use_projections = 0
         UNION ALL
         SELECT code, 0 AS r, sum(n) AS a
         FROM (SELECT code, count() AS n FROM ${table} ${where} GROUP BY account, mode, code, is_bot, ${keys})
         GROUP BY code
       ) GROUP BY code HAVING sum(r) != sum(a)`,
      { account },
    );
    return found.map(({ code, rows, aggregated }) => ({
      aggregate,
      code,
      rows: Number(rows),
      aggregated: Number(aggregated),
    }));
  });
  return (await Promise.all(wrong)).flat();
}
