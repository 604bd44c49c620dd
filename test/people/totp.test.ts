import { randomUUID } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { expect, test } from 'vitest';
import { credentialsOf } from '../../src/people/credentials.ts';
import { beginTotp, checkCode, confirmTotp, hasTotp, removeTotp, replaceRecoveryCodes } from '../../src/people/totp.ts';
import { useDatabase } from '../support/database.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();
const start = new Date('2026-05-01T12:00:00Z');
const origin = { actor: 'operator', now: start };
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const codeAt = (secret: string, at: Date) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at.getTime() });

/** A person who has set up one-time codes at `start`. */
async function setUp() {
  const person = { id: `usr_${randomUUID().replaceAll('-', '')}`, email: 'ada@example.com' };
  const { secret } = await beginTotp(database.sql, testBox, person, start);
  const recovery = await confirmTotp(database.sql, testBox, { user: person.id, code: codeAt(secret, start) }, origin);
  if (typeof recovery === 'string') throw new Error(recovery);
  const check = (code: string, at = start) => checkCode(database.sql, testBox, { user: person.id, code }, at);
  return { person, secret, recovery, check, codeAt: (at: Date) => codeAt(secret, at) };
}

/** Six digits that are no code of the time around `at`. */
const wrongCode = (secret: string, at: Date): string => {
  const right = [-30, 0, 30].map((seconds) => codeAt(secret, new Date(at.getTime() + seconds * 1000)));
  return ['000000', '111111', '222222', '333333'].find((code) => !right.includes(code)) as string;
};

test('are set up with a code of the app, which other apps read from the URL', async () => {
  const person = { id: `usr_${randomUUID().replaceAll('-', '')}`, email: 'ada@example.com' };
  const { secret, url } = await beginTotp(database.sql, testBox, person, start);
  expect(url).toMatch(/^otpauth:\/\/totp\/Scanlog:ada%40example\.com\?issuer=Scanlog&secret=/);
  expect(url).toContain(secret);
  const [row] = await database.sql`SELECT secret FROM user_totp WHERE user_id = ${person.id}`;
  expect(JSON.stringify(row), 'the secret is stored encrypted').not.toContain(secret);
  expect(await hasTotp(database.sql, person.id), 'not before the first code').toBe(false);
  expect(
    await confirmTotp(database.sql, testBox, { user: person.id, code: wrongCode(secret, start) }, origin),
    'with a wrong code',
  ).toBe('wrong');
  const spaced = codeAt(secret, start).replace(/^(...)/, '$1 ');
  const codes = await confirmTotp(database.sql, testBox, { user: person.id, code: spaced }, origin);
  expect(codes).toHaveLength(10);
  expect(await hasTotp(database.sql, person.id)).toBe(true);
  await expect(beginTotp(database.sql, testBox, person, start)).rejects.toMatchObject({ code: 'conflict' });
});

test('a code counts once, also for simultaneous requests, and no older one after it', async () => {
  const { check, codeAt } = await setUp();
  expect(await check(codeAt(start)), 'the code of the set-up').toBe('wrong');
  const next = later(60);
  const results = await Promise.all([1, 2, 3].map(() => check(codeAt(next), next)));
  expect(results.toSorted()).toEqual(['right', 'wrong', 'wrong']);
  expect(await check(codeAt(later(30)), next), 'an older code').toBe('wrong');
});

test('a clock may be off by one step, not by two', async () => {
  const { check, codeAt } = await setUp();
  const now = later(300);
  expect(await check(codeAt(later(240)), now)).toBe('wrong');
  expect(await check(codeAt(later(360)), now)).toBe('wrong');
  expect(await check(codeAt(later(270)), now)).toBe('right');
  expect(await check(codeAt(later(330)), now)).toBe('right');
});

test('ten wrong codes in an hour are the limit, which recovery codes do not have', async () => {
  const { secret, check, codeAt, recovery } = await setUp();
  const now = later(60);
  for (let i = 0; i < 10; i++) expect(await check(wrongCode(secret, now), now)).toBe('wrong');
  expect(await check(codeAt(now), now), 'the right code').toBe('limited');
  expect(await check(recovery[0] ?? '', now)).toBe('right');
  const nextHour = later(3_700);
  expect(await check(codeAt(nextHour), nextHour)).toBe('right');
});

test('a recovery code counts once, however it is written', async () => {
  const { person, check, recovery } = await setUp();
  const [first = '', second = ''] = recovery;
  expect(await check(` ${first.toUpperCase().replaceAll('-', ' ')} `)).toBe('right');
  expect(await check(first)).toBe('wrong');
  expect(await credentialsOf(database.sql, person.id)).toEqual({ totp: true, recovery_codes_left: 9, oidc: false });
  const rows = await database.sql`SELECT hash FROM user_recovery_codes WHERE user_id = ${person.id}`;
  expect(JSON.stringify(rows), 'stored hashed').not.toContain(second);
  const replaced = await replaceRecoveryCodes(database.sql, person.id, origin);
  expect(await check(second), 'new codes void the others').toBe('wrong');
  expect(await check(replaced[0] ?? '')).toBe('right');
});

test('of one person are of no use for another, and none after they were turned off', async () => {
  const ada = await setUp();
  const bob = await setUp();
  const now = later(60);
  expect(await bob.check(ada.recovery[0] ?? '', now)).toBe('wrong');
  await database.sql.begin((tx) => removeTotp(tx, ada.person.id, origin));
  expect(await ada.check(ada.codeAt(now), now)).toBe('wrong');
  expect(await ada.check(ada.recovery[0] ?? '', now)).toBe('wrong');
  expect(await bob.check(bob.codeAt(now), now)).toBe('right');
});
