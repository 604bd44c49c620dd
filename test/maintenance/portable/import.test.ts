import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listReports } from '../../../src/accounts/reports.ts';
import { listAlerts } from '../../../src/alerts/alerts.ts';
import { scheduleMissing } from '../../../src/alerts/checker.ts';
import { createSecretBox } from '../../../src/lib/secret-box.ts';
import type { Sql } from '../../../src/lib/sql.ts';
import { appendScans, batchOf } from '../../../src/log/append-scans.ts';
import { exportAccount } from '../../../src/maintenance/portable/export.ts';
import { fileKeyOf } from '../../../src/maintenance/portable/file-key.ts';
import { type ImportStep, importAccount } from '../../../src/maintenance/portable/import.ts';
import { recordOf } from '../../../src/maintenance/portable/staged-records.ts';
import { replayState } from '../../../src/maintenance/replay-state.ts';
import { newCode } from '../../support/api.ts';
import { createDatabase } from '../../support/database.ts';
import { givenDomain } from '../../support/domains.ts';
import { person } from '../../support/people.ts';
import { scanned } from '../../support/scans.ts';
import { testBox } from '../../support/secret-box.ts';
import { useService } from '../../support/service.ts';
import { dumpAll } from '../../support/tables.ts';

const service = useService({ projections: false });
const folder = mkdtempSync(join(tmpdir(), 'scanlog-account-'));
const file = join(folder, 'whole.account');
const box = createSecretBox('the-key-of-the-target');
const now = new Date('2026-05-06T07:08:09.010Z');
let drop = async () => {};
let account: string;
let key: string;
/** Enough for several chunks. */
const scans = 800;

