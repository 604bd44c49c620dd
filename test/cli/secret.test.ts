import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Mode } from '../../events/plans.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { createCodes } from '../../src/codes/create.ts';
import { readVisitorKeys } from '../../src/codes/visitor-keys.ts';
import { createSecretBox, type SecretBox } from '../../src/lib/secret-box.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { connect } from '../../src/log/connect.ts';
import { isKeyOfDatabase } from '../../src/log/secret-key.ts';
import { writeBackup } from '../../src/maintenance/backup.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { beginTotp } from '../../src/people/totp.ts';
import { create, rotate, set } from '../../src/webhooks/commands.ts';
import { findTarget } from '../../src/webhooks/target.ts';
import { command } from '../support/command.ts';
import { createDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { testBox, testSecretKey } from '../support/secret-box.ts';
import { dumpAll } from '../support/tables.ts';

const folder = mkdtempSync(join(tmpdir(), 'scanlog-secret-'));
const newKey = 'the-key-that-follows-the-one-before-it';
const newBox = createSecretBox(newKey);
const now = new Date();
const person = { id: 'usr_00000000000000000000', email: 'ada@example.com' };
const older = { code: 'qr_older', key: Buffer.alloc(32, 7) };
const drops: (() => Promise<void>)[] = [];
let sql: Sql;
let url: string;
let owner: { account: string; mode: Mode };
let code: string;
let subscription: string;

/** A database with a webhook that has two secrets, a code, one-time codes of a person, and a visitor key in plain text of an older version. */
async function newDatabase(): Promise<void> {
  const database = await createDatabase();
  drops.push(database.drop);
  url = database.url;
  // Named like a session of the command line, which does not count as a running service.
  sql = connect(url, { max: 4, name: 'scanlog-cli' });
  drops.push(() => sql.end());
  await isKeyOfDatabase(sql, testBox);
  owner = { account: (await createAccount(sql, { name: 'Café', plan: 'pro', now })).id, mode: 'live' };
  await set(sql, testBox, owner, 'https://example.com/hook', { actor: 'operator', now });
  await rotate(sql, testBox, owner, 'live', { actor: 'operator', now });
  const filter = { events: ['scan.created'], qr_ids: null, tags: null };
  const settings = { url: 'https://example.com/other', description: '', active: true, ...filter };
  subscription = await create(sql, testBox, owner, settings, { actor: 'operator', now });
  const request = { name: 'Menu', destination_url: 'https://example.com' };
  const [made] = await sql.begin((tx) => createCodes(tx, testBox, owner, [request], { actor: 'operator', now }));
  code = made?.code.id ?? '';
  await sql`INSERT INTO unsealed_visitor_keys VALUES (${older.code}, decode(${older.key.toString('hex')}, 'hex'))`;
  await beginTotp(sql, testBox, person, now);
  await database.sql.end();
}
afterAll(async () => {
  for (const drop of drops.reverse()) await drop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (environment: Record<string, string>, ...args: string[]) => command(['secret', ...args], environment);

/** All encrypted secrets, decrypted. */
async function secretsUnder(box: SecretBox) {
  const target = await findTarget(sql, box, { account: owner.account, webhook: 'live' }, now, { onlyWhenOn: false });
  const keys = await readVisitorKeys(sql, box, [code, older.code]);
  const other = { account: owner.account, webhook: subscription };
  const otherTarget = await findTarget(sql, box, other, now, { onlyWhenOn: false });
  const totp = await sql<{ secret: string }[]>`SELECT secret FROM user_totp`;
  return {
    webhook: target?.secrets,
    other: otherTarget?.secrets,
    keys: [code, older.code].map((id) => keys.get(id)),
    totp: totp.map(({ secret }) => box.openTotpSecret(secret, person.id)),
  };
}

describe('secret', () => {
  beforeEach(newDatabase);

  test('rotate encrypts every secret with the new key, and can be repeated', async () => {
    const before = await secretsUnder(testBox);
    expect(before.webhook).toHaveLength(2);
    const environment = { DATABASE_URL: url, SECRET_KEY: testSecretKey, NEW_SECRET_KEY: newKey };
    for (const _ of ['first', 'second']) {
      const { code: exit, output } = await run(environment, 'rotate', '--json');
      expect(exit, output).toBe(0);
      expect(JSON.parse(output)).toEqual({
        rotated: true,
        webhook_secrets: 2,
        visitor_keys: 2,
        one_time_code_secrets: 1,
        secrets_file: null,
      });
    }
    expect(await secretsUnder(newBox)).toEqual(before);
    await expect(secretsUnder(testBox)).rejects.toThrow();
    expect(await isKeyOfDatabase(sql, newBox)).toBe(true);
    expect(await sql`SELECT FROM unsealed_visitor_keys`).toHaveLength(0);
  });

  test('reset replaces what the lost key had encrypted, after confirmation', async () => {
    const before = await secretsUnder(testBox);
    const environment = { DATABASE_URL: url, SECRET_KEY: newKey };
    const refused = await run(environment, 'reset');
    expect(refused.code).toBe(1);
    expect(refused.output).toContain(
      'This replaces the secrets of 2 webhooks, the visitor keys of 2 codes and the one-time codes of 1 person. Every receiver of webhooks must be given its new secret, a returning visitor of a code counts as new once, and people set up their one-time codes again.',
    );
    expect(await secretsUnder(testBox)).toEqual(before);

    const { code: exit, output } = await run(environment, 'reset', '--yes', '--json');
    expect(exit, output).toBe(0);
    expect(JSON.parse(output)).toEqual({ reset: true, webhook_secrets: 2, visitor_keys: 2, one_time_code_secrets: 1 });
    const after = await secretsUnder(newBox);
    expect(after.webhook, 'the previous secret no longer signs').toHaveLength(1);
    expect(before.webhook).not.toContain(after.webhook?.[0]);
    expect(after.keys[0]).toHaveLength(32);
    expect(after.keys[0]).not.toEqual(before.keys[0]);
    expect(after.keys[1], 'a key in plain text is not lost').toEqual(older.key);
    expect(await isKeyOfDatabase(sql, newBox)).toBe(true);
    expect([before.other?.length, after.other?.length]).toEqual([1, 1]);
    expect(after.other).not.toEqual(before.other);
    expect([before.totp.length, after.totp.length], 'one-time codes have to be set up again').toEqual([1, 0]);
    const rotations = await sql`SELECT type FROM events WHERE type LIKE 'webhook_%rotated' ORDER BY position`;
    expect(rotations.map(({ type }) => type).toSorted()).toEqual([
      'webhook_rotated',
      'webhook_rotated',
      'webhook_secret_rotated',
    ]);
    expect((await replayState(sql)).corrected, 'state agrees with the log').toBe(0);
  });
});

describe('refuses, and changes nothing:', () => {
  beforeAll(newDatabase);

  test.each([
    ['without NEW_SECRET_KEY', { NEW_SECRET_KEY: '' }, 'NEW_SECRET_KEY is not set'],
    ['to the same key', { NEW_SECRET_KEY: testSecretKey }, 'NEW_SECRET_KEY is the same as SECRET_KEY'],
    ['to a short key', { NEW_SECRET_KEY: 'hunter2' }, 'NEW_SECRET_KEY must have at least 32 characters'],
    ['from a key of another database', { SECRET_KEY: 'x'.repeat(32) }, 'SECRET_KEY is not the key of this database'],
  ])('rotate %s', async (_, wrong, sentence) => {
    const before = await dumpAll(sql);
    const right = { DATABASE_URL: url, SECRET_KEY: testSecretKey, NEW_SECRET_KEY: newKey };
    const { code: exit, output } = await run({ ...right, ...wrong }, 'rotate');
    expect(exit).toBe(1);
    expect(output).toContain(sentence);
    expect(await dumpAll(sql)).toEqual(before);
  });

  test('rotate while a service runs on the database', async () => {
    const service = connect(url, { max: 1, name: 'scanlog-edge' });
    await service`SELECT 1`;
    const environment = { DATABASE_URL: url, SECRET_KEY: testSecretKey, NEW_SECRET_KEY: newKey };
    const { code: exit, output } = await run(environment, 'rotate');
    await service.end();
    await eventually(async () =>
      expect(
        await sql`SELECT FROM pg_stat_activity WHERE application_name = 'scanlog-edge'
        AND datname = current_database()`,
      ).toHaveLength(0),
    );
    expect(exit).toBe(1);
    expect(output).toBe('scanlog: A service runs on this database: stop it, rotate the key, and start it again.\n');
    expect(await isKeyOfDatabase(sql, testBox)).toBe(true);
  });

  test.each([
    ['with the key of the database', { SECRET_KEY: testSecretKey }, 'so nothing is lost'],
    ['without a key', {}, 'SECRET_KEY is not set'],
  ])('reset %s', async (_, keys, sentence) => {
    const data = join(folder, 'none');
    const { code: exit, output } = await run({ DATABASE_URL: url, ...keys }, 'reset', '--yes', '--data', data);
    expect(exit).toBe(1);
    expect(output).toContain(sentence);
    expect(await isKeyOfDatabase(sql, testBox)).toBe(true);
  });
});

test('a data folder: restores a backup without its key, resets the key, and rotates it', async () => {
  await newDatabase();
  const data = join(folder, 'data');
  const file = join(folder, 'secrets-test.backup');
  await writeBackup(sql, file, { now });
  const scanlog = async (...args: string[]) => {
    const { code: exit, output } = await command([...args, '--data', data]);
    expect(exit, output).toBe(0);
    return output;
  };
  const secrets = () => JSON.parse(readFileSync(join(data, 'secrets.json'), 'utf8'));
  expect(await scanlog('restore', file, '--lost-key')).toContain('Run ./scanlog secret reset before');
  const { secretKey: first } = secrets();
  await scanlog('secret', 'reset', '--yes');
  expect(secrets().secretKey, 'the database now uses the key of the folder').toBe(first);

  expect(await scanlog('secret', 'rotate')).toMatch(/Encrypted the secrets of .+ with the new key\./);
  const rotated = secrets();
  expect(rotated).toMatchObject({ secretKey: expect.stringMatching(/^[0-9a-f]{64}$/), postgres: expect.any(String) });
  expect(rotated.secretKey).not.toBe(first);
  expect(rotated).not.toHaveProperty('nextSecretKey');
  expect(statSync(join(data, 'secrets.json')).mode & 0o777).toBe(0o600);

  // As after an interruption between the commit and the last write of the file.
  const interrupted = { ...rotated, secretKey: first, nextSecretKey: rotated.secretKey };
  writeFileSync(join(data, 'secrets.json'), JSON.stringify(interrupted));
  for (const args of [['up'], ['secret', 'reset', '--yes']]) {
    const refused = await command([...args, '--data', data]);
    expect(refused.code).toBe(1);
    expect(refused.output).toContain('was interrupted: run ./scanlog secret rotate again.');
  }
  await scanlog('secret', 'rotate');
  expect(secrets()).toEqual(rotated);
});
