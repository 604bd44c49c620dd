import type { Owner } from '../../events/owner.ts';
import { lineEscapes, lineFields, ScanLine } from '../../events/scan-line.ts';
import type { Queryable } from '../lib/sql.ts';
import {
  type ArchivedRange,
  type ArchiveFile,
  archivedFiles,
  parseFiles,
  readArchivedLines,
  withReplacedFiles,
} from './archives.ts';

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

/** The lines of a statement, and the archive files that it named. */
interface Read {
  lines: string | null;
  archived: string | null;
}

const linesIn = (text: string | null): string[] => (text === null ? [] : text.split('\n'));

/** Up to `limit` scans after position `after`, up to position `to`, in log order. */
export const readScans = (sql: Queryable, after: number, to: number, limit: number): Promise<ScanLine[]> =>
  withReplacedFiles(async () => {
    // All lines in one row: the driver's work per row costs more than everything else that we do with a scan.
    const [row] = await sql<[Read]>`
      SELECT string_agg(line, E'\\n' ORDER BY position) AS lines, ${archivedFiles(sql, after, to)} AS archived FROM (
        SELECT s.position, ${sql.unsafe(line)} AS line FROM scans s
        WHERE s.position > ${after} AND s.position <= ${to} ORDER BY s.position LIMIT ${limit}
      ) AS wanted`;
    return withArchived(row, { after, to, limit });
  });

/** The scans of a statement, after the scans of the archive files that it named: archived scans are the oldest ones. */
async function withArchived({ lines, archived }: Read, range: ArchivedRange): Promise<ScanLine[]> {
  const recent = linesIn(lines);
  if (archived === null) return recent.map((text) => new ScanLine(text));
  const all = [...(await readArchivedLines(parseFiles(archived), range)), ...recent];
  return all.slice(0, range.limit).map((text) => new ScanLine(text));
}

/** A part of the log, for one account and mode, and one of its codes if `code` is given. */
export interface OwnedRange extends Owner {
  after: number;
  to: number;
  code?: string | undefined;
  /** The positions to read; all of the part if undefined. */
  positions?: number[] | undefined;
}

/** The driver has no arrays of `bigint`, so they are passed as text. */
export const isAt = (sql: Queryable, positions: number[]) => sql`= ANY(${`{${positions.join()}}`}::text::bigint[])`;

/** Like `readScans`, only of one owner. Without `positions` it reads all scans of the range: there is no index by account. */
export const readOwnedScans = (
  sql: Queryable,
  { account, mode, code, after, to, positions }: OwnedRange,
  limit: number,
): Promise<ScanLine[]> =>
  withReplacedFiles(async () => {
    if (positions?.length === 0) return [];
    const [row] = await sql<[Read]>`
      SELECT string_agg(line, E'\\n' ORDER BY position) AS lines, ${archivedFiles(sql, after, to)} AS archived FROM (
        SELECT s.position, ${sql.unsafe(line)} AS line FROM scans s
        WHERE s.position > ${after} AND s.position <= ${to} AND s.account = ${account} AND s.mode = ${mode}
          ${code === undefined ? sql`` : sql`AND s.code = ${code}`}
          ${positions === undefined ? sql`` : sql`AND s.position ${isAt(sql, positions)}`}
        ORDER BY s.position LIMIT ${limit}
      ) AS wanted`;
    const isWanted = (text: string) => {
      const scan = new ScanLine(text);
      return scan.account === account && scan.mode === mode && (code === undefined || scan.code === code);
    };
    return withArchived(row, { after, to, limit, isWanted, positions });
  });

/** The scans at these positions. */
export const readScansAt = (sql: Queryable, positions: number[]): Promise<ScanLine[]> =>
  withReplacedFiles(async () => {
    if (positions.length === 0) return [];
    const [after, to] = [Math.min(...positions) - 1, Math.max(...positions)];
    const [row] = await sql<[Read]>`
      SELECT string_agg(${sql.unsafe(line)}, E'\\n' ORDER BY s.position) AS lines, ${archivedFiles(sql, after, to)} AS archived
      FROM scans s WHERE s.position ${isAt(sql, positions)}`;
    return withArchived(row, { after, to, limit: positions.length, positions: positions.toSorted((a, b) => a - b) });
  });

/** The scans after position `after`, up to position `to`, that are in archive files. */
export const readArchivedScans = (
  sql: Queryable,
  { after, to }: { after: number; to: number },
  isWanted: (scan: ScanLine) => boolean = () => true,
): Promise<ScanLine[]> =>
  withReplacedFiles(async () => {
    const [{ archived }] = await sql<
      [{ archived: string | null }]
    >`SELECT ${archivedFiles(sql, after, to)} AS archived`;
    const range = { after, to, isWanted: (text: string) => isWanted(new ScanLine(text)) };
    return (await readArchivedLines(parseFiles(archived), range)).map((text) => new ScanLine(text));
  });

/** A hash of a row of `scans s`, as a number in SQL: sums of it do not depend on the order of rows. */
export const rowHash = 'hash_record_extended(s, 0)::numeric';

/** The scans after position `after`, up to position `to`, that are in the table `scans`, and the sum of their hashes. */
export async function readScanBlock(
  sql: Queryable,
  { after, to }: { after: number; to: number },
): Promise<{ lines: string[]; hash: bigint }> {
  const [row] = await sql<[{ lines: string | null; hash: string }]>`
    SELECT string_agg(${sql.unsafe(line)}, E'\\n' ORDER BY s.position) AS lines,
      coalesce(sum(${sql.unsafe(rowHash)}), 0)::text AS hash
    FROM scans s WHERE s.position > ${after} AND s.position <= ${to}`;
  return { lines: linesIn(row.lines), hash: BigInt(row.hash) };
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
export const readScanText = (sql: Queryable, piece: Piece): Promise<{ lines: string; count: number }> =>
  withReplacedFiles(async () => {
    const { after, to, endedBy } = piece;
    const [row] = await sql<[{ lines: string; count: number; archived: string | null }]>`
      SELECT coalesce(string_agg(${sql.unsafe(line)} || E'\\n', ''), '') AS lines, count(*) AS count,
        ${archivedFiles(sql, after, to)} AS archived
      FROM scans s LEFT JOIN events e ON e.stream = s.code AND e.type = 'code_deleted'
      WHERE s.position > ${after} AND s.position <= ${to}
        AND (e.position IS NULL OR e.position > greatest(s.position, ${endedBy}))`;
    if (row.archived === null) return { lines: row.lines, count: row.count };
    const archived = await readArchivedText(sql, parseFiles(row.archived), piece);
    return { lines: archived.lines + row.lines, count: archived.count + row.count };
  });

async function readArchivedText(sql: Queryable, files: ArchiveFile[], { after, to, endedBy }: Piece) {
  const scans = (await readArchivedLines(files, { after, to })).map((text) => new ScanLine(text));
  const codes = [...new Set(scans.map(({ code }) => code))];
  const deletions = await sql<{ stream: string; position: number }[]>`
    SELECT stream, position FROM events WHERE stream = ANY(${codes}) AND type = 'code_deleted'`;
  const deletedAt = new Map(deletions.map(({ stream, position }) => [stream, position]));
  const kept = scans.filter(({ code, position }) => {
    const end = deletedAt.get(code);
    return end === undefined || end > Math.max(position, endedBy);
  });
  return { lines: kept.map(({ line }) => `${line}\n`).join(''), count: kept.length };
}
