import { type Reading, rowsOf } from './reading.ts';
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

/** Scans per revision of the code's destination. */
export async function readRevisions(reading: Reading, selection: Selection): Promise<Map<string, Counted>> {
  const revisions = grouped(reading, selection, { unit: 'hour', keys: ['revision'], figures });
  return countBy(reading, selection, 'toString(revision) AS name', revisions);
}

async function countBy(reading: Reading, selection: Selection, name: string, groups: string) {
  const rows = await rowsOf<{ name: string; n: number | string; distinct: number | string }>(
    reading,
    `SELECT ${name}, sum(scans) AS n, uniqCombined64Merge(visitors) AS distinct FROM (${groups}) GROUP BY name`,
    parametersOf(selection),
  );
  return new Map(
    rows.map(({ name: bucket, n, distinct }) => [bucket, { scans: Number(n), visitors: Number(distinct) }]),
  );
}
