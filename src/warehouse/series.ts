import { type Reading, rowsOf } from './reading.ts';
import { grouped, parametersOf, type Selection } from './selection.ts';

export const intervals = ['hour', 'day', 'week', 'month'] as const;
export type Interval = (typeof intervals)[number];

export interface Counted {
  scans: number;
  visitors: number;
}

/** The name of the bucket that an hour is in. */
const bucketOf: Record<Interval, string> = {
  hour: "formatDateTime(hour, '%Y-%m-%dT%H:00:00Z')",
  day: "formatDateTime(hour, '%Y-%m-%d')",
  week: "formatDateTime(toMonday(hour), '%Y-%m-%d')",
  month: "formatDateTime(hour, '%Y-%m')",
};

const figures = 'count() AS scans, uniqCombined64State(visitor) AS visitors';

/** Scans by the hour, day, week (from its Monday) or month; those without any are not there. */
export async function readSeries(
  reading: Reading,
  selection: Selection,
  interval: Interval,
): Promise<Map<string, Counted>> {
  const hours = grouped(reading, selection, { unit: 'hour', keys: ['toStartOfHour(time) AS hour'], figures });
  return counted(reading, selection, `${bucketOf[interval]} AS name`, hours);
}

/** Scans by the destination that the code had, under the number of its revision. */
export async function readRevisions(reading: Reading, selection: Selection): Promise<Map<string, Counted>> {
  const revisions = grouped(reading, selection, { unit: 'hour', keys: ['revision'], figures });
  return counted(reading, selection, 'toString(revision) AS name', revisions);
}

async function counted(reading: Reading, selection: Selection, name: string, groups: string) {
  const rows = await rowsOf<{ name: string; n: number | string; distinct: number | string }>(
    reading,
    `SELECT ${name}, sum(scans) AS n, uniqCombined64Merge(visitors) AS distinct FROM (${groups}) GROUP BY name`,
    parametersOf(selection),
  );
  return new Map(
    rows.map(({ name: bucket, n, distinct }) => [bucket, { scans: Number(n), visitors: Number(distinct) }]),
  );
}
