import { StartError } from '../lib/errors.ts';
import { tablesOf } from './backup.ts';
import { type BackupHeader, type OpenBackup, openBackup, type TableLine } from './backup-file.ts';
import { branchOff } from './branch.ts';
import type { Queryable, Sql, Transaction } from './connect.ts';
import { locks } from './locks.ts';
import { appliedMigrations, migrate, readMigrations } from './migrate.ts';
import { makePartitionsUpTo } from './partitions.ts';

const atOnce = { rows: 1_000, characters: 1024 * 1024 };

export interface CheckedBackup {
  file: string;
  header: BackupHeader;
  rows: number;
}

/** Reads a backup to its end, and throws in one sentence when it cannot be restored. Touches no database. */
export async function checkBackup(file: string): Promise<CheckedBackup> {
  const { header, pieces } = await openBackup(file);
  const known = new Map((await readMigrations()).map(({ name, checksum }) => [name, checksum]));
  const strange = header.migrations.find(({ name, checksum }) => known.get(name) !== checksum);
  if (strange !== undefined)
    throw new StartError(
      `${file} was written by Scanlog ${header.version}, whose migration ${strange.name} this version does not know: restore it with that version or a newer one.`,
    );
  let total = 0;
  for await (const { rows } of pieces) total += rows.length;
  return { file, header, rows: total };
}

/**
 * Restores a backup into an empty database, in one transaction. The database gets the shape that the backup was written
 * in before, and is brought up to date after.
 */
export async function restoreBackup(
  sql: Sql,
  { file, header, rows: total }: CheckedBackup,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<void> {
  await refuseUnlessEmpty(sql);
  await refuseWhileServed(sql, 'restore');
  const names = header.migrations.map(({ name }) => name);
  await migrate(sql, undefined, names.at(-1));
  const applied = (await appliedMigrations(sql)).map(({ name }) => name);
  if (applied.join() !== names.join())
    throw new StartError('This database is of a newer version than the backup: restore into one that is all empty.');

  const backup = await openBackup(file);
  await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await tx`SELECT pg_advisory_xact_lock(${locks.append})`;
    await refuseUnlessEmpty(tx);
    await tx`SELECT setval('log_position', ${Math.max(header.position, 1)}, ${header.position > 0})`;
    await makePartitionsUpTo(tx, header.position);
    await fill(tx, backup, (done) => onProgress(done, total));
    await branchOff(tx);
  });
  await migrate(sql);
}

async function refuseUnlessEmpty(sql: Queryable): Promise<void> {
  const [{ there }] = await sql<[{ there: boolean }]>`SELECT to_regclass('public.events') IS NOT NULL AS there`;
  const [event] = there ? await sql`SELECT 1 FROM events LIMIT 1` : [];
  if (event !== undefined)
    throw new StartError('This database has a log already, which is never overwritten: restore into an empty one.');
}

/**
 * Throws while a service is connected: it caches where the log ended and which key decrypts its secrets. `step` completes
 * the sentence that tells the operator what to do.
 */
export async function refuseWhileServed(sql: Queryable, step: string): Promise<void> {
  const [session] = await sql`
    SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'scanlog%' AND application_name <> 'scanlog-cli'
    LIMIT 1`;
  if (session !== undefined)
    throw new StartError(`A service runs on this database: stop it, ${step}, and start it again.`);
}

async function fill(tx: Transaction, { pieces }: OpenBackup, onProgress: (done: number) => void): Promise<void> {
  const tables = new Map((await tablesOf(tx)).map(({ table, columns }) => [table, columns]));
  let into = '';
  let rows: string[] = [];
  let characters = 0;
  let done = 0;
  const flush = async () => {
    if (rows.length === 0) return;
    // Set apart, so that a row is taken apart once and not once for each of its columns.
    await tx`
      INSERT INTO ${tx(into)}
      SELECT (row).* FROM (
        SELECT line::${tx(into)} AS row FROM json_array_elements_text(${JSON.stringify(rows)}::text::json) AS line OFFSET 0
      ) AS rows`;
    done += rows.length;
    onProgress(done);
    rows = [];
    characters = 0;
  };

  for await (const piece of pieces) {
    if (piece.table.table !== into) {
      await flush();
      into = placeOf(piece.table, tables);
      // Of an empty log, only what migrations have put there themselves.
      if (into !== 'events' && into !== 'scans') await tx`DELETE FROM ${tx(into)}`;
    }
    rows.push(...piece.rows);
    characters += piece.rows.reduce((sum, row) => sum + row.length, 0);
    if (rows.length >= atOnce.rows || characters >= atOnce.characters) await flush();
  }
  await flush();
}

function placeOf({ table, columns }: TableLine, tables: Map<string, string[]>): string {
  if (tables.get(table)?.join() === columns.join()) return table;
  throw new StartError(`The backup has a table ${table} that this database does not have in the same shape.`);
}
