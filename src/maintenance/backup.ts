import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import packageJson from '../../package.json' with { type: 'json' };
import { messageOf, StartError } from '../lib/errors.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { type ArchiveFile, listArchives } from '../log/archives.ts';
import { withFixedHistory } from '../log/history.ts';
import { headOfLog } from '../log/read.ts';
import { archivedRows } from './archived-rows.ts';
import { type BackupHeader, type BackupRows, format, type TableLine } from './backup-file.ts';
import { estimateRows, eventRows, historyTables, scanRows, tableRows, tablesOf } from './backup-rows.ts';
import { BackupWriter } from './backup-writer.ts';

export interface BackedUp {
  position: number;
  rows: number;
}

interface BackupOptions {
  now: Date;
  /** Whether scans in archive files are part of the backup; else it has the catalogue, and needs the files. */
  withArchive?: boolean;
  /** Awaited. */
  onProgress?: (done: number, total: number) => unknown;
}

/** What a backup consists of. Stays the same while the history of the log is fixed. */
interface Contents {
  tables: TableLine[];
  /** Those whose scans are part of the backup. */
  files: ArchiveFile[];
}

/**
 * Writes all tables of the log's database to a file, except those in `leftOut`, while the service runs. The file appears only
 * when it is complete, and only its owner may read it.
 *
 * The backup is the state of one moment: of the snapshot in which all tables but `events` and `scans` are read. These two
 * are read after it and without a snapshot, up to the last position that it has seen: the history of the log is fixed
 * meanwhile, so up to there they have exactly the entries of that moment.
 */
export async function writeBackup(sql: Sql, file: string, options: BackupOptions): Promise<BackedUp> {
  const partial = `${file}.${process.pid}.part`;
  const handle = await open(partial, 'w', 0o600).catch((error) => {
    throw new StartError(`${file} cannot be written: ${messageOf(error)}`);
  });
  try {
    const written = await withFixedHistory(sql, () => writeTo(handle, sql, options));
    await handle.sync();
    await rename(partial, file);
    return written;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

async function writeTo(
  handle: FileHandle,
  sql: Sql,
  { now, withArchive = true, onProgress = () => {} }: BackupOptions,
): Promise<BackedUp> {
  const contents = await contentsOf(sql, withArchive);
  const expected = await expectedRows(sql, contents);
  let done = 0;
  async function* counted(pieces: AsyncIterable<BackupRows>): AsyncGenerator<BackupRows> {
    for await (const rows of pieces) {
      yield rows;
      done += rows.count;
      await onProgress(done, Math.max(expected, done + 1));
    }
  }
  const writer = new BackupWriter(handle);
  try {
    const position = await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
      await tx`SET LOCAL statement_timeout = 0`;
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
      const header = await headerOf(tx, now);
      await writer.header(header);
      for (const table of contents.tables)
        if (!historyTables.includes(table.table))
          await writer.table(table, counted(rowsInSnapshot(tx, table, contents)));
      return header.position;
    });
    for (const table of contents.tables)
      if (historyTables.includes(table.table))
        await writer.table(table, counted(rowsOfHistory(sql, table, contents, position)));
    const rows = await writer.end();
    await onProgress(rows, rows);
    return { position, rows };
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

async function contentsOf(sql: Queryable, withArchive: boolean): Promise<Contents> {
  const tables = await tablesOf(sql);
  // A database of an older version has none.
  const hasArchives = tables.some(({ table }) => table === 'archives');
  return { tables, files: withArchive && hasArchives ? await listArchives(sql) : [] };
}

/** The catalogue is not in a backup that has the scans of its files: a restore puts them into `scans`. */
const isLeftEmpty = (table: string, { files }: Contents) =>
  files.length > 0 && ['archives', 'archived_scans'].includes(table);

async function expectedRows(sql: Queryable, contents: Contents): Promise<number> {
  const names = contents.tables.map(({ table }) => table).filter((table) => !isLeftEmpty(table, contents));
  return (await estimateRows(sql, names)) + contents.files.reduce((sum, { scans }) => sum + scans, 0);
}

async function headerOf(tx: Transaction, now: Date): Promise<BackupHeader> {
  const [key] = await tx<{ value: string }[]>`
    SELECT encode(value, 'hex') AS value FROM secrets WHERE name = 'secret_key'`;
  return {
    scanlog_backup: format,
    version: packageJson.version,
    created_at: now.toISOString(),
    position: await headOfLog(tx),
    migrations: [...(await tx<BackupHeader['migrations']>`SELECT name, checksum FROM migrations ORDER BY number`)],
    secret_key: key?.value ?? null,
  };
}

async function* rowsInSnapshot(tx: Transaction, { table }: TableLine, contents: Contents): AsyncGenerator<BackupRows> {
  if (!isLeftEmpty(table, contents)) yield* tableRows(tx, table);
}

async function* rowsOfHistory(
  sql: Sql,
  { table, columns }: TableLine,
  { files }: Contents,
  to: number,
): AsyncGenerator<BackupRows> {
  if (table === 'events') return yield* eventRows(sql, to);
  yield* archivedRows(files, columns);
  yield* scanRows(sql, to);
}