beforeAll(async () => {
  const { sql } = service.database;
  const { id, live, test: testMode } = await service.account();
  account = id;
  await givenDomain(service, account, 'go.example.com');
  const create = async (body: Record<string, unknown> = {}) => {
    const { status, body: code, text } = await live.post('/v1/qrcodes', newCode(body));
    expect(status, text).toBe(201);
    return code;
  };
  const code = await create({ short_code: 'Menu-1', password: 'open sesame' });
  await create({ domain: 'go.example.com', short_code: 'menu', max_scans: 10 });
  await testMode.post('/v1/qrcodes', newCode({ name: 'a\nb\t\\ 🙂' }));
  const odd = { code: code.id, account, region: 'a\tb\\n\n"', city: "{},'" };
  await appendScans(
    sql,
    batchOf(
      'w',
      1,
      Array.from({ length: scans }, () => scanned(odd)),
    ),
  );
  await live.patch(`/v1/qrcodes/${code.id}`, { name: 'Later' });
  await appendScans(sql, batchOf('w', 2, [scanned({ ...odd, rule: 'r1', variant: 'v1' })]));
  await person(service, { account });
  const to = ['ada@example.com', 'bea@example.com'];
  const report = { name: 'Weekly', every: 'week', qr_ids: [code.id], to };
  for (const [path, body] of [
    ['/v1/reports', report],
    ['/v1/alerts', { kind: 'silent', qr_ids: [code.id], to }],
  ] as const)
    expect((await live.post(path, body)).status).toBe(201);
  await sql`UPDATE mail_recipients SET unsubscribed_at = ${now} WHERE email = ${to[1] ?? ''}`;
  await sql`INSERT INTO dropped_scans VALUES (${code.id}, 7, 5, 1)`;
  await sql`INSERT INTO imports VALUES (${account}, 'bitly', 'bit.ly/1', ${code.id})`;
  key = (await exportAccount(file, { sql, box: testBox, account, now })).key;
});
// Each keeps its connections until it is dropped.
afterEach(async () => {
  await drop();
  drop = async () => {};
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function target(): Promise<Sql> {
  const database = await createDatabase();
  drop = database.drop;
  return database.sql;
}

const fileKey = (text = key) => fileKeyOf(text) as NonNullable<ReturnType<typeof fileKeyOf>>;
const importInto = (sql: Sql, options: { from?: string; onStep?: (step: ImportStep) => unknown } = {}) =>
  importAccount(options.from ?? file, { sql, box, key: fileKey(), now, onStep: options.onStep ?? (() => {}) });

/** What a file says about its account, without what differs between two logs. */
function contentOf(path: string, keyText: string): string[] {
  const lines = zstdDecompressSync(readFileSync(path)).toString().trimEnd().split('\n').slice(1, -1);
  const ofOneLog = ['cursors', 'move', 'move_positions'];
  return lines
    .flatMap((line) => {
      if (!line.startsWith('{"kind"')) return line.replace(/^\{"position" : \d+|^\d+\t/, '');
      const record = recordOf(line, fileKey(keyText), account);
      return ofOneLog.includes(record.kind) ? [] : JSON.stringify(record);
    })
    .toSorted();
}

const exportedAgain = async (sql: Sql) => {
  const path = join(folder, 'again.account');
  return contentOf(path, (await exportAccount(path, { sql, box, account, now })).key);
};

/** Events that the import adds: the domain must be proved again, and no one has a user on the target. */
const isAdded = (line: string) =>
  /"(domain_added|member_removed)"/.test(line) && line.includes(now.toISOString().slice(0, 19));

describe('an imported account', () => {
  test('is exported as it was, and a rebuild of the state changes nothing', async () => {
    const sql = await target();
    const { domains } = await importInto(sql);
    expect(domains).toEqual(['go.example.com']);
    expect((await exportedAgain(sql)).filter((line) => !isAdded(line))).toEqual(contentOf(file, key));
    expect(await sql`SELECT status FROM domains`).toMatchObject([{ status: 'pending' }]);
    expect((await replayState(sql)).corrected).toBe(0);
    const owner = { account, mode: 'live' } as const;
    const [to, unsubscribed] = [['ada@example.com', 'bea@example.com'], ['bea@example.com']];
    expect(await listReports(sql, owner)).toMatchObject([
      { name: 'Weekly', to, unsubscribed, due_at: expect.any(Date) },
    ]);
    expect(await listAlerts(sql, owner)).toMatchObject([{ kind: 'silent', to, unsubscribed }]);
    expect(await sql`SELECT account FROM alert_checks`).toEqual([{ account }]);
    expect(await sql`SELECT user_id FROM members`).toEqual([]);
  });

  test.each([
    ['append', 1],
    ['append', 2],
    ['show', 1],
  ])('is hidden if the import is cut off before step %s %i, and complete after the next', async (name, number) => {
    const sql = await target();
    let steps = 0;
    const onStep = ({ step }: ImportStep) => {
      if (step === name && ++steps === number) throw new Error('cut off');
    };
    await expect(importInto(sql, { onStep })).rejects.toThrow('cut off');
    expect(await sql`SELECT id FROM accounts UNION ALL SELECT id FROM api_keys`).toEqual([]);
    await expect(replayState(sql)).rejects.toThrow('is not complete');
    // Of a process that was killed.
    await sql`CREATE SCHEMA account_import`;
    await scheduleMissing(sql, now);
    await importInto(sql);
    expect((await exportedAgain(sql)).filter((line) => !isAdded(line))).toEqual(contentOf(file, key));
    await expect(importInto(sql)).rejects.toThrow('exists on this instance');
    expect(await sql`SELECT 1 FROM pg_namespace WHERE nspname = 'account_import'`).toEqual([]);
  });
});

describe('nothing is imported', () => {
  const bytes = () => readFileSync(file);

  test('of a file that ends too early', async () => {
    const sql = await target();
    const before = await dumpAll(sql);
    const path = join(folder, 'cut.account');
    for (const share of [0, 0.02, 0.5, 0.9, 0.9999]) {
      writeFileSync(path, bytes().subarray(0, Math.floor(bytes().length * share)));
      await expect(importInto(sql, { from: path })).rejects.toThrow(/damaged or incomplete|not an account file/);
    }
    expect(await dumpAll(sql)).toEqual(before);
  });

  test('of a file with a wrong byte, or with the wrong key', async () => {
    const sql = await target();
    const before = await dumpAll(sql);
    const path = join(folder, 'wrong.account');
    const wrong = bytes();
    const middle = Math.floor(wrong.length / 2);
    wrong[middle] = (wrong[middle] ?? 0) ^ 1;
    writeFileSync(path, wrong);
    await expect(importInto(sql, { from: path })).rejects.toThrow('damaged or incomplete');
    const otherKey = fileKey(Buffer.alloc(32, 1).toString('base64url'));
    await expect(importAccount(file, { sql, box, key: otherKey, now })).rejects.toThrow('not the key');
    expect(await dumpAll(sql)).toEqual(before);
  });

  test('while an id, a short code or a domain is taken', async () => {
    const sql = await target();
    const takeDomain = () => sql`
      INSERT INTO domains (id, account, name, status, token, created_at)
      VALUES ('dom_other', 'acct_other', 'go.example.com', 'active', 't', now())`;
    const taken: [string, () => PromiseLike<unknown>][] = [
      ['The code qr_', () => takeCode(sql, { id: undefined, short_code: 'else' })],
      ['The short code Menu-1', () => takeCode(sql, { id: 'qr_other', short_code: 'Menu-1' })],
      ['The short code MENU-1', () => takeCode(sql, { id: 'qr_other', short_code: 'MENU-1' })],
      ['The domain go.example.com', takeDomain],
    ];
    for (const [message, take] of taken) {
      await take();
      const before = await dumpAll(sql);
      await expect(importInto(sql)).rejects.toThrow(message);
      expect(await dumpAll(sql)).toEqual(before);
      await sql`DELETE FROM codes`;
    }
  });
});

test('an export to a full disk names the file, and leaves nothing; the next one is complete', async () => {
  const { sql } = service.database;
  const path = join(folder, 'full.account');
  const options = { sql, box: testBox, account, now };
  symlinkSync('/dev/full', `${path}.${process.pid}.part`);
  await expect(exportAccount(path, options)).rejects.toThrow(
    `${path} cannot be written, and nothing is left of it: ENOSPC`,
  );
  expect(readdirSync(folder).filter((name) => name.startsWith('full.account'))).toEqual([]);
  expect(contentOf(path, (await exportAccount(path, options)).key)).toEqual(contentOf(file, key));
});

/** A code of another account. `id` is undefined for the id of a code of the file. */
async function takeCode(sql: Sql, { id, short_code }: { id: string | undefined; short_code: string }): Promise<void> {
  const [own] = await service.database.sql<{ id: string }[]>`SELECT id FROM codes WHERE short_code = 'Menu-1'`;
  await sql`
    INSERT INTO codes (id, account, mode, name, destination_url, destination_revision, short_code, short_code_given, status,
      style, created_at, updated_at, version, position)
    VALUES (${id ?? own?.id ?? ''}, 'acct_other', 'live', 'Other', 'https://example.com', 1, ${short_code}, true, 'active', '{}',
      now(), now(), 1, 1)`;
}
