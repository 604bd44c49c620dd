import type { RecordedScan } from '../../events/scan.ts';
import { isFallbackSql } from '../../events/targeting/resolver.ts';
import type { Queryable } from '../lib/sql.ts';
import { codeRanges } from './by-code.ts';
import type { Difference } from './scan-counts.ts';

const maxPositionsPerQuery = 200_000;

/**
 * An edge that does not have a new limit yet stores scans without counting them, and so does a spool with scans of before the
 * limit. Scans that happened up to this long after the limit was set, and are after it in the log, may be missing in the count.
 */
const spreadMs = 60_000;

export interface Limit {
  code: string;
  /** Null without a row: no limit is enforced. */
  used: number | null;
  /** When `max_scans` was set, which counted the scans until then. */
  set_position: number;
  set_at: Date;
  /** Scans that count and are no longer in the table `scans`. */
  dropped: number;
}

/** Scans that are in archive files, and that may be missing in the count of their code, by code. */
export type UncertainScans = Map<string, number>;

/** The codes with a limit, and how many of their scans the table `scans` no longer has. */
export async function readLimits(sql: Queryable, account: string | undefined): Promise<Limit[]> {
  const limits: Limit[] = [];
  for await (const { after, to } of codeRanges(sql))
    limits.push(
      ...(await sql<Limit[]>`
        SELECT c.id AS code, l.used, s.position AS set_position, s.occurred_at AS set_at,
          coalesce(d.total_scans - d.uncounted_scans, 0) + coalesce(a.total_scans - a.uncounted_scans, 0) AS dropped
        FROM codes c
        CROSS JOIN LATERAL (
          SELECT position, occurred_at FROM events
          WHERE stream = c.id AND type IN ('code_created', 'limit_changed') ORDER BY version DESC LIMIT 1
        ) AS s
        LEFT JOIN limited_scans l ON l.code = c.id
        LEFT JOIN dropped_scans d ON d.code = c.id
        LEFT JOIN archived_scans a ON a.code = c.id
        WHERE c.id > ${after} AND c.id <= ${to} AND c.max_scans IS NOT NULL AND c.status <> 'deleted'
          -- Not of an account that is being imported, whose counts come last.
          AND EXISTS (SELECT FROM accounts a WHERE a.id = c.account)
          ${account === undefined ? sql`` : sql`AND c.account = ${account}`}`),
    );
  return limits;
}

/** Whether a scan that counts may be missing in the count of its limit. */
export const isUncertain = (
  { set_position, set_at }: Limit,
  { position, occurred_at }: Pick<RecordedScan, 'position' | 'occurred_at'>,
): boolean => position > set_position && occurred_at.getTime() < set_at.getTime() + spreadMs;

/** Compares the counts of scans against `max_scans` with the log, up to its end at `head` when `limits` were read. */
export async function verifyLimits(
  sql: Queryable,
  { limits, head }: { limits: Limit[]; head: number },
  archived: UncertainScans,
): Promise<Difference[]> {
  if (limits.length === 0) return [];
  const logged = await countLogged(sql, limits, head);
  return limits.flatMap(({ code, used, dropped }) => {
    const { scans, uncertain } = logged.get(code) ?? { scans: 0, uncertain: 0 };
    const expected = scans + dropped;
    const least = expected - uncertain - (archived.get(code) ?? 0);
    if (used !== null && used <= expected && used >= least) return [];
    return [
      { what: 'max_scans', code, log: `${expected} scans that count`, found: used === null ? 'no count' : `${used}` },
    ];
  });
}

interface Logged {
  scans: number;
  /** How many of `scans` may be missing in the count. */
  uncertain: number;
}

/** Counts the scans of codes that count against a limit, by code. */
async function countLogged(sql: Queryable, limits: Limit[], head: number): Promise<Map<string, Logged>> {
  const counts = new Map<string, Logged>();
  const codes = limits.map(({ code, set_position, set_at }) => ({
    code,
    set_position,
    spread_to: new Date(set_at.getTime() + spreadMs).toISOString(),
  }));
  for (let from = 0; from < head; from += maxPositionsPerQuery) {
    const rows = await sql<({ code: string } & Logged)[]>`
      SELECT s.code, count(*) AS scans,
        count(*) FILTER (WHERE s.position > l.set_position AND s.occurred_at < l.spread_to) AS uncertain
      FROM scans s JOIN jsonb_to_recordset(${sql.json(codes)}) AS l (code text, set_position bigint, spread_to timestamptz)
        ON l.code = s.code
      WHERE s.position > ${from} AND s.position <= ${Math.min(from + maxPositionsPerQuery, head)}
        AND NOT s.is_bot AND (${sql.unsafe(isFallbackSql)}) IS NOT TRUE
      GROUP BY s.code`;
    for (const { code, scans, uncertain } of rows) {
      const before = counts.get(code) ?? { scans: 0, uncertain: 0 };
      counts.set(code, { scans: before.scans + scans, uncertain: before.uncertain + uncertain });
    }
  }
  return counts;
}
