import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StartError } from '../../src/lib/errors.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { connect } from '../../src/log/connect.ts';
import { migrate } from '../../src/log/migrate.ts';
import { createDatabase } from '../support/database.ts';
import { atOnce } from '../support/http.ts';

let folder: URL;
let database: Awaited<ReturnType<typeof createDatabase>>;

beforeEach(async () => {
  folder = pathToFileURL(`${await mkdtemp(join(tmpdir(), 'migrations-'))}/`);
  database = await createDatabase('template0');
});
afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const write = (name: string, statements: string) => writeFile(new URL(name, folder), statements);
const applied = async () =>
  (await database.sql<{ name: string }[]>`SELECT name FROM migrations ORDER BY applied_at, number`).map(
    ({ name }) => name,
  );
const tables = async (sql: Sql) =>
  (await sql<{ name: string }[]>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`).map(
    ({ name }) => name,
  );

describe('migrating a database', () => {
  test('applies pending migrations in the order of their numbers', async () => {
    await write('0010_third.sql', 'INSERT INTO steps VALUES (3)');
    await write('0002_second.sql', 'INSERT INTO steps VALUES (2)');
    await write('0001_first.sql', 'CREATE TABLE steps (n int); INSERT INTO steps VALUES (1);');
    await write('README.md', 'not SQL at all');

    expect(await migrate(database.sql, { folder })).toEqual(['0001_first.sql', '0002_second.sql', '0010_third.sql']);
    expect(await applied()).toEqual(['0001_first.sql', '0002_second.sql', '0010_third.sql']);
    expect((await database.sql`SELECT n FROM steps`).map(({ n }) => n)).toEqual([1, 2, 3]);
  });

  test('applies nothing the second time', async () => {
    await write('0001_first.sql', 'CREATE TABLE steps (n int)');
    await migrate(database.sql, { folder });
    expect(await migrate(database.sql, { folder })).toEqual([]);
  });

  test('applies only new migrations later', async () => {
    await write('0001_first.sql', 'CREATE TABLE steps (n int)');
    await migrate(database.sql, { folder });
    await write('0002_second.sql', 'CREATE TABLE more (n int)');
    expect(await migrate(database.sql, { folder })).toEqual(['0002_second.sql']);
  });

  test('applies each migration once when 4 instances start at the same time', async () => {
    await write('0001_first.sql', 'CREATE TABLE steps (n int); SELECT pg_sleep(0.2); INSERT INTO steps VALUES (1)');
    await write('0002_second.sql', 'INSERT INTO steps VALUES (2)');
    const instances = Array.from({ length: 4 }, () => connect(database.url, { max: 2 }));

    const results = await atOnce(4, (i) => migrate(instances[i] as Sql, { folder }));
    await Promise.all(instances.map((sql) => sql.end()));

    expect(results.flat().toSorted()).toEqual(['0001_first.sql', '0002_second.sql']);
    expect((await database.sql`SELECT n FROM steps`).map(({ n }) => n)).toEqual([1, 2]);
  });

  test('applies a file that ends in a comment', async () => {
    await write('0001_first.sql', 'CREATE TABLE steps (n int); -- the end');
    expect(await migrate(database.sql, { folder })).toEqual(['0001_first.sql']);
    expect(await applied()).toEqual(['0001_first.sql']);
  });

  test('restores the statement timeout of the connection that it used', async () => {
    const sql = connect(database.url, { max: 1 });
    const [before] = await sql`SHOW statement_timeout`;
    await write('0001_first.sql', 'SELECT 1');
    await migrate(sql, { folder });
    const [after] = await sql`SHOW statement_timeout`;
    await sql.end();
    expect(after).toEqual(before);
  });
});

describe('a migration that cannot be applied', () => {
  test('throws a StartError when an applied migration was changed', async () => {
    await write('0001_first.sql', 'CREATE TABLE steps (n int)');
    await migrate(database.sql, { folder });
    await write('0001_first.sql', 'CREATE TABLE steps (n bigint)');
    const again = migrate(database.sql, { folder });
    await expect(again).rejects.toBeInstanceOf(StartError);
    await expect(again).rejects.toThrow(
      'Migration 0001_first.sql was changed after it was applied: restore the file and put the change into a new migration.',
    );
  });

  test('throws a StartError for a database of a newer version, and does not change it', async () => {
    await write('0001_first.sql', 'CREATE TABLE steps (n int)');
    await write('0002_newer.sql', 'CREATE TABLE newer (n int)');
    await migrate(database.sql, { folder });
    await rm(new URL('0002_newer.sql', folder));
    await write('0003_other.sql', 'CREATE TABLE other (n int)');
    const older = migrate(database.sql, { folder });
    await expect(older).rejects.toBeInstanceOf(StartError);
    await expect(older).rejects.toThrow(
      'The database has migration 0002_newer.sql, which this version does not have: run a newer version of Scanlog.',
    );
    expect(await tables(database.sql)).toEqual(['migrations', 'newer', 'steps']);
  });

  test('rolls back a migration that fails, keeps earlier ones, and applies it once it is fixed', async () => {
    await write('0001_first.sql', 'CREATE TABLE steps (n int)');
    await write('0002_second.sql', 'CREATE TABLE half (n int); SELECT nonsense');
    await expect(migrate(database.sql, { folder })).rejects.toThrow('nonsense');
    expect(await tables(database.sql)).toEqual(['migrations', 'steps']);
    expect(await applied()).toEqual(['0001_first.sql']);

    await write('0002_second.sql', 'CREATE TABLE half (n int)');
    expect(await migrate(database.sql, { folder })).toEqual(['0002_second.sql']);
  });
});

test('the migrations of the service are numbered from 1 without a gap, and create its tables', async () => {
  const own = new URL('../../migrations/postgres/', import.meta.url);
  const names = (await readdir(own)).toSorted();
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, i) => i + 1));
  expect(await migrate(database.sql)).toEqual(names);
  expect(await tables(database.sql)).toEqual(expect.arrayContaining(['accounts', 'api_keys', 'codes', 'events']));
});
