import { serviceStream } from '../../events/service.ts';
import type { Queryable } from '../lib/sql.ts';

/** Codes of which the retention has deleted scans. */
export interface LostCounts {
  /** All scans of each of these codes until now, deleted ones included. */
  now: Map<string, { total: number; unique: number; used: number }>;
  /** Deleted scans are from before this time. */
  before: Date;
}

/** Finds the codes that the retention has deleted scans of. */
export async function lostCounts(sql: Queryable, codes: string[]): Promise<LostCounts> {
  const [rows, [{ before }]] = await Promise.all([
    sql<{ code: string; total: number; unique: number; used: number }[]>`
      SELECT code, n.total_scans AS total, n.unique_scans AS "unique", n.total_scans - n.uncounted_scans AS used
      FROM dropped_scans d JOIN scan_counts n USING (code) WHERE code = ANY(${codes}) AND d.total_scans > 0`,
    // The cutoff of the last run is earlier than one before it if the operator has prolonged the retention since.
    sql<[{ before: Date }]>`
      SELECT coalesce(greatest(
        (SELECT max(before) FROM scan_retention),
        (SELECT max((data ->> 'before')::timestamptz) FROM events WHERE stream = ${serviceStream} AND type = 'scans_dropped')
      ), 'epoch') AS before`,
  ]);
  return { now: new Map(rows.map(({ code, ...figures }) => [code, figures])), before };
}
