import type { Scan } from '../../events/scan.ts';
import { appendLock } from './append.ts';
import type { Sql } from './connect.ts';

/** Scans that are stored together, numbered by who writes them. Sent again, it must be the very same. */
export interface ScanBatch {
  writer: string;
  number: number;
  /** The scans as a JSON array: written once, it is what goes to the spool and to Postgres alike. */
  scans: string;
}

export const batchOf = (writer: string, number: number, scans: Scan[]): ScanBatch => ({
  writer,
  number,
  scans: JSON.stringify(scans),
});

/**
 * Stores a batch, and decides which of its scans are by new visitors, in one statement: one round trip, one commit.
 * A batch that was stored before changes nothing.
 */
export async function appendScans(sql: Sql, { writer, number, scans }: ScanBatch): Promise<void> {
  await sql`
    WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(${appendLock})),
    turn AS (
      INSERT INTO scan_writers AS w (writer, batch, written_at) SELECT ${writer}, ${number}, now() FROM locked
      ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, written_at = excluded.written_at
        WHERE w.batch < excluded.batch
      RETURNING 1
    ),
    given AS MATERIALIZED (
      SELECT s.*, decode(s.visitor, 'hex') AS hash,
        row_number() OVER (PARTITION BY s.code, s.visitor) = 1 AS is_first
      FROM turn, json_to_recordset(${scans}::text::json) AS s (
        id text, code text, account text, mode text, occurred_at timestamptz, country text, region text, city text,
        device text, browser text, is_bot boolean, visitor text, revision integer
      )
    ),
    newcomers AS (
      INSERT INTO visitors (code, visitor) SELECT code, hash FROM given WHERE is_first
      ON CONFLICT DO NOTHING
      RETURNING code, visitor
    )
    INSERT INTO scans (position, id, code, account, mode, occurred_at, country, region, city, device, browser, is_bot,
      visitor, is_unique, revision)
    SELECT nextval('log_position'), g.id, g.code, g.account, g.mode, g.occurred_at, g.country, g.region, g.city,
      g.device, g.browser, g.is_bot, g.hash, g.is_first AND n.code IS NOT NULL, g.revision
    FROM given g LEFT JOIN newcomers n ON n.code = g.code AND n.visitor = g.hash`;
}
