import { hourMs } from './calendar.ts';
import { type Reading, rowsOf } from './reading.ts';
import { parametersOf, type Selection, scope, timeParameter } from './selection.ts';
import { tableName } from './tables.ts';

/** A part of an export's period, from `from` to before `until`, in milliseconds. */
export interface Window {
  from: number;
  until: number;
}

interface CountedWindow extends Window {
  rows: number;
}

interface Unit {
  /** SQL for the number of the unit that contains `time`. */
  number: string;
  startOf(number: number): number;
}

/**
 * From coarse to fine. A month of UTC is a partition of the table. Within one the rows are in the order of their codes, so
 * counting them by a finer unit reads the times of all scans that the account has in that month, and nothing of other months.
 */
const units: Unit[] = [
  { number: 'toYear(time) * 12 + toMonth(time) - 1', startOf: (month) => Date.UTC(Math.floor(month / 12), month % 12) },
  { number: 'intDiv(toUnixTimestamp(time), 3600)', startOf: (hour) => hour * hourMs },
  { number: 'toUnixTimestamp(time)', startOf: (second) => second * 1000 },
];

/** The scans of a selection that are in a window. */
export const during = (selection: Selection, { from, until }: Window): Selection => ({
  ...selection,
  start: new Date(Math.max(selection.start.getTime(), from)),
  end: new Date(Math.min(selection.end.getTime(), until - 1)),
});

/** Runs a read of the export's selection on the table in use. */
export type ReadSelection = <T>(read: (reading: Reading, selection: Selection) => Promise<T>) => Promise<T>;

/**
 * Divides an export into windows of at most `maxRows` scans, oldest first; a single second may have more. A chunk that sorted
 * all that is left of the export would make the time of an export grow with the square of its length.
 */
export const windowsOf = (read: ReadSelection, maxRows: number): AsyncGenerator<Window> =>
  divided(read, { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }, units, maxRows);

async function* divided(
  read: ReadSelection,
  window: Window,
  [unit, ...finer]: Unit[],
  maxRows: number,
): AsyncGenerator<Window> {
  if (unit === undefined) return yield window;
  const counted = await read((reading, selection) => countBy(unit, reading, during(selection, window)));
  for (const part of merged(counted, maxRows))
    if (part.rows > maxRows) yield* divided(read, part, finer, maxRows);
    else yield part;
}

/** The units that have scans. */
async function countBy(unit: Unit, reading: Reading, selection: Selection): Promise<CountedWindow[]> {
  const rows = await rowsOf<{ unit: number | string; rows: number | string }>(
    reading,
    `SELECT ${unit.number} AS unit, count() AS rows
     FROM ${tableName(reading.warehouse, reading.version)}
     WHERE ${scope(selection)} AND time >= ${timeParameter('from')} AND time < ${timeParameter('until')}
     GROUP BY unit ORDER BY unit`,
    parametersOf(selection),
  );
  return rows.map(({ unit: number, rows: count }) => ({
    from: unit.startOf(Number(number)),
    until: unit.startOf(Number(number) + 1),
    rows: Number(count),
  }));
}

/** Joins adjacent windows that have at most `maxRows` scans together. */
function merged(windows: CountedWindow[], maxRows: number): CountedWindow[] {
  const joined: CountedWindow[] = [];
  for (const window of windows) {
    const last = joined.at(-1);
    if (last === undefined || last.rows + window.rows > maxRows) joined.push({ ...window });
    else Object.assign(last, { until: window.until, rows: last.rows + window.rows });
  }
  return joined;
}
