import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, inject } from 'vitest';
import type { Sql } from '../../src/lib/sql.ts';
import { connect } from '../../src/log/connect.ts';
import { serviceRole } from '../../src/stack/service-role.ts';
import { templateDatabase } from './stack.ts';

/** A name that no other test file uses. */
export const uniqueName = () => `t_${randomBytes(8).toString('hex')}`;

export interface TestDatabase {
  /** URL for the role of the service, which owns the database. */
  url: string;
  /** URL for the superuser. */
  adminUrl: string;
  sql: Sql;
}

let connected: Sql | undefined;

/** The connection of this process that creates and drops databases. */
function server(): Sql {
  if (connected === undefined) {
    connected = connect(inject('stack').adminDatabaseUrl, { max: 1, responseTimeoutMs: 'none' });
    Object.assign(connected.options.connection, { statement_timeout: 0 });
  }
  return connected;
}

export async function createDatabase(template = templateDatabase): Promise<TestDatabase & { drop(): Promise<void> }> {
  const name = uniqueName();
  // Copying the files takes a third of the time and CPU of writing every page to the WAL, which is the default.
  const create = `CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${serviceRole} STRATEGY FILE_COPY`;
  // Two copies of a template at the same time would fail.
  await server()`SELECT pg_advisory_lock(1)`;
  try {
    await server().unsafe(create);
  } finally {
    await server()`SELECT pg_advisory_unlock(1)`;
  }
  const urlOn = (server: string) => new URL(`/${name}`, server).href;
  const { databaseUrl, adminDatabaseUrl } = inject('stack');
  const url = urlOn(databaseUrl);
  const sql = connect(url);
  const drop = async () => {
    await sql.end({ timeout: 1 });
    await server().unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
  };
  return { url, adminUrl: urlOn(adminDatabaseUrl), sql, drop };
}

/** A migrated database for one test file, from its first test to its last. */
export function useDatabase(): TestDatabase {
  const database = {} as TestDatabase;
  let drop = async () => {};
  beforeAll(async () => {
    const created = await createDatabase();
    drop = created.drop;
    Object.assign(database, { url: created.url, adminUrl: created.adminUrl, sql: created.sql });
  });
  afterAll(() => drop());
  return database;
}
