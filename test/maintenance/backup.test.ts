import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findArt } from '../../src/codes/logos.ts';
import { loadCursors } from '../../src/feed/cursor.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { append } from '../../src/log/append.ts';
import { streamOfLog } from '../../src/log/branch.ts';
import { connect } from '../../src/log/connect.ts';
import { appliedMigrations, migrate, readMigrations } from '../../src/log/migrate.ts';
import { ensurePartitions } from '../../src/log/partitions.ts';
import { headOfLog } from '../../src/log/read.ts';
import { writeBackup } from '../../src/maintenance/backup.ts';
import { leftOut } from '../../src/maintenance/backup-file.ts';
import { checkBackup, restoreBackup } from '../../src/maintenance/restore.ts';
import { png } from '../logos/images.ts';
import { createDatabase, useDatabase } from '../support/database.ts';
import { opened } from '../support/events.ts';
import { dumpAll } from '../support/tables.ts';

const source = useDatabase();
const folder = mkdtempSync(join(tmpdir(), 'scanlog-backup-'));
const file = join(folder, 'whole.backup');
const drops: (() => Promise<void>)[] = [];
const now = new Date('2026-03-04T05:06:07.089Z');
const oddTexts = [
  '',
  ' ',
  '"',
  '\\',
  '\\"',
  '(),',
  "'",
  'a\nb\r\n',
  'tab\t',
  '\u2028\u2029',
  '🙂 é',
  'NULL',
  '{}',
  '\\x00',
];

const logoId = `logo_${'0'.repeat(22)}`;
const image = new Uint8Array(png({ width: 40, height: 30 }));

/** Connects to a new database of `template` under the name that the command line uses. */
async function target(template?: string): Promise<Sql> {
  const { url, drop } = await createDatabase(template);
  const sql = connect(url, { max: 4, name: 'scanlog-cli' });
  drops.push(drop, () => sql.end());
  return sql;
}

const open = (sql: Sql) => sql.begin((tx) => append(tx, [opened()], { actor: 'operator', now }));
const restored = async (sql: Sql, from = file) => restoreBackup(sql, await checkBackup(from));

/** All rows that a backup contains, without the branch, which a restored log has of its own. */
async function kept(sql: Sql): Promise<Record<string, string[]>> {
  const isOwn = (name: string) => name === 'log_branches' || leftOut.includes(name) || /^scans_\d/.test(name);
  const all = Object.entries(await dumpAll(sql)).filter(([name]) => !isOwn(name));
  return Object.fromEntries(all.map(([name, rows]) => [name, rows.filter((row) => !row.startsWith('(branch,'))]));
}

/** Writes a copy of the backup with its lines changed by `alter`. */
function altered(name: string, alter: (lines: string[]) => string[]): string {
  const path = join(folder, name);
  const lines = zstdDecompressSync(readFileSync(file)).toString().split('\n');
  writeFileSync(path, zstdCompressSync(alter(lines).join('\n')));
  return path;
}

