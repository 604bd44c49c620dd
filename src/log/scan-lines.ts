import { lineEscapes, lineFields, ScanLine } from '../../events/scan-line.ts';
import type { Queryable } from './connect.ts';

const escapedInSql = (column: string) =>
  lineEscapes.reduce((done, [character, written]) => `replace(${done}, '${character}', '${written}')`, column);

const expressions: Partial<Record<(typeof lineFields)[number], string>> = {
  occurred_at: "s.occurred_at AT TIME ZONE 'UTC'",
  region: escapedInSql('s.region'),
  city: escapedInSql('s.city'),
};

/** Postgres writes the lines itself, so that what only passes through need not be taken apart and put together. */
const line = `concat_ws(E'\\t', ${lineFields.map((name) => expressions[name] ?? `s.${name}`).join(', ')})`;

/** Up to `limit` scans behind `after` up to `to`, in the order of the log. */
export async function readScans(sql: Queryable, after: number, to: number, limit: number): Promise<ScanLine[]> {
  // All in one row: what the driver does for each costs more than all else that is done with a scan.
  const [row] = await sql<[{ lines: string | null }]>`
    SELECT string_agg(line, E'\\n' ORDER BY position) AS lines FROM (
      SELECT s.position, ${sql.unsafe(line)} AS line FROM scans s
      WHERE s.position > ${after} AND s.position <= ${to} ORDER BY s.position LIMIT ${limit}
    ) AS wanted`;
  return row.lines === null ? [] : row.lines.split('\n').map((text) => new ScanLine(text));
}

interface Piece {
  after: number;
  to: number;
  endedBy: number;
}

/**
 * All scans behind `after` up to `to` in one text. A scan that comes behind the end of its code is left out, and so are
 * all scans of codes that had ended at `endedBy`.
 *
 * Not by COPY: `postgres` leaves the socket paused behind one that ends just when its reader is busy, and the connection
 * never answers again.
 */
export async function readScanText(
  sql: Queryable,
  { after, to, endedBy }: Piece,
): Promise<{ lines: string; count: number }> {
  const [row] = await sql<[{ lines: string; count: number }]>`
    SELECT coalesce(string_agg(${sql.unsafe(line)} || E'\\n', ''), '') AS lines, count(*) AS count
    FROM scans s LEFT JOIN events e ON e.stream = s.code AND e.type = 'code_deleted'
    WHERE s.position > ${after} AND s.position <= ${to}
      AND (e.position IS NULL OR e.position > greatest(s.position, ${endedBy}))`;
  return row;
}
