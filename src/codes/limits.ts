import { retryLater } from '../lib/errors.ts';
import type { Queryable, Transaction } from '../log/connect.ts';

/** Counts the scans of new codes that have a limit, from 0. */
export async function startLimits(tx: Transaction, codes: string[]): Promise<void> {
  await tx`INSERT INTO limited_scans SELECT code, 0 FROM unnest(${codes}::text[]) AS code`;
}

/** Locks the counters of the scans of codes, of those that have one; in one order, so that no two callers wait for each other. */
export async function lockLimits(tx: Transaction, codes: string[]): Promise<void> {
  await tx`SELECT FROM limited_scans WHERE code = ANY(${codes}) ORDER BY code FOR UPDATE`;
}

/** Positions of the log that are counted while every append waits: about 0.1 s. */
const maxPositions = 200_000;

/**
 * Counts the redirects of codes that get a limit: those of the counters, and of the scans that these have not applied yet.
 * The caller holds the append lock, so that no scan is missing. Throws `unavailable` while the counters lag.
 */
export async function countUsed(tx: Transaction, codes: string[]): Promise<void> {
  const [{ counted, last }] = await tx<[{ counted: number; last: number }]>`
    SELECT coalesce(min(position), 0) AS counted, (SELECT last_value FROM log_position) AS last
    FROM checkpoints WHERE projection = 'counters'`;
  // Negative while the counters are invalid, until they are rebuilt.
  if (counted < 0 || last - counted > maxPositions)
    throw retryLater('The scans of this code are still being counted: try again in a minute.');
  await tx`
    INSERT INTO limited_scans
    SELECT code, coalesce(n.total_scans - n.uncounted_scans, 0) + coalesce(recent.scans, 0)
    FROM unnest(${codes}::text[]) AS code
    LEFT JOIN scan_counts n USING (code)
    LEFT JOIN (
      SELECT code, count(*) AS scans FROM scans
      WHERE position > (SELECT coalesce(max(position), 0) FROM checkpoints WHERE projection = 'counters')
        AND code = ANY(${codes}) AND NOT is_bot AND coalesce(rule, '') NOT LIKE 'f%'
      GROUP BY code
    ) AS recent USING (code)
    ON CONFLICT (code) DO UPDATE SET used = excluded.used`;
}

/** How many redirects of a code with a limit count against it. */
export async function readUsed(sql: Queryable, code: string): Promise<number> {
  const [row] = await sql<{ used: number }[]>`SELECT used FROM limited_scans WHERE code = ${code}`;
  return row?.used ?? 0;
}
