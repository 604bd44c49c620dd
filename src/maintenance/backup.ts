import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import packageJson from '../../package.json' with { type: 'json' };
import { messageOf, StartError } from '../lib/errors.ts';
import { type ArchiveFile, listArchives } from '../log/archives.ts';
import type { Queryable, Sql, Transaction } from '../log/connect.ts';
import { holdPartitions } from '../log/partitions.ts';
import { headOfLog } from '../log/read.ts';
import { archivedRows } from './archived-rows.ts';
import { type BackupEnd, type BackupHeader, format, leftOut, type TableLine } from './backup-file.ts';

/** Few, because a stored response of a bulk create can have a megabyte. */
const rowsPerFetch = 100;

export interface BackedUp {
  position: number;
  rows: number;
}

interface BackupOptions {
  now: Date;
  /** Whether scans in archive files are part of the backup; else it has the catalogue, and needs the files. */
  withArchive?: boolean;
  onProgress?: (done: number, total: number) => void;
}

/** The catalogue is not in a backup that has the scans of its files: a restore puts them into `scans`. */
const isLeftOut = (table: string, files: ArchiveFile[]) =>
  files.length > 0 && ['archives', 'archived_scans'].includes(table);

/**
 * Writes all tables of the log's database to a file, except those in `leftOut`. The backup is one snapshot, taken while the
 * service runs. The file appears only when it is complete, and only its owner may read it.
 */
export async function writeBackup(
  sql: Sql,
  file: string,
  { now, withArchive = true, onProgress = () => {} }: BackupOptions,
): Promise<BackedUp> {
  const partial = `${file}.${process.pid}.part`;
  const handle = await open(partial, 'w', 0o600).catch((error) => {
    throw new StartError(`${file} cannot be written: ${messageOf(error)}`);
  });
  try {
    const written = await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
      await tx`SET LOCAL statement_timeout = 0`;
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
      await holdPartitions(tx);
      const header = await headerOf(tx, now);
      const tables = await tablesOf(tx);
      // A database of an older version has none.
      const hasArchives = tables.some(({ table }) => table === 'archives');
      const files = withArchive && hasArchives ? await listArchives(tx) : [];
      const counted = tables.filter(({ table }) => !isLeftOut(table, files));
      const total = (await countRows(tx, counted)) + files.reduce((sum, { scans }) => sum + scans, 0);
      let rows = 0;
      const onRows = (count: number) => {
        rows += count;
        onProgress(rows, total);
      };
      await pipeline(Readable.from(textOf(tx, header, tables, files, onRows)), createGzip(), async (compressed) => {
        for await (const chunk of compressed) await handle.writeFile(chunk);
      });
      return { position: header.position, rows };
    });
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

interface Table extends TableLine {
  key: string[];
}

/** All tables except those in `leftOut`, with the columns of their primary keys. */
export async function tablesOf(sql: Queryable): Promise<Table[]> {
  const rows = await sql<{ table: string; columns: string; key: string }[]>`
    SELECT c.relname AS "table",
      (SELECT json_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text AS columns,
      (SELECT json_agg(a.attname ORDER BY array_position(i.indkey::int2[], a.attnum))
        FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::int2[])
        WHERE i.indrelid = c.oid AND i.indisprimary)::text AS key
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND NOT c.relname = ANY (${leftOut})
    ORDER BY c.relname`;
  return rows.map(({ table, columns, key }) => ({ table, columns: JSON.parse(columns), key: JSON.parse(key) }));
}

async function countRows(tx: Transaction, tables: Table[]): Promise<number> {
  let total = 0;
  for (const { table } of tables) {
    const [{ count }] = await tx<[{ count: number }]>`SELECT count(*) AS count FROM ${tx(table)}`;
    total += count;
  }
  return total;
}

async function* textOf(
  tx: Transaction,
  header: BackupHeader,
  tables: Table[],
  files: ArchiveFile[],
  onRows: (count: number) => void,
): AsyncGenerator<string> {
  const checksum = createHash('sha256');
  const linesOf = (values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
  const hashed = (text: string) => {
    checksum.update(text);
    return text;
  };
  yield hashed(linesOf([header]));
  const end: BackupEnd = { rows: {}, sha256: '' };
  for (const { table, columns, key } of tables) {
    yield hashed(linesOf([{ table, columns } satisfies TableLine]));
    let rows = 0;
    if (table === 'scans')
      for await (const archived of archivedRows(files, columns)) {
        yield hashed(linesOf(archived));
        rows += archived.length;
        onRows(archived.length);
      }
    end.rows[table] = rows;
    if (isLeftOut(table, files)) continue;
    // Not with COPY: see scan-lines.ts.
    await tx`DECLARE backup NO SCROLL CURSOR FOR SELECT t::text AS row FROM ${tx(table)} t ORDER BY ${tx(key)}`;
    for (;;) {
      const fetched = await tx<{ row: string }[]>`FETCH ${tx.unsafe(String(rowsPerFetch))} FROM backup`;
      if (fetched.length === 0) break;
      yield hashed(linesOf(fetched.map(({ row }) => row)));
      rows += fetched.length;
      onRows(fetched.length);
    }
    await tx`CLOSE backup`;
    end.rows[table] = rows;
  }
  end.sha256 = checksum.digest('hex');
  yield linesOf([{ end }]);
}
