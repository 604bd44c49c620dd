import type { Owner } from '../../events/owner.ts';
import { lineEscapes, lineFields, ScanLine } from '../../events/scan-line.ts';
import type { Queryable } from './connect.ts';

const escapedInSql = (column: string) =>
  lineEscapes.reduce((sql, [character, escaped]) => `replace(${sql}, '${character}', '${escaped}')`, column);

const expressions: Partial<Record<(typeof lineFields)[number], string>> = {
  occurred_at: "s.occurred_at AT TIME ZONE 'UTC'",
  region: escapedInSql('s.region'),
  city: escapedInSql('s.city'),
  // concat_ws leaves out NULL with its tab.
  rule: "coalesce(s.rule, '')",
  variant: "coalesce(s.variant, '')",
};

/** Postgres formats the lines, so that scans that we only forward are never parsed and formatted here. */
const line = `concat_ws(E'\\t', ${lineFields.map((name) => expressions[name] ?? `s.${name}`).join(', ')})`;

/** Up to `limit` scans after position `after`, up to position `to`, in log order. */
export async function readScans(sql: Queryable, after: number, to: number, limit: number): Promise<ScanLine[]> {
  // All lines in one row: the driver's work per row costs more than everything else that we do with a scan.
  const [row] = await sql<[{ lines: string | null }]>`
    SELECT string_agg(line, E'\\n' ORDER BY position) AS lines FROM (
      SELECT s.position, ${sql.unsafe(line)} AS line FROM scans s
      WHERE s.position > ${after} AND s.position <= ${to} ORDER BY s.position LIMIT ${limit}
    ) AS wanted`;
  return row.lines === null ? [] : row.lines.split('\n').map((text) => new ScanLine(text));
}

/** A part of the log, for one account and mode, and one of its codes if `code` is given. */
export interface OwnedRange extends Owner {
  after: number;
  to: number;
  code?: string | undefined;
}

/** Like `readScans`, only of one owner. Reads all scans of the range, since there is no index by account. */
export async function readOwnedScans(
  sql: Queryable,
  { account, mode, code, after, to }: OwnedRange,
  limit: number,
): Promise<ScanLine[]> {
  const [row] = await sql<[{ lines: string | null }]>`
    SELECT string_agg(line, E'\\n' ORDER BY position) AS lines FROM (
      SELECT s.position, ${sql.unsafe(line)} AS line FROM scans s
      WHERE s.position > ${after} AND s.position <= ${to} AND s.account = ${account} AND s.mode = ${mode}
        ${code === undefined ? sql`` : sql`AND s.code = ${code}`}
      ORDER BY s.position LIMIT ${limit}
    ) AS wanted`;
  return row.lines === null ? [] : row.lines.split('\n').map((text) => new ScanLine(text));
}

/** The scans at these positions. The driver has no arrays of `bigint`, so they are passed as text. */
export async function readScansAt(sql: Queryable, positions: number[]): Promise<ScanLine[]> {
  const rows = await sql<{ line: string }[]>`
    SELECT ${sql.unsafe(line)} AS line FROM scans s WHERE s.position = ANY(${`{${positions.join()}}`}::text::bigint[])`;
  return rows.map((row) => new ScanLine(row.line));
}

interface Piece {
  after: number;
  to: number;
  endedBy: number;
}

/**
 * All scans after position `after`, up to position `to`, as one text. Leaves out scans after the deletion of their code,
 * and all scans of codes that were deleted at or before position `endedBy`.
 *
 * Not with COPY: `postgres` leaves the socket paused when a COPY ends while its reader is busy, and the connection then
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
