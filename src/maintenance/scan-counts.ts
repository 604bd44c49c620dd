import type { ScanCount, ScanCounts } from '../../events/scan-count.ts';
import type { Queryable } from '../lib/sql.ts';

export interface Difference {
  /** The projection or table that differs from the log. */
  what: string;
  code: string;
  log: string;
  found: string;
}

const none: ScanCount = { total: 0, unique: 0 };
const describe = ({ total, unique }: ScanCount) => `${total} scans, ${unique} unique`;

/** Every code whose counts in `found` differ from those in `expected`. */
export function differences(what: string, expected: ScanCounts, found: ScanCounts): Difference[] {
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((code) => {
    const [log, other] = [expected.get(code) ?? none, found.get(code) ?? none];
    if (log.total === other.total && log.unique === other.unique) return [];
    return [{ what, code, log: describe(log), found: describe(other) }];
  });
}

export function addCounts(counts: ScanCounts, more: Iterable<readonly [string, ScanCount]>): ScanCounts {
  for (const [code, { total, unique }] of more) {
    const before = counts.get(code) ?? none;
    counts.set(code, { total: before.total + total, unique: before.unique + unique });
  }
  return counts;
}

/** Subtracts `fewer` from `counts`. */
export const subtractCounts = (counts: ScanCounts, fewer: ScanCounts): ScanCounts =>
  addCounts(
    new Map(counts),
    [...fewer].map(([code, { total, unique }]) => [code, { total: -total, unique: -unique }]),
  );

/** Takes well below a second, and less than the timeout of a statement on a disk that reads 10 MB per second. */
const maxPositionsPerQuery = 200_000;

export interface CountOptions {
  after: number;
  to: number;
  account: string | undefined;
  /** The retention removes scans before this time, up to this position. */
  leaving: { before: Date; up_to: number } | undefined;
  /** Awaited. */
  onProgress?: (position: number) => unknown;
}

export interface LogCounts {
  all: ScanCounts;
  /** The part of `all` that the retention removes. */
  leaving: ScanCounts;
}

const nothing = { before: new Date(0), up_to: 0 };

/** Counts the scans of each code in the log after position `after`, up to position `to`. */
export async function countScansInLog(sql: Queryable, options: CountOptions): Promise<LogCounts> {
  const { after, to, account, leaving: { before, up_to } = nothing, onProgress } = options;
  const counts: LogCounts = { all: new Map(), leaving: new Map() };
  for (let from = after; from < to; from += maxPositionsPerQuery) {
    const upTo = Math.min(from + maxPositionsPerQuery, to);
    const rows = await sql<({ code: string; leaving: boolean } & ScanCount)[]>`
      SELECT code, position <= ${up_to} AND occurred_at < ${before} AS leaving,
        count(*) AS total, count(*) FILTER (WHERE is_unique) AS "unique"
      FROM scans
      WHERE position > ${from} AND position <= ${upTo} ${account === undefined ? sql`` : sql`AND account = ${account}`}
      GROUP BY code, leaving`;
    for (const { code, leaving, ...count } of rows) {
      addCounts(counts.all, [[code, count]]);
      if (leaving) addCounts(counts.leaving, [[code, count]]);
    }
    await onProgress?.(upTo);
  }
  return counts;
}
