import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { StartError } from '../lib/errors.ts';
import type { Queryable, Sql, Transaction } from './connect.ts';
import { locks } from './locks.ts';

interface Migration {
  number: number;
  name: string;
  checksum: string;
  statements: string;
}

const ours = new URL('../../migrations/postgres/', import.meta.url);

/** The numbered files of a folder, in order. */
export async function readMigrations(folder = ours): Promise<Migration[]> {
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

/** What is still to be applied; throws where the database and the files tell different stories. */
function pending(migrations: Migration[], applied: Applied[]): Migration[] {
  const byNumber = new Map(migrations.map((migration) => [migration.number, migration]));
  for (const { number, name, checksum } of applied) {
    const file = byNumber.get(number);
    if (file === undefined)
      throw new StartError(
        `The database has migration ${name}, which this version does not know: run a newer version.`,
      );
    if (file.checksum !== checksum)
      throw new StartError(`Migration ${name} was changed after it had been applied: restore it and add a new one.`);
  }
  const done = new Set(applied.map(({ number }) => number));
  return migrations.filter(({ number }) => !done.has(number));
}

/** The names of migrations that the next start applies, read without a change; throws like a start would. */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const [{ exists }] = await sql<[{ exists: boolean }]>`SELECT to_regclass('migrations') IS NOT NULL AS exists`;
  const applied = exists ? await appliedMigrations(sql) : [];
  return pending(await readMigrations(), applied).map(({ name }) => name);
}

/**
 * Brings the database up to date, or up to a file that is named: each file once, in order, in a transaction of its own,
 * one instance at a time.
 */
export async function migrate(sql: Sql, folder = ours, upTo?: string): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const applied: string[] = [];
  for (;;) {
    const name = await sql.begin((tx) => applyNext(tx, migrations, upTo));
    if (name === undefined) return applied;
    applied.push(name);
  }
}

async function applyNext(tx: Transaction, migrations: Migration[], upTo?: string): Promise<string | undefined> {
  // Waits for another instance that migrates now, however long that takes.
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
  await tx.unsafe(statements);
  await tx`INSERT INTO migrations (number, name, checksum) VALUES (${number}, ${name}, ${checksum})`;
  return name;
}
