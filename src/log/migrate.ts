import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { codeOf, StartError } from '../lib/errors.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { locks } from './locks.ts';

interface Migration {
  number: number;
  name: string;
  checksum: string;
  statements: string;
}

const ownMigrations = new URL('../../migrations/postgres/', import.meta.url);

/** The numbered files of a folder, in order. */
export async function readMigrations(folder = ownMigrations): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const statements = await readFile(new URL(name, folder), 'utf8');
      const checksum = createHash('sha256').update(statements).digest('hex');
      return { number: Number(name.slice(0, 4)), name, checksum, statements };
    }),
  );
}

type Applied = Pick<Migration, 'number' | 'name' | 'checksum'>;

export const appliedMigrations = (sql: Queryable): Promise<Applied[]> =>
  sql<Applied[]>`SELECT number, name, checksum FROM migrations ORDER BY number`;

/** Migrations that are not applied yet; throws when an applied one is unknown here or was changed. */
function pending(migrations: Migration[], applied: Applied[]): Migration[] {
  const byNumber = new Map(migrations.map((migration) => [migration.number, migration]));
  for (const { number, name, checksum } of applied) {
    const file = byNumber.get(number);
    if (file === undefined)
      throw new StartError(
        `The database has migration ${name}, which this version does not have: run a newer version of Scanlog.`,
      );
    if (file.checksum !== checksum)
      throw new StartError(
        `Migration ${name} was changed after it was applied: restore the file and put the change into a new migration.`,
      );
  }
  const done = new Set(applied.map(({ number }) => number));
  return migrations.filter(({ number }) => !done.has(number));
}

/** Names of the migrations that `migrate` would apply, read-only; throws where `migrate` would. */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const [{ exists }] = await sql<[{ exists: boolean }]>`SELECT to_regclass('migrations') IS NOT NULL AS exists`;
  const applied = exists ? await appliedMigrations(sql) : [];
  return pending(await readMigrations(), applied).map(({ name }) => name);
}

/** While a migration waits for the lock on a table, everything else that uses the table waits behind it. */
const lockTimeout = '200ms';
const lockNotAvailable = '55P03';
const retryMs = 1_000;

interface MigrateOptions {
  folder?: URL;
  /** The last file to apply. */
  upTo?: string | undefined;
  /** Called when something else, such as a backup, locks a table that the migration changes: it is tried again. */
  onLocked?(): void;
  timers?: Timers;
}

/**
 * Applies all pending migrations, each in its own transaction, in order. Concurrent calls wait for each other. Returns the
 * names of the applied files.
 */
export async function migrate(sql: Sql, options: MigrateOptions = {}): Promise<string[]> {
  const { folder = ownMigrations, upTo, onLocked = () => {}, timers = systemTimers } = options;
  const migrations = await readMigrations(folder);
  const applied: string[] = [];
  for (;;) {
    try {
      const name = await sql.begin((tx) => applyNext(tx, migrations, upTo));
      if (name === undefined) return applied;
      applied.push(name);
    } catch (error) {
      if (codeOf(error) !== lockNotAvailable) throw error;
      onLocked();
      await timers.sleep(retryMs);
    }
  }
}

async function applyNext(tx: Transaction, migrations: Migration[], upTo?: string): Promise<string | undefined> {
  // Another process may hold the lock for longer than the statement timeout while it migrates.
  await tx`SET LOCAL statement_timeout = 0`;
  await tx`SELECT pg_advisory_xact_lock(${locks.migrate})`;
  await tx`
    CREATE TABLE IF NOT EXISTS migrations (
      number     integer     PRIMARY KEY,
      name       text        NOT NULL,
      checksum   text        NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`;
  const [next] = pending(migrations, await appliedMigrations(tx));
  if (next === undefined || (upTo !== undefined && next.name > upTo)) return undefined;
  const { number, name, checksum, statements } = next;
  await tx`SELECT set_config('lock_timeout', ${lockTimeout}, true)`;
  await tx.unsafe(statements);
  await tx`INSERT INTO migrations (number, name, checksum) VALUES (${number}, ${name}, ${checksum})`;
  return name;
}
