import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount, listAccounts } from '../../src/accounts/accounts.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { connect } from '../../src/log/connect.ts';
import { migrate } from '../../src/log/migrate.ts';
import { type DataDirectory, openDataDirectory, readSecrets } from '../../src/stack/data-directory.ts';
import { startOnFreePort } from '../../src/stack/part.ts';
import { adminUrl, postgresPlan } from '../../src/stack/postgres.ts';
import { serviceRole } from '../../src/stack/service-role.ts';
import { startPostgres } from '../../src/stack/stack.ts';

const log = createLogger('silent', false);
const by = { plan: 'pro' as const, now: new Date() };
let data: DataDirectory;
let sql: Sql;
let url: URL;
let stop = async () => {};

/** A data folder like the data folders of earlier versions, in which the superuser owns the database. */
async function makeOldFolder(): Promise<void> {
  const { postgres: password } = readSecrets(data);
  const part = await startOnFreePort((port) => postgresPlan({ data, port, password, durable: false }), { data, log });
  const { port } = part;
  const server = connect(adminUrl(port, password), { max: 1 });
  for (const name of ['scanlog', 'other']) await server.unsafe(`CREATE DATABASE ${name}`);
  await server`ALTER SYSTEM SET scram_iterations = 4096`;
  await server.end();
  const other = connect(adminUrl(port, password, 'other'), { max: 1 });
  await other`CREATE TABLE secrets AS SELECT 1 AS value`;
  await other.end();
  const old = connect(adminUrl(port, password, 'scanlog'), { max: 1 });
  await migrate(old);
  await createAccount(old, { name: 'Old', ...by });
  await old.unsafe(`
    CREATE SCHEMA extra;
    CREATE TYPE extra.mood AS ENUM ('good');
    CREATE TABLE extra."Parts" (id int GENERATED ALWAYS AS IDENTITY, old serial, mood extra.mood) PARTITION BY RANGE (id);
    CREATE TABLE extra.first PARTITION OF extra."Parts" FOR VALUES FROM (0) TO (9);
    CREATE VIEW extra.seen AS SELECT * FROM extra."Parts";
    CREATE SEQUENCE extra.numbers;
    CREATE FUNCTION extra.one(int DEFAULT 1) RETURNS int LANGUAGE sql RETURN 1;
    CREATE EXTENSION pageinspect SCHEMA extra`);
  await old.end();
  await part.stop();
}

async function start(): Promise<void> {
  const started = await startPostgres({ data, log });
  url = new URL(started.databaseUrl);
  sql = connect(url.href, { max: 2 });
  stop = async () => {
    await sql.end();
    await started.stop();
  };
}

beforeAll(async () => {
  data = openDataDirectory(mkdtempSync(join(tmpdir(), 'scanlog-role-')));
  await makeOldFolder();
  await start();
});
afterAll(async () => {
  await stop();
  rmSync(data.path, { recursive: true, force: true });
});

/** Objects that another role owns, except objects of the system and of extensions. */
const foreignObjects = () => sql`
  SELECT (pg_identify_object(classid, objid, objsubid)).* FROM (
    SELECT 'pg_class'::regclass AS classid, oid AS objid, 0 AS objsubid, relowner AS owner FROM pg_class
    UNION ALL SELECT 'pg_proc'::regclass, oid, 0, proowner FROM pg_proc
    UNION ALL SELECT 'pg_type'::regclass, oid, 0, typowner FROM pg_type
    UNION ALL SELECT 'pg_namespace'::regclass, oid, 0, nspowner FROM pg_namespace WHERE nspname <> 'public'
  ) AS objects
  WHERE objid >= 16384 AND owner <> current_user::regrole AND NOT EXISTS (
    SELECT 1 FROM pg_depend d WHERE d.classid = objects.classid AND d.objid = objects.objid AND deptype = 'e')`;

describe('the role of the service, on a data folder of an earlier version', () => {
  test('owns the database and everything in it, and has no other right', async () => {
    expect([...(await foreignObjects())]).toEqual([]);
    const [role] = await sql`
      SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
        (SELECT count(*)::int FROM pg_auth_members WHERE member = r.oid) AS memberships,
        (SELECT array_agg(datname::text) FROM pg_database WHERE datdba = r.oid) AS owns,
        (SELECT array_agg(datname::text) FROM pg_database
          WHERE datallowconn AND has_database_privilege(r.oid, oid, 'CONNECT')) AS enters
      FROM pg_roles r WHERE rolname = current_user`;
    expect(role).toEqual({
      rolsuper: false,
      rolcreatedb: false,
      rolcreaterole: false,
      rolreplication: false,
      rolbypassrls: false,
      memberships: 0,
      owns: ['scanlog'],
      enters: ['scanlog'],
    });
  });

  test('reads, writes and migrates the existing data', async () => {
    expect(await migrate(sql)).toEqual([]);
    await createAccount(sql, { name: 'New', ...by });
    expect((await listAccounts(sql)).map(({ name }) => name)).toEqual(expect.arrayContaining(['Old', 'New']));
    await sql.unsafe(`ALTER TABLE events ADD COLUMN extra int; ALTER TABLE events DROP COLUMN extra`);
    await sql.unsafe(`INSERT INTO extra."Parts" (mood) SELECT 'good' FROM extra.seen WHERE id = extra.one()`);
    await sql.unsafe(`ALTER TYPE extra.mood ADD VALUE 'better'; DROP FUNCTION extra.one`);
  });

  test.each([
    ['read a file of the server', `SELECT pg_read_file('/etc/passwd')`],
    ['read a file into a table', `CREATE TEMP TABLE lines (line text); COPY lines FROM '/etc/passwd'`],
    ['write a file', `COPY (SELECT 1) TO '/tmp/scanlog-must-not-exist'`],
    ['start a program', `COPY (SELECT 1) TO PROGRAM 'true'`],
    ['create an extension that reaches files', 'CREATE EXTENSION file_fdw'],
    ['create a function in C', `CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'libc', 'getpid'`],
    ['change the server', `ALTER SYSTEM SET fsync = off`],
    ['create a role', 'CREATE ROLE another SUPERUSER'],
    ['become the superuser', 'SET ROLE scanlog'],
    ['create a database', 'CREATE DATABASE another'],
  ])('cannot %s', async (_, statement) => {
    await expect(sql.unsafe(statement)).rejects.toMatchObject({ code: '42501' });
  });

  test.each(['other', 'postgres', 'template1'])('cannot connect to the database %s', async (name) => {
    const outside = connect(new URL(`/${name}`, url).href, { max: 1 });
    await expect(outside`SELECT 1`).rejects.toMatchObject({ code: '42501' });
    await outside.end();
  });

  test('connects without hashing its random password thousands of times', async () => {
    const server = connect(adminUrl(Number(url.port), readSecrets(data).postgres), { max: 1 });
    const [role] = await server`SELECT rolpassword FROM pg_authid WHERE rolname = ${serviceRole}`;
    await server.end();
    expect(role?.['rolpassword']).toMatch(/^SCRAM-SHA-256\$1:/);
  });

  test('is the same after the next start', async () => {
    await stop();
    await start();
    expect([...(await foreignObjects())]).toEqual([]);
    expect((await listAccounts(sql)).map(({ name }) => name)).toContain('Old');
  });
});
