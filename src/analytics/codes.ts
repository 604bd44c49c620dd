import { type Reading, rowsOf } from './reading.ts';
import { grouped, parametersOf, type Selection } from './selection.ts';

/** SQL for the scans of each code, most first, and of ties the oldest code first. */
export const rankedCodes = (reading: Reading, selection: Selection) => `
  SELECT code, sum(n) AS scans
  FROM (${grouped(reading, selection, { unit: 'hour', keys: ['code'], figures: 'count() AS n' })})
  GROUP BY code
  ORDER BY scans DESC, code`;

export interface CodeFigures {
  code: string;
  scans: number;
  visitors: number;
  uniqueScans: number;
}

type Row = Record<'scans' | 'visitors' | 'unique_scans' | 'codes', number | string> & { code: string };

const figures = 'count() AS n, countIf(is_unique) AS firsts, uniqCombined64State(visitor) AS states';

/** One page of the codes with scans, most scans first, and the number of all codes with scans. */
export async function readCodes(
  reading: Reading,
  selection: Selection,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ codes: CodeFigures[]; total: number }> {
  const rows = await rowsOf<Row>(
    reading,
    `SELECT code, sum(n) AS scans, uniqCombined64Merge(states) AS visitors, sum(firsts) AS unique_scans,
       count() OVER () AS codes
     FROM (${grouped(reading, selection, { unit: 'hour', keys: ['code'], figures })})
     GROUP BY code
     ORDER BY scans DESC, code
     LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
    { ...parametersOf(selection), offset, limit },
  );
  const codes = rows.map(({ code, scans, visitors, unique_scans }) => ({
    code,
    scans: Number(scans),
    visitors: Number(visitors),
    uniqueScans: Number(unique_scans),
  }));
  // A page past the end has no row that could say how many there are.
  const total = rows[0]?.codes ?? (offset === 0 ? 0 : await countCodes(reading, selection));
  return { codes, total: Number(total) };
}

async function countCodes(reading: Reading, selection: Selection): Promise<number | string> {
  const query = `SELECT count() AS codes FROM (${rankedCodes(reading, selection)})`;
  const [row] = await rowsOf<Pick<Row, 'codes'>>(reading, query, parametersOf(selection));
  return row?.codes ?? 0;
}
