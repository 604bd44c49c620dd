import type { ScanCount, ScanCounts } from '../../events/scan-count.ts';
import type { Queryable } from '../log/connect.ts';

export interface Difference {
  /** What disagrees with the log. */
  what: string;
  code: string;
  log: string;
  found: string;
}

const none: ScanCount = { total: 0, unique: 0 };
const inWords = ({ total, unique }: ScanCount) => `${total} scans, ${unique} unique`;

/** Every code whose counts in `found` differ from those in `expected`. */
export function differences(what: string, expected: ScanCounts, found: ScanCounts): Difference[] {
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((code) => {
    const [log, other] = [expected.get(code) ?? none, found.get(code) ?? none];
    if (log.total === other.total && log.unique === other.unique) return [];
    return [{ what, code, log: inWords(log), found: inWords(other) }];
  });
}

export function addCounts(counts: ScanCounts, more: Iterable<readonly [string, ScanCount]>): ScanCounts {
  for (const [code, { total, unique }] of more) {
    const before = counts.get(code) ?? none;
    counts.set(code, { total: before.total + total, unique: before.unique + unique });
  }
  return counts;
}

const maxPositionsPerQuery = 500_000;

interface Piece {
  after: number;
  to: number;
  account: string | undefined;
  onProgress?: (position: number) => void;
}

/** Counts the scans of the log after `after`, up to `to`. */
export async function countScansInLog(sql: Queryable, { after, to, account, onProgress }: Piece): Promise<ScanCounts> {
  const counts: ScanCounts = new Map();
  for (let from = after; from < to; from += maxPositionsPerQuery) {
    const upTo = Math.min(from + maxPositionsPerQuery, to);
    const rows = await sql<({ code: string } & ScanCount)[]>`
      SELECT code, count(*) AS total, count(*) FILTER (WHERE is_unique) AS "unique" FROM scans
      WHERE position > ${from} AND position <= ${upTo} ${account === undefined ? sql`` : sql`AND account = ${account}`}
      GROUP BY code`;
    addCounts(
      counts,
      rows.map(({ code, ...count }) => [code, count]),
    );
    onProgress?.(upTo);
  }
  return counts;
}
