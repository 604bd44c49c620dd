import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { messageOf, StartError } from '../lib/errors.ts';

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
  'rate_windows',
  'console_sessions',
];

export type BackupLine = { row: string } | { table: TableLine };

/** A backup that is being read. */
export interface OpenBackup {
  header: BackupHeader;
  /** Everything up to the end, which is checked: the last step throws when anything is missing or not as written. */
  lines(): AsyncGenerator<BackupLine, BackupEnd>;
}

const damaged = (file: string, why: string) =>
  new StartError(`${file} is damaged or not whole, and nothing of it was restored: ${why}.`);

export async function openBackup(file: string): Promise<OpenBackup> {
  const lines = linesOf(file);
  const checksum = createHash('sha256');
  const header = readHeader(file, await lines.next(), checksum);
  return { header, lines: () => readLines(file, lines, checksum) };
}

function readHeader(file: string, first: IteratorResult<string, void>, checksum: Hash): BackupHeader {
  const header = first.done ? undefined : parsed<BackupHeader>(first.value);
  if (typeof header?.scanlog_backup !== 'number') throw new StartError(`${file} is not a backup of Scanlog.`);
  if (header.scanlog_backup !== format)
    throw new StartError(
      `${file} was written by Scanlog ${header.version} in a newer form: restore it with that version.`,
    );
  checksum.update(`${first.value}\n`);
  return header;
}

async function* readLines(
  file: string,
  lines: AsyncGenerator<string, void>,
  checksum: Hash,
): AsyncGenerator<BackupLine, BackupEnd> {
  const rows: Record<string, number> = {};
  let table: string | undefined;
  for await (const line of lines) {
    const value = parsed<string | TableLine | { end: BackupEnd }>(line);
    if (typeof value === 'object' && value !== null && 'end' in value) {
      const { end } = value;
      if (end.sha256 !== checksum.digest('hex')) throw damaged(file, 'its checksum is wrong');
      for (const [name, count] of Object.entries(end.rows))
        if (rows[name] !== count) throw damaged(file, `it has not all rows of ${name}`);
      // Only behind the last byte is it known whether gzip finds all of them right.
      if (!(await lines.next()).done) throw damaged(file, 'something follows its end');
      return end;
    }
    checksum.update(`${line}\n`);
    if (typeof value === 'string' && table !== undefined) {
      rows[table] = (rows[table] ?? 0) + 1;
      yield { row: value };
    } else if (typeof value === 'object' && typeof value?.table === 'string') {
      table = value.table;
      rows[table] = 0;
      yield { table: value };
    } else throw damaged(file, 'it has a line that means nothing');
  }
  throw damaged(file, 'its end is missing');
}

function parsed<T>(line: string): T | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Not by `readline`, which also breaks lines at characters that JSON leaves as they are. */
async function* linesOf(file: string): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  const packed = createReadStream(file);
  const unpacked = createGunzip();
  packed.on('error', (error) => unpacked.destroy(error));
  let rest = '';
  let isBegun = false;
  try {
    for await (const chunk of packed.pipe(unpacked)) {
      isBegun = true;
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() as string;
      yield* lines;
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOENT') throw new StartError(`There is no file ${file}.`);
    if (!code.startsWith('Z_')) throw new StartError(`${file} cannot be read: ${messageOf(error)}`);
    throw isBegun ? damaged(file, messageOf(error)) : new StartError(`${file} is not a backup of Scanlog.`);
  } finally {
    packed.destroy();
  }
}
