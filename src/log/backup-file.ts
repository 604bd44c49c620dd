import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { codeOf, messageOf, StartError } from '../lib/errors.ts';

/**
 * A backup is one gzip stream of lines, each a JSON value: first what it is a backup of; then each table under its name,
 * with a row a line as Postgres itself writes a row, which is exact for every type; last how many rows there were, and
 * a checksum of everything before. One without its last line is not whole.
 */
export const format = 1;

export interface BackupHeader {
  scanlog_backup: typeof format;
  /** The version that wrote it. */
  version: string;
  created_at: string;
  /** Where the log ended. */
  position: number;
  migrations: { name: string; checksum: string }[];
  /** The fingerprint of SECRET_KEY in hex; nothing when no service has run on the database. */
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

/** Tables that are in no backup: what is made anew, or should not outlive the database that it is in. */
export const leftOut = [
  // The database that is restored into has its own.
  'migrations',
  // What ClickHouse has: the one beside the restored database may have none of it.
  'warehouse_tables',
  // Counted by a trigger as deliveries are restored.
  'webhook_delivery_counts',
  // Filled by a trigger as codes are restored, where the database searches by it.
  'code_trigrams',
  'rate_windows',
  'console_sessions',
  'webhook_tests',
];

/** Rows of one table, in their order; a large table comes in many pieces. */
export interface BackupPiece {
  table: TableLine;
  rows: string[];
}

/** A backup that is being read. */
export interface OpenBackup {
  header: BackupHeader;
  /** Everything up to the end, which is checked: the last step throws when anything is missing or not as written. */
  pieces: AsyncGenerator<BackupPiece, void>;
}

const unpackedAtOnce = 256 * 1024;

const notOurs = (file: string) => new StartError(`${file} is not a backup of Scanlog.`);
const damaged = (file: string, why: string) =>
  new StartError(`${file} is damaged or not whole, and nothing of it was restored: ${why}.`);

export async function openBackup(file: string): Promise<OpenBackup> {
  const chunks = linesOf(file);
  const begun = (await chunks.next()).value ?? [];
  const header = parsed<BackupHeader>(begun[0] ?? '');
  if (typeof header?.scanlog_backup !== 'number') throw notOurs(file);
  if (header.scanlog_backup !== format)
    throw new StartError(
      `${file} was written by Scanlog ${header.version} in a newer form: restore it with that version.`,
    );
  return { header, pieces: readPieces(file, begun, chunks) };
}

async function* readPieces(
  file: string,
  begun: string[],
  chunks: AsyncGenerator<string[], void>,
): AsyncGenerator<BackupPiece, void> {
  const checksum = createHash('sha256').update(`${begun[0]}\n`);
  const counts: Record<string, number> = {};
  let table: TableLine | undefined;
  let end: BackupEnd | undefined;

  function read(lines: string[]): BackupPiece[] {
    const pieces: BackupPiece[] = table === undefined ? [] : [{ table, rows: [] }];
    for (const line of lines) {
      if (end !== undefined) throw damaged(file, 'something follows its end');
      const value = parsed<string | TableLine | { end: BackupEnd }>(line);
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
      } else throw damaged(file, 'it has a line that means nothing');
    }
    return pieces;
  }

  yield* read(begun.slice(1));
  for await (const lines of chunks) yield* read(lines);
  const { rows, sha256 } = end ?? { rows: {}, sha256: undefined };
  if (sha256 === undefined) throw damaged(file, 'its end is missing');
  if (sha256 !== checksum.digest('hex')) throw damaged(file, 'its checksum is wrong');
  for (const [name, count] of Object.entries(rows))
    if (counts[name] !== count) throw damaged(file, `it has not all rows of ${name}`);
}

function parsed<T>(line: string): T | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Some lines at a time. Not by `readline`, which also breaks them at characters that JSON leaves as they are. */
async function* linesOf(file: string): AsyncGenerator<string[], void> {
  const decoder = new TextDecoder();
  const packed = createReadStream(file);
  const unpacked = createGunzip({ chunkSize: unpackedAtOnce });
  packed.on('error', (error) => unpacked.destroy(error));
  let rest = '';
  try {
    for await (const chunk of packed.pipe(unpacked)) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() as string;
      if (lines.length > 0) yield lines;
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') throw new StartError(`There is no file ${file}.`);
    if (!code.startsWith('Z_')) throw new StartError(`${file} cannot be read: ${messageOf(error)}`);
    throw /header/.test(messageOf(error)) ? notOurs(file) : damaged(file, messageOf(error));
  } finally {
    packed.destroy();
  }
}
