import type { Queryable } from '../log/connect.ts';

/** How often codes were scanned, as somebody says. */
export type Tallies = Map<string, Tally>;

export interface Tally {
  total: number;
  unique: number;
}

export interface Difference {
  /** What says something else than the log. */
  what: string;
  code: string;
  log: string;
  found: string;
}

const none: Tally = { total: 0, unique: 0 };
const inWords = ({ total, unique }: Tally) => `${total} scans, ${unique} unique`;

/** Every code of which `found` says something else than `expected`. */
export function differences(what: string, expected: Tallies, found: Tallies): Difference[] {
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((code) => {
    const [log, other] = [expected.get(code) ?? none, found.get(code) ?? none];
    if (log.total === other.total && log.unique === other.unique) return [];
    return [{ what, code, log: inWords(log), found: inWords(other) }];
  });
}

export function add(tallies: Tallies, more: Iterable<readonly [string, Tally]>): Tallies {
  for (const [code, { total, unique }] of more) {
    const before = tallies.get(code) ?? none;
    tallies.set(code, { total: before.total + total, unique: before.unique + unique });
  }
  return tallies;
}

const step = 500_000;

interface Piece {
  after: number;
  to: number;
  account: string | undefined;
  onProgress?: (position: number) => void;
}

/** What the log says of the scans behind `after`, up to `to`. */
export async function tallyLog(sql: Queryable, { after, to, account, onProgress }: Piece): Promise<Tallies> {
  const tallies: Tallies = new Map();
  for (let from = after; from < to; from += step) {
    const upTo = Math.min(from + step, to);
    const rows = await sql<({ code: string } & Tally)[]>`
      SELECT code, count(*) AS total, count(*) FILTER (WHERE is_unique) AS "unique" FROM scans
      WHERE position > ${from} AND position <= ${upTo} ${account === undefined ? sql`` : sql`AND account = ${account}`}
      GROUP BY code`;
    add(
      tallies,
      rows.map(({ code, ...tally }) => [code, tally]),
    );
    onProgress?.(upTo);
  }
  return tallies;
}
