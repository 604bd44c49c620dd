import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { codeOf, messageOf, StartError } from '../lib/errors.ts';

/**
 * A backup is one gzip stream of lines, each a JSON value: first the header; then, for each table, a line with its name
 * and columns followed by one line per row in Postgres' own text format, which is exact for every type; last the number
 * of rows of each table and a checksum of everything before. A file without the last line is incomplete.
 */
export const format = 1;

export interface BackupHeader {
  scanlog_backup: typeof format;
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
  // A trigger counts deliveries while they are restored.
  'webhook_delivery_counts',
  // Filled by a trigger as codes are restored, where the database searches by it.
  'code_trigrams',
  // Made from the restored log.
  'account_blocks',
  'indexed_blocks',
  'rate_windows',
  'console_sessions',
  'console_sign_in_links',
  'webhook_tests',
  'trace_contexts',
  // Files that the original database deletes.
  'archive_deletions',
  'archive_leftovers',
];

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

const gunzipChunkBytes = 256 * 1024;

const notABackup = (file: string) => new StartError(`${file} is not a backup of Scanlog.`);
const damaged = (file: string, reason: string) =>
  new StartError(`${file} is damaged or incomplete, and nothing of it was restored: ${reason}.`);

export async function openBackup(file: string): Promise<OpenBackup> {
  const chunks = linesOf(file);
  const firstLines = (await chunks.next()).value ?? [];
  const header = parseLine<BackupHeader>(firstLines[0] ?? '');
  if (typeof header?.scanlog_backup !== 'number') throw notABackup(file);
  if (header.scanlog_backup !== format)
    throw new StartError(
      `${file} was written by Scanlog ${header.version} in a newer format: restore it with that version or a newer one.`,
    );
  return { header, pieces: readPieces(file, firstLines, chunks) };
}

async function* readPieces(
  file: string,
  firstLines: string[],
  chunks: AsyncGenerator<string[], void>,
): AsyncGenerator<BackupPiece, void> {
  const checksum = createHash('sha256').update(`${firstLines[0]}\n`);
  const counts: Record<string, number> = {};
  let table: TableLine | undefined;
  let end: BackupEnd | undefined;

  function read(lines: string[]): BackupPiece[] {
    const pieces: BackupPiece[] = table === undefined ? [] : [{ table, rows: [] }];
    for (const line of lines) {
      if (end !== undefined) throw damaged(file, 'more lines follow its end line');
      const value = parseLine<string | TableLine | { end: BackupEnd }>(line);
      if (typeof value === 'object' && value !== null && 'end' in value) {
        end = value.end;
        continue;
      }
      checksum.update(line).update('\n');
      if (typeof value === 'string' && table !== undefined) {
        pieces.at(-1)?.rows.push(value);
        counts[table.table] = (counts[table.table] ?? 0) + 1;
      } else if (typeof value === 'object' && typeof value?.table === 'string') {
        table = value;
        counts[table.table] = 0;
        pieces.push({ table, rows: [] });
      } else throw damaged(file, 'it has a line in an unknown format');
    }
    return pieces;
  }

  yield* read(firstLines.slice(1));
  for await (const lines of chunks) yield* read(lines);
  const { rows, sha256 } = end ?? { rows: {}, sha256: undefined };
  if (sha256 === undefined) throw damaged(file, 'its end line is missing');
  if (sha256 !== checksum.digest('hex')) throw damaged(file, 'its checksum is wrong');
  for (const [name, count] of Object.entries(rows))
    if (counts[name] !== count) throw damaged(file, `it has ${counts[name] ?? 0} of ${count} rows of table ${name}`);
}

function parseLine<T>(line: string): T | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The lines of a gzip file in batches. Not with `readline`, which also splits at U+2028 and U+2029, valid in JSON. */
async function* linesOf(file: string): AsyncGenerator<string[], void> {
  const decoder = new TextDecoder();
  const compressed = createReadStream(file);
  const gunzip = createGunzip({ chunkSize: gunzipChunkBytes });
  compressed.on('error', (error) => gunzip.destroy(error));
  let rest = '';
  try {
    for await (const chunk of compressed.pipe(gunzip)) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() as string;
      if (lines.length > 0) yield lines;
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') throw new StartError(`There is no file ${file}.`);
    if (!code.startsWith('Z_')) throw new StartError(`${file} cannot be read: ${messageOf(error)}`);
    throw /header/.test(messageOf(error)) ? notABackup(file) : damaged(file, messageOf(error));
  } finally {
    compressed.destroy();
  }
}
