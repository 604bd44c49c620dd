import { offsetName, offsetsOf, splitHours } from './calendar.ts';
import { hasRules, type Reading, rowsOf } from './reading.ts';
import { grouped, groupedByTime, parametersOf, type Selection, spanOf } from './selection.ts';

export const intervals = ['hour', 'day', 'week', 'month'] as const;
export type Interval = (typeof intervals)[number];

export interface Counted {
  scans: number;
  visitors: number;
}

/** SQL for the name of the bucket that has the local time `local`. */
const bucketOf: Record<Interval, string> = {
  hour: "concat(formatDateTime(local, '%Y-%m-%dT%H:00:00'), {offset_names:Array(String)}[span])",
  day: "formatDateTime(local, '%Y-%m-%d')",
  week: "formatDateTime(toMonday(local), '%Y-%m-%d')",
  month: "formatDateTime(local, '%Y-%m')",
};

/**
 * SQL for `local`, which is what the clocks of the zone show at `started`. ClickHouse gets the offsets of the zone within
 * the period instead of its name: the names of buckets are made by this process, whose time zone data may be of another
 * version.
 */
const localTime = `arrayCount(since -> since <= toUnixTimestamp(started), {offsets_since:Array(UInt32)}) AS span,
  started + {offsets:Array(Int32)}[span] AS local`;

/** The local times of a selection: which hours to split, and the parameters of `localTime`. */
function calendarOf(selection: Selection) {
  const { timezone = 'UTC' } = selection;
  const { from, until } = spanOf(selection);
  const offsets = offsetsOf(timezone, from, Math.max(until, from + 1));
  return {
    split: splitHours(offsets),
    parameters: {
      ...parametersOf(selection),
      // The hour in which the period starts may begin before it.
      offsets_since: offsets.map(({ from: since }, i) => (i === 0 ? 0 : since / 1000)),
      offsets: offsets.map(({ offsetMs }) => offsetMs / 1000),
      offset_names: offsets.map(({ offsetMs }) => offsetName(timezone, offsetMs)),
    },
  };
}

const figures = 'count() AS scans, uniqCombined64State(visitor) AS visitors';

/** What a series counts: figures of groups, and how groups of the same bucket are merged. */
interface SeriesFigures {
  figures: string;
  merged: string;
}

/** Statement and parameters for scans by the keys and the name of their bucket. */
function seriesQuery(
  reading: Reading,
  selection: Selection,
  interval: Interval,
  { keys = [], counted = scansAndVisitors }: { keys?: string[]; counted?: SeriesFigures } = {},
) {
  const { split, parameters } = calendarOf(selection);
  const groups = groupedByTime(reading, selection, {
    keys,
    figures: counted.figures,
    split: interval === 'hour' && split.length > 0 ? 'all' : split,
  });
  const columns = [...keys, 'name'].join(', ');
  const query = `SELECT ${columns}, ${counted.merged}
    FROM (SELECT *, ${localTime}, ${bucketOf[interval]} AS name FROM (${groups})) GROUP BY ${columns}`;
  return { query, parameters };
}

/** Scans per hour, day, week (named by its Monday) or month of the time zone; empty buckets are left out. */
export async function readSeries(
  reading: Reading,
  selection: Selection,
  interval: Interval,
): Promise<Map<string, Counted>> {
  const { query, parameters } = seriesQuery(reading, selection, interval);
  return countsOf(await rowsOf<CountedRow>(reading, query, parameters));
}

/** The same for each code that has scans. */
export async function readCodeSeries(
  reading: Reading,
  selection: Selection,
  interval: Interval,
): Promise<Map<string, Map<string, Counted>>> {
  const { query, parameters } = seriesQuery(reading, selection, interval, { keys: ['code'] });
  const rows = await rowsOf<CountedRow & { code: string }>(reading, query, parameters);
  const byCode = Map.groupBy(rows, ({ code }) => code);
  return new Map([...byCode].map(([code, buckets]) => [code, countsOf(buckets)]));
}

/** Scans of each code per day of the time zone. Without visitors, whose sketches need not be merged then. */
export async function readCodeScans(reading: Reading, selection: Selection): Promise<Map<string, Map<string, number>>> {
  const { query, parameters } = seriesQuery(reading, selection, 'day', {
    keys: ['code'],
    counted: { figures: 'count() AS scans', merged: 'sum(scans) AS n' },
  });
  const rows = await rowsOf<Pick<CountedRow, 'name' | 'n'> & { code: string }>(reading, query, parameters);
  const byCode = Map.groupBy(rows, ({ code }) => code);
  return new Map([...byCode].map(([code, days]) => [code, new Map(days.map(({ name, n }) => [name, Number(n)]))]));
}

/** Scans by weekday, 1 for Monday, and hour of the day in the time zone; hours without scans are left out. */
export async function readHeatMap(
  reading: Reading,
  selection: Selection,
): Promise<{ weekday: number; hour: number; scans: number }[]> {
  const { split, parameters } = calendarOf(selection);
  const groups = groupedByTime(reading, selection, {
    figures: 'count() AS n',
    split: split.length > 0 ? 'all' : split,
  });
  const rows = await rowsOf<{ weekday: number; hour: number; scans: number | string }>(
    reading,
    `SELECT toDayOfWeek(local) AS weekday, toHour(local) AS hour, sum(n) AS scans
     FROM (SELECT n, ${localTime} FROM (${groups})) GROUP BY weekday, hour`,
    parameters,
  );
  return rows.map(({ weekday, hour, scans }) => ({ weekday, hour, scans: Number(scans) }));
}

/** Scans per revision of the code's destination, rule and variant, by `leadKey`. */
export async function readLeads(reading: Reading, selection: Selection): Promise<Map<string, Counted>> {
  const keys = hasRules(reading) ? ['revision', 'rule', 'variant'] : ['revision'];
  const groups = grouped(reading, selection, { unit: 'hour', keys, figures });
  const query = `SELECT ${leadKeySql(reading)} AS name, ${merged} FROM (${groups}) GROUP BY name`;
  return countsOf(await rowsOf<CountedRow>(reading, query, parametersOf(selection)));
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
const scansAndVisitors: SeriesFigures = { figures, merged };

const countsOf = (rows: CountedRow[]) =>
  new Map(rows.map(({ name, n, distinct }) => [name, { scans: Number(n), visitors: Number(distinct) }]));
