import type { Owner } from '../../events/owner.ts';
import { dayMs, hourMs, maxTimeMs, minTimeMs } from './calendar.ts';
import type { Reading } from './reading.ts';
import { tableName } from './tables.ts';

export const botChoices = ['include', 'exclude', 'only'] as const;
export type BotChoice = (typeof botChoices)[number];

export const filterColumns = ['country', 'city', 'device', 'browser'] as const;
/** The value that a column of every selected scan has. */
export type ScanFilters = Partial<Record<(typeof filterColumns)[number], string | undefined>>;

/** The scans that a read selects. */
export interface Selection extends Owner {
  /** One code, some codes, or all codes of the account except some. */
  codes: { only: string } | { among: string[] } | { without: string[] };
  /** The first and the last millisecond, both inclusive. */
  start: Date;
  end: Date;
  bots: BotChoice;
  filters?: ScanFilters;
  /** IANA name of the time zone of buckets, weekdays and hours; UTC by default. */
  timezone?: string;
}

const columnsFilteredBy = ({ filters = {} }: Pick<Selection, 'filters'>) =>
  filterColumns.filter((column) => filters[column] !== undefined);

const clampTime = (ms: number) => Math.min(Math.max(ms, minTimeMs), maxTimeMs);

interface Span {
  from: number;
  until: number;
}

const isEmpty = ({ from, until }: Span) => from >= until;

/** The whole units of a span; an empty span at its end when it contains none. */
function wholeUnits({ from, until }: Span, unitMs: number): Span {
  const whole = { from: Math.ceil(from / unitMs) * unitMs, until: Math.floor(until / unitMs) * unitMs };
  return isEmpty(whole) ? { from: until, until } : whole;
}

/** The time of a selection that can have scans. */
export const spanOf = ({ start, end }: Selection): Span => ({
  from: clampTime(start.getTime()),
  until: clampTime(end.getTime() + 1),
});

/** The values of all parameters in the conditions below. */
export function parametersOf(selection: Selection): Record<string, unknown> {
  const { account, mode, codes, filters = {} } = selection;
  const span = spanOf(selection);
  const times = { '': span, hour_: wholeUnits(span, hourMs), day_: wholeUnits(span, dayMs) };
  const named = Object.entries(times).flatMap(([unit, { from, until }]) => [
    [`${unit}from`, new Date(from)],
    [`${unit}until`, new Date(until)],
  ]);
  return {
    ...Object.fromEntries(named),
    account,
    mode,
    ...Object.fromEntries(columnsFilteredBy(selection).map((column) => [`only_${column}`, filters[column]])),
    ...codeParameters(codes),
  };
}

function codeParameters(codes: Selection['codes']): Record<string, unknown> {
  if ('only' in codes) return { code: codes.only };
  return Object.fromEntries('among' in codes ? chunks('among', codes.among) : chunks('without', codes.without));
}

/** ClickHouse limits one form field to 131,072 bytes, about 4,600 codes. */
const maxCodesPerField = 2_000;

/** Codes in chunks, each with the name of its parameter. */
function chunks(name: 'among' | 'without', codes: string[]): [name: string, codes: string[]][] {
  const count = Math.max(1, Math.ceil(codes.length / maxCodesPerField));
  return Array.from({ length: count }, (_, i) => [
    `${name}_${i}`,
    codes.slice(i * maxCodesPerField, (i + 1) * maxCodesPerField),
  ]);
}

export const timeParameter = (name: string) => `{${name}:DateTime64(3, 'UTC')}`;

/** SQL condition of a selection, without its time span. */
export function scope(selection: Selection): string {
  const botCondition = { include: [], exclude: ['NOT is_bot'], only: ['is_bot'] }[selection.bots];
  return [
    ...['account = {account:String}', 'mode = {mode:String}', ...codeConditions(selection.codes), ...botCondition],
    ...columnsFilteredBy(selection).map((column) => `${column} = {only_${column}:String}`),
  ].join(' AND ');
}

function codeConditions(codes: Selection['codes']): string[] {
  if ('only' in codes) return ['code = {code:String}'];
  if ('among' in codes) {
    const inChunks = chunks('among', codes.among).map(([name]) => `code IN {${name}:Array(String)}`);
    return [`(${inChunks.join(' OR ')})`];
  }
  // Without a condition on codes, the groups of the whole account can be read.
  if (codes.without.length === 0) return [];
  return chunks('without', codes.without).map(([name]) => `code NOT IN {${name}:Array(String)}`);
}

const inWholeHours = `time >= ${timeParameter('hour_from')} AND time < ${timeParameter('hour_until')}`;
const inSpan = `time >= ${timeParameter('from')} AND time < ${timeParameter('until')}`;

