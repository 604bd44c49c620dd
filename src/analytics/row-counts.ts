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

interface Month {
  from: Date;
  /** Exclusive. */
  to: Date;
}

/**
 * The months of which a table has rows, found without reading them: it is partitioned by month. A statement about one month
 * reads only its rows; a statement about all would need memory for all groups of all months.
 */
async function monthsOf(warehouse: Warehouse, version: number): Promise<Month[]> {
  const found = await query<{ month: number }>(
    warehouse,
    `SELECT toYYYYMM(time) AS month, count() FROM ${tableName(warehouse, version)} GROUP BY month ORDER BY month`,
    {},
  );
  return found.map(({ month }) => {
    const [year, index] = [Math.floor(month / 100), (month % 100) - 1];
    return { from: new Date(Date.UTC(year, index, 1)), to: new Date(Date.UTC(year, index + 1, 1)) };
  });
}

/** Its first days, as parameters of a query. */
const daysOf = ({ from, to }: Month) => ({ from: from.toISOString().slice(0, 10), to: to.toISOString().slice(0, 10) });
const isInMonth = (time: string) => `${time} >= {from:Date} AND ${time} < {to:Date}`;

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
  const counts: ScanCounts = new Map();
  for (const month of await monthsOf(warehouse, version)) {
    const rows = await query<{ code: string; total: string; unique: string }>(
      warehouse,
      `SELECT code, toString(count()) AS total, toString(countIf(is_unique)) AS unique
       FROM ${tableName(warehouse, version)}
       WHERE ${isInMonth('time')}
         AND position <= {position:UInt64} AND ${accountCondition(account)} ${without === undefined ? '' : excluded}
       GROUP BY code`,
      {
        ...daysOf(month),
        position,
        account,
        before_ms: without?.before.getTime() ?? 0,
        up_to: without?.up_to ?? 0,
      },
    );
    for (const { code, total, unique } of rows) {
      const before = counts.get(code) ?? { total: 0, unique: 0 };
      counts.set(code, { total: before.total + Number(total), unique: before.unique + Number(unique) });
    }
  }
  return counts;
}

/**
 * What a query names so that ClickHouse can answer it from this projection and from no other: the expression of time that it
 * has, and a condition on another of its keys that is always true.
 */
const projections = {
  by_hour: { subject: 'code', time: 'toStartOfHour(time)', only: 'true' },
  by_account: { subject: 'account', time: 'toStartOfHour(time)', only: 'true' },
  by_client: { subject: 'code', time: 'toDate(time)', only: "device >= ''" },
  by_place: { subject: 'code', time: 'toDate(time)', only: "country >= ''" },
};

interface WrongAggregate {
  aggregate: string;
  /** A code or an account. */
  subject: string;
  rows: number;
  aggregated: number;
}

/** Codes or accounts for which an aggregate projection has another number of scans in a month than the table has rows. */
export async function wrongAggregates(warehouse: Warehouse, selection: TableSelection): Promise<WrongAggregate[]> {
  const found: WrongAggregate[] = [];
  for (const month of await monthsOf(warehouse, selection.version))
    found.push(...(await wrongInMonth(warehouse, selection, month)));
  return found;
}

const maxTries = 5;

/** Rows and aggregates are read one after the other, and inserts continue: only repeated differences are real. */
async function wrongInMonth(warehouse: Warehouse, selection: TableSelection, month: Month): Promise<WrongAggregate[]> {
  const sql = aggregatesSql(tableName(warehouse, selection.version), accountCondition(selection.account));
  for (let tries = 1; ; tries++) {
    const found = await query<{ aggregate: string; name: string; rows: string; aggregated: string }>(warehouse, sql, {
      ...daysOf(month),
      account: selection.account,
    });
    if (found.length > 0 && tries < maxTries) continue;
    return found.map(({ aggregate, name, rows, aggregated }) => ({
      aggregate,
      subject: name,
      rows: Number(rows),
      aggregated: Number(aggregated),
    }));
  }
}

/** Grouped by code or account alone, since groups by all keys of a projection would be nearly as many as rows. */
function aggregatesSql(table: string, condition: string): string {
  const all = Object.entries(projections);
  // The rows are counted once, for all projections of the subject.
  const rowsBy = (subject: string) => {
    const names = all.filter(([, projection]) => projection.subject === subject).map(([name]) => `'${name}'`);
    return `SELECT arrayJoin([${names.join()}]) AS aggregate, name, n AS r, 0 AS a FROM (
      SELECT ${subject} AS name, count() AS n FROM ${table} WHERE ${isInMonth('time')} AND ${condition}
      GROUP BY name SETTINGS optimize_use_projections = 0)`;
  };
  const aggregated = all.map(
    ([aggregate, { subject, time, only }]) =>
      `SELECT '${aggregate}' AS aggregate, ${subject} AS name, 0 AS r, count() AS a FROM ${table}
       WHERE ${isInMonth(time)} AND ${condition} AND ${only} GROUP BY name`,
  );
  return `SELECT aggregate, name, toString(sum(r)) AS rows, toString(sum(a)) AS aggregated
    FROM (${[rowsBy('code'), rowsBy('account'), ...aggregated].join(' UNION ALL ')})
    GROUP BY aggregate, name HAVING sum(r) != sum(a)`;
}
