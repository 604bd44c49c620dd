import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { connect } from '../../src/log/connect.ts';
import { migrate } from '../../src/log/migrate.ts';
import { ensurePartitions, listPartitions } from '../../src/log/partitions.ts';
import { createDatabase } from '../support/database.ts';
import { reaches } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';
import { manualTimers } from '../support/timers.ts';

const append = (sql: Sql) => appendScans(sql, batchOf(newId('batch', Date.now()), 1, [scanned()]));

/** Reads the log as a long transaction does, from before `work` until after it. */
async function besideLongRead(url: string, work: () => Promise<void>): Promise<void> {
  const reader = connect(url, { max: 1 });
  try {
    await reader.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
      await tx`LOCK TABLE scans IN ACCESS SHARE MODE`;
      await work();
    });
  } finally {
    await reader.end();
  }
}

describe('beside a long read', () => {
  test('the partitions that are due are created, and scans are appended to them', async () => {
    const { sql, url, drop } = await createDatabase();
    await besideLongRead(url, async () => {
      await sql`SELECT setval('log_position', 20000001)`;
      await ensurePartitions(sql);
      await append(sql);
      await sql`SELECT setval('log_position', 60000001)`;
      await ensurePartitions(sql);
      await append(sql);
    });
    expect((await listPartitions(sql)).map(({ name }) => name)).toEqual(
      [0, 1, 2, 3, 4, 5].map((number) => `scans_${number}`),
    );
    const stored = await sql`SELECT tableoid::regclass::text AS partition FROM scans ORDER BY position`;
    expect(stored).toEqual([{ partition: 'scans_1' }, { partition: 'scans_3' }]);
    await drop();
  });

  test('a migration of scans waits without holding up appends, and is applied afterwards', async () => {
    const { sql, url, drop } = await createDatabase();
    const folder = pathToFileURL(`${await mkdtemp(join(tmpdir(), 'migrations-'))}/`);
    await cp(new URL('../../migrations/postgres/', import.meta.url), fileURLToPath(folder), { recursive: true });
    await writeFile(new URL('9999_column.sql', folder), 'ALTER TABLE scans ADD COLUMN added integer');
    const timers = manualTimers();
    let refused = 0;
    const migrator = connect(url, { max: 1 });
    let migrating: Promise<string[]> | undefined;
    await besideLongRead(url, async () => {
      migrating = migrate(migrator, { folder, timers, onLocked: () => refused++ });
      await reaches(1, () => refused);
      await append(sql);
      await timers.next();
      await reaches(2, () => refused);
      await append(sql);
    });
    await timers.next();
    expect(await migrating).toEqual(['9999_column.sql']);
    await append(sql);
    expect(await sql`SELECT count(*)::int AS scans, count(added)::int AS added FROM scans`).toEqual([
      { scans: 3, added: 0 },
    ]);
    await migrator.end();
    await drop();
    await rm(folder, { recursive: true });
  });
});

test('a partition has the columns, indexes and triggers of the first one', async () => {
  const { sql, drop } = await createDatabase();
  await sql`SELECT setval('log_position', 20000001)`;
  await ensurePartitions(sql);
  const shapeOf = async (table: string) => ({
    columns: await sql`
      SELECT attname, format_type(atttypid, atttypmod) AS type, attnotnull, attstorage, attcompression, collname
      FROM pg_attribute a LEFT JOIN pg_collation c ON c.oid = attcollation
      WHERE attrelid = ${table}::regclass AND attnum > 0 ORDER BY attname`,
    indexes: (
      await sql<{ definition: string }[]>`
        SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = ${table}::regclass ORDER BY 1`
    ).map(({ definition }) => definition.replaceAll(table, 'scans')),
    constraints: await sql`
      SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conrelid = ${table}::regclass ORDER BY 1`,
    triggers: await sql`
      SELECT tgname, tgtype, tgfoid::regproc::text AS function FROM pg_trigger WHERE tgrelid = ${table}::regclass
      ORDER BY tgname`,
  });
  expect(await shapeOf('scans_3')).toEqual(await shapeOf('scans_0'));
  await drop();
});
