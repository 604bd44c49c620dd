import { isFallbackSql } from '../../events/targeting/resolver.ts';
import { retryLater } from '../lib/errors.ts';
import type { Queryable, Transaction } from '../lib/sql.ts';

/** Counts the scans of new codes that have a limit, from 0. */
export async function startLimits(tx: Transaction, codes: string[]): Promise<void> {
  await tx`INSERT INTO limited_scans SELECT code, 0 FROM unnest(${codes}::text[]) AS code`;
}

/** Locks the counters of the scans of codes, of those that have one; in one order, so that no two callers wait for each other. */
export async function lockLimits(tx: Transaction, codes: string[]): Promise<void> {
  await tx`SELECT FROM limited_scans WHERE code = ANY(${codes}) ORDER BY code FOR UPDATE`;
}

/** Positions of the log that are counted while the request waits: about 0.1 s. */
const maxPositions = 200_000;
/** Scans that count against a limit. */
const counts = `NOT is_bot AND (${isFallbackSql}) IS NOT TRUE`;

/**
 * Counts the redirects of codes that get a limit: the redirects that the counters have, and the scans that these have not applied yet.
 * Resolves to the position up to which it has counted, for `addUncounted`. Throws `unavailable` while the counters lag.
 */
export async function countUsed(tx: Transaction, codes: string[]): Promise<number> {
  const [{ counted, last }] = await tx<[{ counted: number; last: number }]>`
    SELECT coalesce(min(position), 0) AS counted, (SELECT last_value FROM log_position) AS last
    FROM checkpoints WHERE projection = 'counters'`;
  // Negative while the counters are invalid, until they are rebuilt.
  if (counted < 0 || last - counted > maxPositions)
    throw retryLater('The scans of this code are still being counted: try again in a minute.');
  // One statement, so that counters, checkpoint and log are of one moment.
  const [{ to }] = await tx<[{ to: number }]>`
    WITH reached AS (
      SELECT coalesce(max(position), 0) AS position FROM checkpoints WHERE projection = 'counters'
    ),
    used AS (
      INSERT INTO limited_scans
      SELECT code, coalesce(n.total_scans - n.uncounted_scans, 0) + coalesce(recent.scans, 0)
      FROM unnest(${codes}::text[]) AS code
      LEFT JOIN scan_counts n USING (code)
      LEFT JOIN (
        SELECT code, count(*) AS scans FROM scans
        WHERE position > (SELECT position FROM reached) AND code = ANY(${codes}) AND ${tx.unsafe(counts)}
        GROUP BY code
      ) AS recent USING (code)
      ORDER BY code
      ON CONFLICT (code) DO UPDATE SET used = excluded.used
    )
    SELECT greatest((SELECT position FROM reached), (SELECT max(position) FROM scans)) AS "to"`;
  return to;
}

/** Adds the redirects after position `after`: under the append lock, so that none is missing. */
export const addUncounted = (tx: Transaction, codes: string[], after: number): Promise<unknown> => tx`
  UPDATE limited_scans l SET used = l.used + recent.scans
  FROM (
    SELECT code, count(*) AS scans FROM scans WHERE position > ${after} AND code = ANY(${codes}) AND ${tx.unsafe(counts)}
    GROUP BY code
  ) AS recent
  WHERE l.code = recent.code`;

/** How many redirects of a code with a limit count against it. */
export async function readUsed(sql: Queryable, code: string): Promise<number> {
  const [row] = await sql<{ used: number }[]>`SELECT used FROM limited_scans WHERE code = ${code}`;
  return row?.used ?? 0;
}
