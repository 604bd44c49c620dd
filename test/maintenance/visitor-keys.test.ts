import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { destroyVisitorKey, readVisitorKeys } from '../../src/codes/visitor-keys.ts';
import { createSecretBox } from '../../src/lib/secret-box.ts';
import type { Sql, Transaction } from '../../src/lib/sql.ts';
import { connect } from '../../src/log/connect.ts';
import { migrate } from '../../src/log/migrate.ts';
import { writeBackup } from '../../src/maintenance/backup.ts';
import { checkBackup, restoreBackup } from '../../src/maintenance/restore.ts';
import { dropUnsealedFile, sealBatch, vacuumVisitorKeys } from '../../src/maintenance/visitor-keys.ts';
import { codesIn, loadRoute } from '../edge/routes-support.ts';
import { createDatabase, useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();
const { given, routesOn } = codesIn(database);
const key = Buffer.alloc(32, 7);
const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});
beforeEach(() => database.sql`TRUNCATE visitor_keys, unsealed_visitor_keys`);

/** Inserts plain keys, as an older version stored them. */
const leavePlain = (sql: Sql, count: number) =>
  sql`INSERT INTO unsealed_visitor_keys
    SELECT 'qr_' || n, sha256(n::text::bytea) FROM generate_series(1, ${count}::int) AS n`;
async function sealAll(sql: Sql): Promise<number> {
  let total = 0;
  for (let sealed = -1; sealed !== 0; total += sealed) sealed = await sealBatch(sql, testBox);
  return total;
}
const rowsOf = async (table: string) =>
  (await database.sql<[{ rows: number }]>`SELECT count(*) AS rows FROM ${database.sql(table)}`)[0].rows;

describe('a sealed visitor key', () => {
  test.each([
    ['for another code', () => testBox.openVisitorKey(testBox.sealVisitorKey(key, 'qr_1'), 'qr_2')],
    [
      'with another key',
      () => createSecretBox('x'.repeat(32)).openVisitorKey(testBox.sealVisitorKey(key, 'qr_1'), 'qr_1'),
    ],
    ['when changed', () => testBox.openVisitorKey(testBox.sealVisitorKey(key, 'qr_1').fill(0, 40), 'qr_1')],
    ['when truncated', () => testBox.openVisitorKey(testBox.sealVisitorKey(key, 'qr_1').subarray(0, 20), 'qr_1')],
    ['when empty', () => testBox.openVisitorKey(new Uint8Array(), 'qr_1')],
  ])('cannot be decrypted %s', (_, open) => {
    expect(open).toThrow();
  });

  test('can be decrypted for its code, and equal keys have different ciphertexts', () => {
    const sealed = testBox.sealVisitorKey(key, 'qr_1');
    expect(testBox.openVisitorKey(sealed, 'qr_1')).toEqual(key);
    expect(testBox.sealVisitorKey(key, 'qr_1')).not.toEqual(sealed);
  });
});