/** SQL condition for the parts at both ends of the span that are not whole units. */
const inPartialUnits = (unit: Unit) =>
  `(time >= ${timeParameter('from')} AND time < ${timeParameter(`${unit}_from`)}
    OR time >= ${timeParameter(`${unit}_until`)} AND time < ${timeParameter('until')})`;

type Unit = 'hour' | 'day';

const units = {
  hour: {
    ms: hourMs,
    inWhole: `toStartOfHour(time) >= ${timeParameter('hour_from')} AND toStartOfHour(time) < ${timeParameter('hour_until')}`,
  },
  day: {
    ms: dayMs,
    inWhole: `toDate(time) >= toDate(${timeParameter('day_from')}) AND toDate(time) < toDate(${timeParameter('day_until')})`,
  },
};

/** The FROM and WHERE clauses of the scans of a selection at some times. */
const fromRows = ({ warehouse, version }: Reading, selection: Selection, times: string) =>
  `FROM ${tableName(warehouse, version)} WHERE ${scope(selection)} AND ${times}`;

/** The FROM and WHERE clauses of all scans of a selection, which are read from the rows. */
export const everyScan = (reading: Reading, selection: Selection) => fromRows(reading, selection, inSpan);

/**
 * The FROM and WHERE clauses of a selection: `whole` for whole hours or days, which ClickHouse answers from an aggregate
 * projection, and `partial` for the parts at both ends, which it reads from the rows. A filtered selection is read from the
 * rows alone: no projection has the keys of places, clients and hours together.
 */
export function sourcesOf(
  reading: Reading,
  selection: Selection,
  unit: Unit,
): { whole: string | undefined; partial: string | undefined } {
  const from = (times: string) => fromRows(reading, selection, times);
  if (columnsFilteredBy(selection).length > 0) return { whole: undefined, partial: from(inSpan) };
  const span = spanOf(selection);
  const whole = wholeUnits(span, units[unit].ms);
  const hasPartial = whole.from > span.from || whole.until < span.until;
  return {
    // An empty span still needs one source, which returns no rows.
    whole: isEmpty(whole) && hasPartial ? undefined : from(units[unit].inWhole),
    partial: hasPartial ? from(inPartialUnits(unit)) : undefined,
  };
}

/** UNION ALL of the selects that are defined. */
export const union = (selects: (string | undefined)[]) =>
  selects.filter((select) => select !== undefined).join('\nUNION ALL\n');

/** How `groupedByTime` tells groups of scans apart by time. */
export interface TimeGroups {
  /** Keys besides the time. */
  keys?: string[];
  figures: string;
  /** Hours of the UTC day that must be split: `splitHours` of calendar.ts, or all hours. */
  split: number[] | 'all';
}

const byHour = 'toStartOfHour(time)';
const byQuarter = 'toStartOfFifteenMinutes(time)';

/**
 * Selects scans grouped by time, as `started`: an hour, or a quarter of one where an hour must be split because a bucket
 * begins in it. Whole hours are read from the projection, and split ones from the rows, because a projection by quarters
 * of an hour would be up to four times as large, and reads in most zones as much slower. The days of a half-hour zone split
 * one hour of 24; its hours split all.
 */
export function groupedByTime(reading: Reading, selection: Selection, groups: TimeGroups): string {
  const { split } = groups;
  const select = (source: string | undefined, time: string) =>
    source && selectGroups(source, { ...groups, keys: [...(groups.keys ?? []), `${time} AS started`] });
  const from = (times: string) => fromRows(reading, selection, times);
  if (split === 'all') return select(from(inSpan), byQuarter) ?? '';
  const { whole, partial } = sourcesOf(reading, selection, 'hour');
  if (split.length === 0) return union([whole, partial].map((source) => select(source, byHour)));
  const hours = `(${split.join(', ')})`;
  const isFiltered = columnsFilteredBy(selection).length > 0;
  return union([
    select(whole && `${whole} AND toHour(${byHour}) NOT IN ${hours}`, byHour),
    select(partial, byQuarter),
    select(isFiltered ? undefined : from(`${inWholeHours} AND toHour(time) IN ${hours}`), byQuarter),
  ]);
}

/** Selects grouped scans. A group can occur twice, for whole and partial units, so the caller must sum the figures. */
export function grouped(
  reading: Reading,
  selection: Selection,
  { unit, keys = [], figures }: { unit: Unit; keys?: string[]; figures: string },
): string {
  const { whole, partial } = sourcesOf(reading, selection, unit);
  return union([whole, partial].map((source) => source && selectGroups(source, { keys, figures })));
}

function selectGroups(source: string, { keys, figures }: { keys: string[]; figures: string }): string {
  const groupBy = keys.length === 0 ? '' : `GROUP BY ${keys.map((key) => key.replace(/ AS \w+$/, '')).join(', ')}`;
  return `SELECT ${[...keys, figures].join(', ')} ${source} ${groupBy}`;
}
