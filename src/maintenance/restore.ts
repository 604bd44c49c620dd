import { erasures } from '../../projections/erasures.ts';
import { commandConnection } from '../lib/connection-names.ts';
import { StartError } from '../lib/errors.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { branchOff } from '../log/branch.ts';
import { locks } from '../log/locks.ts';
import { appliedMigrations, migrate, readMigrations } from '../log/migrate.ts';
import { makePartitionsUpTo } from '../log/partitions.ts';
import { type BackupHeader, type OpenBackup, openBackup, type TableLine } from './backup-file.ts';
import { tablesOf } from './backup-rows.ts';

const maxInsertRows = 1_000;
const maxInsertCharacters = 1024 * 1024;

export interface CheckedBackup {
  file: string;
  header: BackupHeader;
  rows: number;
}

/** Reads a backup to its end and throws a `StartError` when it cannot be restored. Uses no database. */
export async function checkBackup(file: string): Promise<CheckedBackup> {
  const { header, pieces } = await openBackup(file);
  const known = new Map((await readMigrations()).map(({ name, checksum }) => [name, checksum]));
  const unknown = header.migrations.find(({ name, checksum }) => known.get(name) !== checksum);
  if (unknown !== undefined)
    throw new StartError(
      `${file} was written by Scanlog ${header.version}, with migration ${unknown.name}, which this version does not have: restore it with that version or a newer one.`,
    );
  let total = 0;
  for await (const { rows } of pieces) total += rows.length;
  return { file, header, rows: total };
}

/**
 * Restores a backup into an empty database, in one transaction. The database is first migrated to the schema version of
 * the backup, and to the current one afterwards.
 */
export async function restoreBackup(
  sql: Sql,
  { file, header, rows: total }: CheckedBackup,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<void> {
  await refuseUnlessEmpty(sql);
  await refuseWhileServed(sql, 'restore');
  const names = header.migrations.map(({ name }) => name);
  await migrate(sql, { upTo: names.at(-1) });
  const applied = (await appliedMigrations(sql)).map(({ name }) => name);
  if (applied.join() !== names.join())
    throw new StartError(
      'This database has the tables of a newer version than the backup: restore into a database without tables.',
    );

  const backup = await openBackup(file);
  await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await tx`SELECT pg_advisory_xact_lock(${locks.append})`;
    await refuseUnlessEmpty(tx);
    await tx`SELECT setval('log_position', ${Math.max(header.position, 1)}, ${header.position > 0})`;
    await makePartitionsUpTo(tx, header.position);
    const tables = new Map((await tablesOf(tx)).map(({ table, columns }) => [table, columns]));
    await fill(tx, backup, tables, (done) => onProgress(done, total));
    const columns = tables.get('erasures');
    if (columns !== undefined) await erasures.reopenAll(tx, { hasArchive: columns.includes('archive_to') });
    await branchOff(tx);
  });
  await migrate(sql);
}

async function refuseUnlessEmpty(sql: Queryable): Promise<void> {
  const [{ exists }] = await sql<[{ exists: boolean }]>`SELECT to_regclass('public.events') IS NOT NULL AS exists`;
  const [event] = exists ? await sql`SELECT 1 FROM events LIMIT 1` : [];
  if (event !== undefined)
    throw new StartError('This database has a log already, which is never overwritten: restore into an empty one.');
}

/**
 * Throws while a service is connected, because it caches the end of the log and the key of its secrets. `step` is what the
 * error message tells the operator to do between stopping and starting the service.
 */
export async function refuseWhileServed(sql: Queryable, step: string): Promise<void> {
  const [session] = await sql`
    SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'scanlog%' AND application_name <> ${commandConnection}
    LIMIT 1`;
  if (session !== undefined)
    throw new StartError(`A service runs on this database: stop it, ${step}, and start it again.`);
}

async function fill(
  tx: Transaction,
  { pieces }: OpenBackup,
  tables: Map<string, string[]>,
  onProgress: (done: number) => void,
): Promise<void> {
  let table = '';
  let rows: string[] = [];
  let characters = 0;
  let done = 0;
  let inserting: Promise<unknown> = Promise.resolve();
  /** Postgres inserts these rows while the next ones are read. */
  const flush = async () => {
    await inserting;
    onProgress(done);
    if (rows.length === 0) return;
    inserting = insert(tx, table, rows);
    // Its error is thrown when it is awaited.
    inserting.catch(() => {});
    done += rows.length;
    rows = [];
    characters = 0;
  };

  for await (const piece of pieces) {
    if (piece.table.table !== table) {
      await flush();
      table = matchingTable(piece.table, tables);
      // Migrations may have inserted rows. The log itself is empty, and its triggers refuse a DELETE.
      if (table !== 'events' && table !== 'scans') await tx`DELETE FROM ${tx(table)}`;
    }
    for (const row of piece.rows) {
      rows.push(row);
      characters += row.length;
      if (rows.length >= maxInsertRows || characters >= maxInsertCharacters) await flush();
    }
  }
  await flush();
  await flush();
}

/** OFFSET 0 keeps the subquery separate; inlined, Postgres would parse a row once for each of its columns. */
const insert = async (tx: Transaction, table: string, rows: string[]) => {
  await tx`
    INSERT INTO ${tx(table)}
    SELECT (row).* FROM (
      SELECT line::${tx(table)} AS row FROM json_array_elements_text(${JSON.stringify(rows)}::text::json) AS line OFFSET 0
    ) AS rows`;
};

function matchingTable({ table, columns }: TableLine, tables: Map<string, string[]>): string {
  if (tables.get(table)?.join() === columns.join()) return table;
  throw new StartError(`The backup's table ${table} does not exist in this database with the same columns.`);
}
