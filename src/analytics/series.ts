import { hasRules, type Reading, rowsOf } from './reading.ts';
import { grouped, parametersOf, type Selection } from './selection.ts';

export const intervals = ['hour', 'day', 'week', 'month'] as const;
export type Interval = (typeof intervals)[number];

export interface Counted {
  scans: number;
  visitors: number;
}

/** SQL for the name of the bucket of an hour. */
const bucketOf: Record<Interval, string> = {
  hour: "formatDateTime(hour, '%Y-%m-%dT%H:00:00Z')",
  day: "formatDateTime(hour, '%Y-%m-%d')",
  week: "formatDateTime(toMonday(hour), '%Y-%m-%d')",
  month: "formatDateTime(hour, '%Y-%m')",
};

const figures = 'count() AS scans, uniqCombined64State(visitor) AS visitors';

/** Scans per hour, day, week (named by its Monday) or month; empty buckets are left out. */
export async function readSeries(
  reading: Reading,
  selection: Selection,
  interval: Interval,
): Promise<Map<string, Counted>> {
  const hours = grouped(reading, selection, { unit: 'hour', keys: ['toStartOfHour(time) AS hour'], figures });
  return countBy(reading, selection, `${bucketOf[interval]} AS name`, hours);
}

/** The same for each code that has scans. */
export async function readCodeSeries(
  reading: Reading,
  selection: Selection,
  interval: Interval,
): Promise<Map<string, Map<string, Counted>>> {
  const keys = ['code', 'toStartOfHour(time) AS hour'];
  const rows = await rowsOf<CountedRow & { code: string }>(
    reading,
    `SELECT code, ${bucketOf[interval]} AS name, ${merged}
     FROM (${grouped(reading, selection, { unit: 'hour', keys, figures })}) GROUP BY code, name`,
    parametersOf(selection),
  );
  const byCode = Map.groupBy(rows, ({ code }) => code);
  return new Map([...byCode].map(([code, buckets]) => [code, countsOf(buckets)]));
}

/** Scans by weekday, 1 for Monday, and hour of the day; hours without scans are left out. */
export async function readHeatMap(
  reading: Reading,
  selection: Selection,
): Promise<{ weekday: number; hour: number; scans: number }[]> {
  const hours = grouped(reading, selection, {
    ...{ unit: 'hour', keys: ['toStartOfHour(time) AS started'], figures: 'count() AS n' },
  });
  const rows = await rowsOf<{ weekday: number; hour: number; scans: number | string }>(
    reading,
    `SELECT toDayOfWeek(started) AS weekday, toHour(started) AS hour, sum(n) AS scans FROM (${hours})
     GROUP BY weekday, hour`,
    parametersOf(selection),
  );
  return rows.map(({ weekday, hour, scans }) => ({ weekday, hour, scans: Number(scans) }));
}

/** Scans per revision of the code's destination, rule and variant, by `leadKey`. */
export async function readLeads(reading: Reading, selection: Selection): Promise<Map<string, Counted>> {
  const keys = hasRules(reading) ? ['revision', 'rule', 'variant'] : ['revision'];
  const name = `${leadKeySql(reading)} AS name`;
  return countBy(reading, selection, name, grouped(reading, selection, { unit: 'hour', keys, figures }));
}

/** Names one of the URLs that a code has led to. */
export const leadKey = (revision: number, rule = '', variant = '') => `${revision} ${rule} ${variant}`;

/** SQL for `leadKey`. */
export const leadKeySql = (reading: Reading) =>
  hasRules(reading) ? "concat(toString(revision), ' ', rule, ' ', variant)" : "concat(toString(revision), '  ')";

interface CountedRow {
  name: string;
  n: number | string;
  distinct: number | string;
}

const merged = 'sum(scans) AS n, uniqCombined64Merge(visitors) AS distinct';

async function countBy(reading: Reading, selection: Selection, name: string, groups: string) {
  const query = `SELECT ${name}, ${merged} FROM (${groups}) GROUP BY name`;
  return countsOf(await rowsOf<CountedRow>(reading, query, parametersOf(selection)));
}

const countsOf = (rows: CountedRow[]) =>
  new Map(rows.map(({ name, n, distinct }) => [name, { scans: Number(n), visitors: Number(distinct) }]));
