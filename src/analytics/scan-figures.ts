import type { Owner } from '../../events/owner.ts';
import { hasRules, type Reading, rowsOf } from './reading.ts';
import { grouped, parametersOf, type Selection } from './selection.ts';

/** Scans of one code in a period. */
export interface ScanFigures {
  total: number;
  unique: number;
  /** Those that count against `max_scans`: by people, and not to the fallback. */
  used: number;
}

type Row = { code: string } & Record<keyof ScanFigures, number | string>;

/** The scans of each of these codes from `start` to `end`, both included; codes without scans are left out. */
export async function countScans(
  reading: Reading,
  owner: Owner,
  codes: string[],
  { start, end }: { start: Date; end: Date },
): Promise<Map<string, ScanFigures>> {
  if (codes.length === 0) return new Map();
  const { account, mode } = owner;
  const selection: Selection = { account, mode, codes: { among: codes }, start, end, bots: 'include' };
  const keys = hasRules(reading) ? ['code', 'is_bot', 'rule'] : ['code', 'is_bot'];
  const groups = grouped(reading, selection, {
    unit: 'hour',
    keys,
    figures: 'count() AS n, countIf(is_unique) AS firsts',
  });
  const isUsed = hasRules(reading) ? "NOT is_bot AND NOT startsWith(rule, 'f')" : 'NOT is_bot';
  const rows = await rowsOf<Row>(
    reading,
    `SELECT code, sum(n) AS total, sum(firsts) AS unique, sumIf(n, ${isUsed}) AS used FROM (${groups}) GROUP BY code`,
    parametersOf(selection),
  );
  return new Map(
    rows.map(({ code, total, unique, used }) => [
      code,
      { total: Number(total), unique: Number(unique), used: Number(used) },
    ]),
  );
}
