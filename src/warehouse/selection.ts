import type { Owner } from '../../events/owner.ts';
import type { Reading } from './reading.ts';
import { tableName } from './tables.ts';

export const botChoices = ['include', 'exclude', 'only'] as const;

/** Which scans a read is about. */
export interface Selection extends Owner {
  /** Those of one code, or of all codes of the account but some. */
  codes: { only: string } | { without: string[] };
  /** The first and the last millisecond. */
  start: Date;
  end: Date;
  bots: (typeof botChoices)[number];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** What ClickHouse's shorter types of time can hold. No scan is older than the service, and none from behind 2105. */
const latest = Date.UTC(2106, 0, 1);
const within = (ms: number) => Math.min(Math.max(ms, 0), latest);

interface Span {
  from: number;
  until: number;
}

const isEmpty = ({ from, until }: Span) => from >= until;

/** The span without its broken pieces at both ends; an empty one at its end when nothing is left. */
function wholeUnits({ from, until }: Span, unitMs: number): Span {
  const whole = { from: Math.ceil(from / unitMs) * unitMs, until: Math.floor(until / unitMs) * unitMs };
  return isEmpty(whole) ? { from: until, until } : whole;
}

const spanOf = ({ start, end }: Selection): Span => ({
  from: within(start.getTime()),
  until: within(end.getTime() + 1),
});

/** Every value that the conditions below name. */
export function parametersOf(selection: Selection): Record<string, unknown> {
  const { account, mode, codes } = selection;
  const span = spanOf(selection);
  const times = { '': span, hour_: wholeUnits(span, hourMs), day_: wholeUnits(span, dayMs) };
  const named = Object.entries(times).flatMap(([unit, { from, until }]) => [
    [`${unit}from`, new Date(from)],
    [`${unit}until`, new Date(until)],
  ]);
  return {
    ...Object.fromEntries(named),
    ...{ account, mode },
    ...('only' in codes ? { code: codes.only } : Object.fromEntries(withoutChunks(codes.without))),
  };
}

/** A server limits one field of a request to 131,072 bytes, about 4,600 codes. */
const maxCodesPerField = 2_000;

/** Codes to leave out, by the names of their parameters. */
function withoutChunks(codes: string[]): [name: string, codes: string[]][] {
  const count = Math.max(1, Math.ceil(codes.length / maxCodesPerField));
  return Array.from({ length: count }, (_, i) => [
    `without_${i}`,
    codes.slice(i * maxCodesPerField, (i + 1) * maxCodesPerField),
  ]);
}

export const timeParameter = (name: string) => `{${name}:DateTime64(3, 'UTC')}`;

/** Which scans, at whatever time. */
export function scope({ codes, bots }: Pick<Selection, 'codes' | 'bots'>): string {
  const without = (list: string[]) =>
    withoutChunks(list)
      .map(([name]) => `code NOT IN {${name}:Array(String)}`)
      .join(' AND ');
  const ofCodes = 'only' in codes ? 'code = {code:String}' : without(codes.without);
  const byBots = { include: '', exclude: ' AND NOT is_bot', only: ' AND is_bot' }[bots];
  return `account = {account:String} AND mode = {mode:String} AND ${ofCodes}${byBots}`;
}

/** The span's pieces at both ends that belong to no whole unit. */
const inPieces = (unit: Unit) =>
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

/**
 * Where the scans of a selection come from: those of whole hours (or days) from the projection for what they are grouped
 * by, those of the pieces at both ends from the rows.
 */
export function sourcesOf(
  { warehouse, version }: Reading,
  selection: Selection,
  unit: Unit,
): { whole: string | undefined; pieces: string | undefined } {
  const from = (times: string) => `FROM ${tableName(warehouse, version)} WHERE ${scope(selection)} AND ${times}`;
  const span = spanOf(selection);
  const whole = wholeUnits(span, units[unit].ms);
  const broken = whole.from > span.from || whole.until < span.until;
  return {
    // With nothing to read at all, this is what answers with nothing.
    whole: isEmpty(whole) && broken ? undefined : from(units[unit].inWhole),
    pieces: broken ? from(inPieces(unit)) : undefined,
  };
}

/** All that is there of some selects, as one. */
export const union = (selects: (string | undefined)[]) =>
  selects.filter((select) => select !== undefined).join('\nUNION ALL\n');

/** Scans in groups. The same group can come twice, so whoever reads this adds up. */
export function grouped(
  reading: Reading,
  selection: Selection,
  { unit, keys = [], figures }: { unit: Unit; keys?: string[]; figures: string },
): string {
  const by = keys.length === 0 ? '' : `GROUP BY ${keys.map((key) => key.replace(/ AS \w+$/, '')).join(', ')}`;
  const { whole, pieces } = sourcesOf(reading, selection, unit);
  return union([whole, pieces].map((source) => source && `SELECT ${[...keys, figures].join(', ')} ${source} ${by}`));
}
