import { createHash } from 'node:crypto';
import { StartError } from '../lib/errors.ts';
import { parseLine, textOf } from './compressed-lines.ts';

/**
 * A backup is one compressed stream of lines: first the header; then, for each table, a line with its name and columns
 * followed by one line per row in Postgres' own text format, which is exact for every type; last the number of rows of each
 * table and a checksum of everything before. A file without the last line is incomplete. All lines but rows are JSON objects.
 *
 * | format | compression | a row |
 * |---|---|---|
 * | 1 | gzip | as a JSON string |
 * | 2 | zstd | as it is, `(…)`, with `\\` for a backslash and `\n` for the end of a line |
 */
export const format = 2;

export interface BackupHeader {
  scanlog_backup: number;
  /** The version of Scanlog that wrote it. */
  version: string;
  created_at: string;
  /** The last position of the log. */
  position: number;
  migrations: { name: string; checksum: string }[];
  /** The fingerprint of SECRET_KEY in hex; null when no service has run on the database. */
  secret_key: string | null;
}

export interface TableLine {
  table: string;
  columns: string[];
}

export interface BackupEnd {
  rows: Record<string, number>;
  sha256: string;
}

/** Tables that are in no backup: they are rebuilt, or must not outlive their database. */
export const leftOut = [
  // The target database has its own.
  'migrations',
  // Describes the tables in ClickHouse, which a restored database may not have.
  'warehouse_tables',
  // A trigger counts deliveries while they are restored. Before migration 0032 it had another name.
  'delivery_counts',
  'webhook_delivery_counts',
  // Filled by a trigger as codes are restored, where the database searches by it.
  'code_trigrams',
  // Made from the restored log.
  'account_blocks',
  'indexed_blocks',
  'rate_windows',
  'console_sessions',
  'console_sign_in_links',
  'completed_steps',
  'one_time_links',
  'endpoint_tests',
  'webhook_tests',
  // A restored database must not send them again.
  'mails',
  'mail_attachments',
  // Of the processes and backups of the original.
  'instances',
  'backups',
  // Files that the original database deletes.
  'archive_deletions',
  'archive_leftovers',
];

/** Text of complete lines, each a row. */
export interface BackupRows {
  text: string;
  count: number;
}

/** The lines of rows in Postgres' text format. */
export const rowLines = (rows: string[]): BackupRows => ({
  text: rows.map((row) => `${escapedRow(row)}\n`).join(''),
  count: rows.length,
});

const escapedRow = (row: string) => (/[\\\n]/.test(row) ? row.replaceAll('\\', '\\\\').replaceAll('\n', '\\n') : row);
const unescapedRow = (line: string) =>
  line.includes('\\') ? line.replace(/\\[\\n]/g, (sequence) => (sequence === '\\n' ? '\n' : '\\')) : line;

/** Consecutive rows of one table; a large table comes in many pieces. */
export interface BackupPiece {
  table: TableLine;
  rows: string[];
}

/** A backup that is being read. */
export interface OpenBackup {
  header: BackupHeader;
  /** All rows. The last step compares the checksum and the row counts, and throws when they do not match. */
  pieces: AsyncGenerator<BackupPiece, void>;
}

const notABackup = (file: string) => new StartError(`${file} is not a backup of Scanlog.`);
const damaged = (file: string, reason: string) =>
  new StartError(`${file} is damaged or incomplete, and nothing of it was restored: ${reason}.`);

export async function openBackup(file: string): Promise<OpenBackup> {
  const chunks = textOf(file, { unknown: notABackup, damaged });
  const { value: first } = await chunks.next();
  if (first === undefined) throw damaged(file, 'it ends before its first line does');
  const header = parseLine<BackupHeader>(first.slice(0, first.indexOf('\n')));
  if (typeof header?.scanlog_backup !== 'number') throw notABackup(file);
  if (header.scanlog_backup > format)
    throw new StartError(
      `${file} was written by Scanlog ${header.version} in a newer format: restore it with that version or a newer one.`,
    );
  return { header, pieces: readPieces(file, header, first, chunks) };
}

async function* readPieces(
  file: string,
  header: BackupHeader,
  first: string,
  chunks: AsyncGenerator<string, void>,
): AsyncGenerator<BackupPiece, void> {
  const checksum = createHash('sha256');
  const counts: Record<string, number> = {};
  const rowOf = header.scanlog_backup === 1 ? rowOfJson : rowOfLine;
  let table: TableLine | undefined;
  let end: BackupEnd | undefined;

  function read(text: string): BackupPiece[] {
    const pieces: BackupPiece[] = table === undefined ? [] : [{ table, rows: [] }];
    const lines = text.split('\n');
    // The text ends with the end of a line.
    lines.pop();
    for (const line of lines) {
      if (end !== undefined) throw damaged(file, 'more lines follow its end line');
      const value = line.startsWith('{') ? parseLine<TableLine | { end: BackupEnd } | BackupHeader>(line) : rowOf(line);
      if (typeof value === 'string' && table !== undefined) {
        pieces.at(-1)?.rows.push(value);
        counts[table.table] = (counts[table.table] ?? 0) + 1;
      } else if (typeof value === 'object' && 'end' in value) {
        end = value.end;
        checksum.update(text.slice(0, text.lastIndexOf(line)));
      } else if (typeof value === 'object' && 'table' in value) {
        table = value;
        counts[table.table] = 0;
        pieces.push({ table, rows: [] });
      } else if (typeof value !== 'object' || table !== undefined)
        throw damaged(file, 'it has a line in an unknown format');
    }
    if (end === undefined) checksum.update(text);
    return pieces;
  }

  yield* read(first);
  for await (const text of chunks) yield* read(text);
  const { rows, sha256 } = end ?? { rows: {}, sha256: undefined };
  if (sha256 === undefined) throw damaged(file, 'its end line is missing');
  if (sha256 !== checksum.digest('hex')) throw damaged(file, 'its checksum is wrong');
  for (const [name, count] of Object.entries(rows))
    if (counts[name] !== count) throw damaged(file, `it has ${counts[name] ?? 0} of ${count} rows of table ${name}`);
}

const rowOfJson = (line: string) => (line.startsWith('"') ? parseLine<string>(line) : undefined);
const rowOfLine = (line: string) => (line.startsWith('(') ? unescapedRow(line) : undefined);