beforeAll(async () => {
  const { sql } = source;
  await open(sql);
  // Far enough for scans in a partition that no migration creates.
  await sql`SELECT setval('log_position', 50000000)`;
  await ensurePartitions(sql);
  for (const [i, text] of oddTexts.entries()) {
    const at = `2026-01-02 03:04:05.${String(i).padStart(6, '0')}+00`;
    await sql`
      INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
      VALUES (nextval('log_position'), ${`evt_${i}`}, ${`acct_${i}`}, 1, 'account_created', 1,
        ${sql.json({ name: text, n: 1.5, big: 2 ** 52, none: null })}, ${text}, ${at}::text::timestamptz)`;
    await sql`
      INSERT INTO subscriptions (account, webhook, mode, url, description, events, status, reason, since, created_at, updated_at)
      VALUES (${`acct_${i}`}, 'live', 'live', ${text}, '', '{}', 'on', ${i % 2 ? text : null}, now(), now(), now())`;
    await sql`INSERT INTO idempotency_keys VALUES ('acct_1', 'live', ${`key ${i}`}, 'h', NULL, ${text}, now())`;
    await sql`
      INSERT INTO scans VALUES (nextval('log_position'), ${`scan_${i}`}, 'qr_1', 'acct_1', 'live',
        ${at}::text::timestamptz, 'DE', ${text}, ${text}, 'ios', 'safari', ${i % 2 === 0}, gen_random_uuid(), true, ${i})`;
    await sql`
      INSERT INTO users (id, name, email, password_hash, created_at)
      VALUES (${`usr_${i}`}, ${text}, ${`${i}@example.com`}, ${text}, now())`;
    await sql`INSERT INTO members VALUES ('acct_1', ${`usr_${i}`}, 'viewer', now())`;
    await sql`INSERT INTO visitors VALUES (hashtextextended(${text}, 0), gen_random_uuid())`;
    await sql`INSERT INTO visitor_keys VALUES (${`qr_${i}`}, decode(${'00ff27225c'.slice(0, i)}, 'escape'))`;
  }
  // More than one batch.
  await sql`
    INSERT INTO visitors SELECT 9223372036854775807 - n, gen_random_uuid() FROM generate_series(0, 2500) AS n`;
  await sql`
    INSERT INTO deliveries
      (id, account, webhook, code, scanned_at, country, city, device, is_unique, generation, due_at, created_at, attempts)
    SELECT 'whd_' || n, 'acct_1', 'live', 'qr_1', now(), 'DE', '', 'ios', true, 0, now(), now(), '[{"ms": 1.25}]'
    FROM generate_series(1, 150) AS n`;
  await sql`
    INSERT INTO logos VALUES (${logoId}, 'acct_1', 'live', ${'a'.repeat(64)}, 'jpeg', 400, 300, 9000, now())`;
  await sql`INSERT INTO logo_files VALUES ('acct_1', ${'a'.repeat(64)}, 'image/png', ${Buffer.from(image)})`;
  await sql`INSERT INTO secrets VALUES ('secret_key', '\\xdeadbeef')`;
  await sql`INSERT INTO warehouse_tables (definition, in_use, position, removed_to, rows) VALUES (1, true, 9, 9, 9)`;
  await writeBackup(sql, file, { now });
});
afterAll(async () => {
  for (const drop of drops.reverse()) await drop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a backup', () => {
  test('restores every row exactly into an empty database, and the log continues after its end', async () => {
    const sql = await target();
    await restored(sql);
    expect(await kept(sql)).toEqual(await kept(source.sql));
    expect(await findArt(sql, logoId)).toEqual({ kind: 'raster', width: 40, height: 30, png: image });
    expect(await dumpAll(sql)).toMatchObject({
      delivery_counts: ['(acct_1,live,pending,150)'],
      warehouse_tables: [],
    });

    const end = await headOfLog(source.sql);
    const [before, after] = [await loadCursors(source.sql), await loadCursors(sql)];
    const owner = { account: 'acct_1', mode: 'live' } as const;
    for (const [issued, continued] of [
      [end - 1, end - 1],
      [end + 5, end],
    ] as const)
      expect(after.open(owner, before.seal(owner, issued)), 'a cursor from before').toBe(continued);
    expect(after.open(owner, after.seal(owner, end + 5))).toBe(end + 5);

    const [next] = await open(sql);
    expect(next?.position).toBe(end + 1);
    for (const table of ['events', 'scans'])
      await expect(sql`DELETE FROM ${sql(table)}`).rejects.toThrow('only ever appended to');
    expect(await streamOfLog(source.sql, 'scanlog')).toBe('scanlog');
    expect(await streamOfLog(sql, 'scanlog'), 'its own stream').toMatch(/^scanlog_[0-9a-f]{8}$/);
  });

  test('of an older version is restored, and the database is migrated afterwards', async () => {
    const [old, fresh] = [await target('template0'), await target('template0')];
    await migrate(old, { upTo: '0006_webhooks.sql' });
    await open(old);
    const older = join(folder, 'older.backup');
    await writeBackup(old, older, { now });
    await restored(fresh, older);
    expect(await appliedMigrations(fresh)).toHaveLength((await readMigrations()).length);
    expect((await kept(fresh))['events']).toEqual((await kept(old))['events']);

    const newer = await target();
    await expect(restored(newer, older)).rejects.toThrow('newer version than the backup');
    expect(await headOfLog(newer)).toBe(0);
  });

  test('of format 1 is restored', async () => {
    const sql = await target('template0');
    await restored(sql, fileURLToPath(new URL('../fixtures/backup/format-1.backup', import.meta.url)));
    const scans = await sql<{ city: string; rule: string | null }[]>`SELECT city, rule FROM scans ORDER BY position`;
    expect(scans).toEqual(oddTexts.map((city) => ({ city, rule: null })));
    const keys = await sql<{ body: string }[]>`SELECT body FROM idempotency_keys ORDER BY key`;
    expect(keys.map(({ body }) => body).toSorted()).toEqual(oddTexts.toSorted());
  });

  test('is readable by its owner only, and leaves no temporary file', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('that fails leaves the previous file unchanged', async () => {
    const again = join(folder, 'again.backup');
    writeFileSync(again, 'the previous backup');
    const own = connect(source.url, { max: 3 });
    const failing = writeBackup(own, again, {
      now,
      onProgress: () => {
        throw new Error('the disk is full');
      },
    });
    await expect(failing).rejects.toThrow('the disk is full');
    await own.end();
    expect(readFileSync(again, 'utf8')).toBe('the previous backup');
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});

describe('a restore is refused before it changes anything', () => {
  const rowAt = (lines: string[]) => lines.findIndex((line) => line.includes('acct_3,live'));
  test.each([
    ['that is truncated', () => truncated(0.7), 'incomplete'],
    ['without its last bytes', () => truncated(0.999), 'incomplete'],
    ['without its end line', () => altered('end', (lines) => lines.slice(0, -2)), 'its end line is missing'],
    ['without a row', () => altered('row', (lines) => lines.toSpliced(rowAt(lines), 1)), 'its checksum is wrong'],
    [
      'with a changed row',
      () =>
        altered('other', (lines) =>
          lines.with(rowAt(lines), (lines[rowAt(lines)] as string).replace('acct_3', 'acct_4')),
        ),
      'its checksum is wrong',
    ],
    ['with a broken line', () => altered('broken', (lines) => lines.with(9, '{')), 'a line in an unknown format'],
    ['with a changed byte', () => changed(), 'damaged'],
    ['that is not a backup', () => written('text', 'Hello'), 'is not a backup of Scanlog'],
    [
      'that is not a backup, compressed',
      () => written('zstd', zstdCompressSync('Hello\n')),
      'is not a backup of Scanlog',
    ],
    ['that is not a backup, gzipped', () => written('gzipped', gzipSync('Hello\n')), 'is not a backup of Scanlog'],
    ['that is empty', () => written('empty', ''), 'incomplete'],
    ['that does not exist', () => join(folder, 'nowhere'), 'There is no file'],
    [
      'of a newer version',
      () =>
        altered('newer', ([header, ...rest]) => [(header as string).replace('0007_console', '0999_later'), ...rest]),
      /written by Scanlog .*migration 0999_later.sql/,
    ],
    [
      'in a newer format',
      () => altered('form', ([header, ...rest]) => [(header as string).replace('backup":2', 'backup":3'), ...rest]),
      'in a newer format',
    ],
  ])('from a file %s', async (_, make, message) => {
    await expect(checkBackup(make())).rejects.toThrow(message);
  });

  test('into a database that has a log', async () => {
    const sql = await target();
    await open(sql);
    const before = await dumpAll(sql);
    await expect(restored(sql)).rejects.toThrow('has a log already');
    expect(await dumpAll(sql)).toEqual(before);
  });

  test('into a database that a service is connected to', async () => {
    const { url, sql, drop } = await createDatabase();
    drops.push(drop);
    await sql`SELECT 1`;
    const own = connect(url, { max: 2, name: 'scanlog-cli' });
    await expect(restored(own)).rejects.toThrow('A service runs on this database');
    await own.end();
  });

  const written = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const truncated = (share: number) => {
    const bytes = readFileSync(file);
    return written('truncated', bytes.subarray(0, Math.floor(bytes.length * share)));
  };
  const changed = () => {
    const bytes = readFileSync(file);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] as number) ^ 0x55;
    return written('changed', bytes);
  };
});

test('a file that is replaced after it was checked leaves the database empty', async () => {
  const sql = await target();
  const checked = await checkBackup(file);
  const other = altered('replaced', (lines) => lines.slice(0, -2));
  await expect(restoreBackup(sql, { ...checked, file: other })).rejects.toThrow('its end line is missing');
  expect(await headOfLog(sql)).toBe(0);
  expect((await dumpAll(sql))['subscriptions']).toEqual([]);
});
