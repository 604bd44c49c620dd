import type { ScanCounts } from '../../events/scan-count.ts';
import type { Warehouse } from './connect.ts';
import { tableName } from './tables.ts';

interface TableSelection {
  version: number;
  account: string | undefined;
}

const accountCondition = (account: string | undefined) =>
  account === undefined ? 'true' : 'account = {account:String}';

async function query<T>(warehouse: Warehouse, sql: string, params: Record<string, unknown>): Promise<T[]> {
  const result = await warehouse.client.query({ query: sql, query_params: params, format: 'JSONEachRow' });
  return result.json<T>();
}

interface RowsUpTo extends TableSelection {
  position: number;
  /** Excludes scans before this time, up to this position. */
  without?: { before: Date; up_to: number } | undefined;
}

/** Counts the rows of each code up to `position` of the log. */
export async function countRowsByCode(
  warehouse: Warehouse,
  { version, account, position, without }: RowsUpTo,
): Promise<ScanCounts> {
  const excluded = 'AND NOT (time < fromUnixTimestamp64Milli({before_ms:Int64}) AND position <= {up_to:UInt64})';
  const rows = await query<{ code: string; total: string; unique: string }>(
    warehouse,
    `SELECT code, toString(count()) AS total, toString(countIf(is_unique)) AS unique
     FROM ${tableName(warehouse, version)}
     WHERE position <= {position:UInt64} AND ${accountCondition(account)} ${without === undefined ? '' : excluded}
     GROUP BY code`,
    { position, account, before_ms: without?.before.getTime() ?? 0, up_to: without?.up_to ?? 0 },
  );
  return new Map(rows.map(({ code, total, unique }) => [code, { total: Number(total), unique: Number(unique) }]));
}

/** What each projection is compared by, and its GROUP BY keys besides account, mode, code and is_bot. */
const projections = {
  by_hour: { subject: 'code', keys: 'toStartOfHour(time)' },
  by_account: { subject: 'account', keys: 'toStartOfHour(time)' },
  by_client: { subject: 'code', keys: 'toDate(time), device, browser' },
  by_place: { subject: 'code', keys: 'toDate(time), country, city' },
};

/** Codes or accounts for which an aggregate projection has another number of scans than the table has rows. */
export async function wrongAggregates(
  warehouse: Warehouse,
  { version, account }: TableSelection,
): Promise<{ aggregate: string; subject: string; rows: number; aggregated: number }[]> {
  const table = tableName(warehouse, version);
  const where = `WHERE ${accountCondition(account)}`;
  const wrong = Object.entries(projections).map(async ([aggregate, { subject, keys }]) => {
    const groups = ['account', 'mode', ...(subject === 'code' ? ['code'] : []), 'is_bot', keys].join(', ');
    const found = await query<{ name: string; rows: string; aggregated: string }>(
      warehouse,
      `SELECT name, toString(sum(r)) AS rows, toString(sum(a)) AS aggregated FROM (
         SELECT ${subject} AS name, count() AS r, 0 AS a FROM ${table} ${where} GROUP BY name
         SETTINGS optimize_use_projections = 0
         UNION ALL
         SELECT ${subject} AS name, 0 AS r, sum(n) AS a
         FROM (SELECT ${subject}, count() AS n FROM ${table} ${where} GROUP BY ${groups})
         GROUP BY name
       ) GROUP BY name HAVING sum(r) != sum(a)`,
      { account },
    );
    return found.map(({ name, rows, aggregated }) => ({
      aggregate,
      subject: name,
      rows: Number(rows),
      aggregated: Number(aggregated),
    }));
  });
  return (await Promise.all(wrong)).flat();
}
