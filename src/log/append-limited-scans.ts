import type { Scan } from '../../events/scan.ts';
import type { Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { locks } from './locks.ts';

interface Appended {
  /** The ids of the scans that were within the limit of their code. */
  stored: Set<string>;
  /** Codes that have no scans left. */
  reached: Set<string>;
}

/**
 * Stores scans of codes with `max_scans`, as far as the limits allow, in one statement. Unlike `appendScans` it must not be
 * repeated: after an error it is unknown whether the scans are stored and counted, and their requests are answered with 503.
 */
export async function appendLimitedScans(sql: Sql, scans: Scan[]): Promise<Appended> {
  const timeoutMs = timeouts.limitedScansMs;
  const query = insertScans(sql, scans);
  const [row] = await withTimeout(query, timeoutMs, () => {
    // It could count scans later that no one is redirected for.
    query.cancel();
    throw new Error(`Postgres did not store scans of codes with a limit within ${timeoutMs} ms`);
  });
  if (row === undefined) throw new Error('Postgres did not report which scans of codes with a limit it has stored');
  return { stored: new Set(row.stored), reached: new Set(row.reached) };
}

/**
 * The rows of `limited_scans` are locked first, in the order of their codes, then visitors are inserted, then the append
 * lock is taken: the same order everywhere, so that no two statements wait for each other. A locked row is read in its
 * newest version, also if it has changed since the statement began.
 */
function insertScans(sql: Sql, scans: Scan[]) {
  const rows = scans.map((scan, n) => ({ ...scan, n, occurred_at: scan.occurred_at.toISOString() }));
  const codes = [...new Set(scans.map(({ code }) => code))];
  return sql<{ stored: string[]; reached: string[] }[]>`
    WITH given AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(${sql.json(rows)}) AS g (n int, id text, code text, account text, mode text,
        occurred_at timestamptz, country text, region text, city text, device text, browser text, is_bot boolean,
        visitor uuid, revision int, rule text, variant text)
    ),
    limits AS MATERIALIZED (
      SELECT l.code, c.max_scans - l.used AS remaining
      FROM limited_scans l JOIN codes c ON c.id = l.code
      WHERE l.code = ANY(${codes}::text[]) AND c.max_scans IS NOT NULL
      ORDER BY l.code FOR UPDATE OF l
    ),
    numbered AS MATERIALIZED (
      SELECT g.*, l.remaining, row_number() OVER (PARTITION BY g.code, g.is_bot ORDER BY g.n) AS turn
      FROM given g LEFT JOIN limits l ON l.code = g.code
    ),
    -- Without a limit, because it was removed a moment ago: all.
    accepted AS MATERIALIZED (
      SELECT *, row_number() OVER (PARTITION BY code, visitor ORDER BY n) = 1 AS is_first FROM numbered
      WHERE remaining IS NULL OR CASE WHEN is_bot THEN remaining > 0 ELSE turn <= remaining END
    ),
    counted AS (
      UPDATE limited_scans l SET used = l.used + a.scans
      FROM (SELECT code, count(*) AS scans FROM accepted WHERE NOT is_bot AND remaining IS NOT NULL GROUP BY code) AS a
      WHERE l.code = a.code
      RETURNING l.code
    ),
    newcomers AS (
      INSERT INTO visitors (code_hash, visitor)
      SELECT hashtextextended(code, 0) AS code_hash, visitor FROM accepted WHERE is_first ORDER BY code_hash, visitor
      ON CONFLICT DO NOTHING
      RETURNING visitor
    ),
    locked AS MATERIALIZED (
      SELECT pg_advisory_xact_lock(${locks.append})
      FROM (SELECT (SELECT count(*) FROM counted), (SELECT count(*) FROM newcomers)) AS decided
    ),
    stored AS (
      INSERT INTO scans (position, id, code, account, mode, occurred_at, country, region, city, device, browser, is_bot,
        visitor, is_unique, revision, rule, variant)
      SELECT nextval('log_position'), a.id, a.code, a.account, a.mode, a.occurred_at, a.country, a.region, a.city,
        a.device, a.browser, a.is_bot, a.visitor, a.is_first AND v.visitor IS NOT NULL, a.revision, a.rule, a.variant
      FROM locked, accepted a LEFT JOIN newcomers v ON v.visitor = a.visitor
      RETURNING id
    )
    SELECT ARRAY(SELECT id FROM stored) AS stored,
      ARRAY(
        SELECT l.code FROM limits l
        WHERE l.remaining <= (SELECT count(*) FROM accepted a WHERE a.code = l.code AND NOT a.is_bot)
      ) AS reached`;
}