describe('plain keys of an older version', () => {
  test('are encrypted once by concurrent processes, and stay the same keys', async () => {
    await leavePlain(database.sql, 2_500);
    const before = await readVisitorKeys(database.sql, testBox, ['qr_1', 'qr_2500']);
    const processes = [1, 2, 3].map(() => connect(database.url, { max: 1 }));
    await Promise.all(processes.map(sealAll));
    await Promise.all(processes.map((sql) => sql.end()));
    await sealAll(database.sql);
    expect([await rowsOf('visitor_keys'), await rowsOf('unsealed_visitor_keys')]).toEqual([2_500, 0]);
    expect(before.size).toBe(2);
    expect(await readVisitorKeys(database.sql, testBox, ['qr_1', 'qr_2500'])).toEqual(before);
  });

  test('are used by redirects before they are encrypted, with the same result', async () => {
    const { id, short_code } = await given();
    await database.sql`DELETE FROM visitor_keys WHERE code = ${id}`;
    await database.sql`INSERT INTO unsealed_visitor_keys VALUES (${id}, decode(${key.toString('hex')}, 'hex'))`;
    const [early, late] = [routesOn(), routesOn()];
    expect(early.visitorKeyOf(await loadRoute(early, short_code))).toEqual(key);
    await sealAll(database.sql);
    expect(late.visitorKeyOf(await loadRoute(late, short_code))).toEqual(key);
  });

  test('are destroyed if the code is deleted while they are being encrypted', async () => {
    await leavePlain(database.sql, 1);
    const { sql } = database;
    let deletion: Promise<unknown> = Promise.resolve();
    /** Commits the encryption only when the deletion waits for it. */
    const beginAndMeet = <T>(seal: (tx: Transaction) => Promise<T>) =>
      sql.begin(async (tx) => {
        const sealed = await seal(tx);
        deletion = sql.begin((other) => destroyVisitorKey(other, 'qr_1'));
        await eventually(async () =>
          expect(
            await sql`
              SELECT FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%DELETE FROM unsealed%'`,
          ).toHaveLength(1),
        );
        return sealed;
      });
    const meeting = new Proxy(sql, {
      get: (target, name) => (name === 'begin' ? beginAndMeet : Reflect.get(target, name)),
    });
    expect(await sealBatch(meeting, testBox)).toBe(1);
    await deletion;
    expect([await rowsOf('visitor_keys'), await rowsOf('unsealed_visitor_keys')]).toEqual([0, 0]);
  });

  test('lose their file once all are encrypted, without waiting for a reader that locks it', async () => {
    const bytes = async () =>
      (await database.sql<[{ bytes: number }]>`SELECT pg_relation_size('unsealed_visitor_keys') AS bytes`)[0].bytes;
    await leavePlain(database.sql, 10);
    await dropUnsealedFile(database.sql);
    expect(await rowsOf('unsealed_visitor_keys'), 'kept while plain keys are left').toBe(10);
    await sealAll(database.sql);
    await database.sql.begin(async (reader) => {
      await reader`SELECT FROM unsealed_visitor_keys`;
      await dropUnsealedFile(database.sql);
      expect(await bytes()).toBeGreaterThan(0);
    });
    await dropUnsealedFile(database.sql);
    expect(await bytes()).toBe(0);
  });

  test('can be restored from a backup of that version, and are then encrypted', async () => {
    const databases = await Promise.all([createDatabase('template0'), createDatabase('template0')]);
    const folder = mkdtempSync(join(tmpdir(), 'scanlog-keys-'));
    ends.push(...databases.map(({ drop }) => drop), () => rmSync(folder, { recursive: true, force: true }));
    const [older, restored] = databases.map(({ url }) => connect(url, { max: 4, name: 'scanlog-cli' })) as [Sql, Sql];
    ends.push(
      () => older.end(),
      () => restored.end(),
    );
    await migrate(older, { upTo: '0010_operator.sql' });
    await older`INSERT INTO visitor_keys (code, key) VALUES ('qr_1', decode(${key.toString('hex')}, 'hex'))`;
    await writeBackup(older, join(folder, 'older.backup'), { now: new Date() });
    await restoreBackup(restored, await checkBackup(join(folder, 'older.backup')));
    await sealAll(restored);
    expect((await readVisitorKeys(restored, testBox, ['qr_1'])).get('qr_1')).toEqual(key);
    expect(await restored`SELECT FROM unsealed_visitor_keys`).toHaveLength(0);
  });
});

test('the table is vacuumed after a key is destroyed', async () => {
  const { id } = await given();
  const dead = async () =>
    (await database.sql<[{ dead: number }]>`SELECT pg_stat_get_dead_tuples('visitor_keys'::regclass) AS dead`)[0].dead;
  await database.sql.begin((tx) => destroyVisitorKey(tx, id));
  await eventually(async () => expect(await dead()).toBeGreaterThan(0));
  await vacuumVisitorKeys(database.sql);
  await eventually(async () => expect(await dead()).toBe(0));
});
