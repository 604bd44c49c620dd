import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { listPasskeys, removePasskey, renamePasskey, siteOf } from '../../src/people/passkeys.ts';
import { SignInSteps } from '../../src/people/steps.ts';
import { insertUser } from '../../src/people/users.ts';
import { useDatabase } from '../support/database.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();
const now = new Date();

async function newUser(password_hash: string | null): Promise<string> {
  const id = newId('usr', now.getTime());
  await insertUser(database.sql, { id, name: 'Ada', email: `${randomUUID()}@example.com`, password_hash }, { now });
  return id;
}

/** A passkey as the browser test makes it; its key is of no use here. */
async function newPasskey(user: string): Promise<string> {
  const id = newId('pk', now.getTime());
  await database.sql`
    INSERT INTO user_passkeys (id, user_id, credential, name, public_key, counter, transports, created_at)
    VALUES (${id}, ${user}, ${randomUUID()}, 'Laptop', '\\x00', 0, '{internal}', ${now})`;
  return id;
}

describe('passkeys', () => {
  test.each([
    ['https://qr.example.com', { id: 'qr.example.com', origin: 'https://qr.example.com' }],
    ['https://qr.example.com:8443', { id: 'qr.example.com', origin: 'https://qr.example.com:8443' }],
    ['http://localhost:3000', { id: 'localhost', origin: 'http://localhost:3000' }],
    ['http://qr.example.com', { reason: expect.stringContaining('Passkeys need HTTPS') }],
    ['http://192.168.1.7:3000', { reason: expect.stringContaining('Passkeys need a host name') }],
    ['https://192.168.1.7', { reason: expect.stringContaining('Passkeys need a host name') }],
    ['http://[::1]:3000', { reason: expect.stringContaining('Passkeys need a host name') }],
  ])('at %s', (url, site) => {
    expect(siteOf(url)).toEqual(site);
  });

  test('can be renamed and removed by their person alone', async () => {
    const [user, stranger] = [await newUser('hash'), await newUser('hash')];
    const id = await newPasskey(user);
    expect(await renamePasskey(database.sql, { user: stranger, id, name: 'Mine' })).toBeUndefined();
    expect(await removePasskey(database.sql, { user: stranger, id }, { actor: stranger, now })).toBe(false);
    expect(await renamePasskey(database.sql, { user, id, name: 'Phone' })).toMatchObject({ id, name: 'Phone' });
    expect(await removePasskey(database.sql, { user, id }, { actor: user, now })).toBe(true);
    expect([...(await listPasskeys(database.sql, user))]).toEqual([]);
  });

  test('stay while nothing else signs the person in, also if two are removed at the same time', async () => {
    const user = await newUser(null);
    const ids = [await newPasskey(user), await newPasskey(user)];
    const removed = await Promise.allSettled(
      ids.map((id) => removePasskey(database.sql, { user, id }, { actor: user, now })),
    );
    expect(removed.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await listPasskeys(database.sql, user)).toHaveLength(1);
  });
});

describe('a step of a sign-in', () => {
  let time = now.getTime();
  const steps = () => new SignInSteps(database.sql, testBox, () => new Date(time));

  test('is read by every instance, for ten minutes, and completed once', async () => {
    const text = steps().begin('passkey', { challenge: 'abc' });
    expect(steps().read('passkey', text)).toEqual({ challenge: 'abc' });
    expect((await Promise.all([1, 2, 3].map(() => steps().complete(text)))).filter(Boolean)).toHaveLength(1);
    time += 601_000;
    expect(steps().read('passkey', text)).toBeUndefined();
  });

  test('cannot be read, changed, or used for another step', () => {
    const text = steps().begin('passkey', { challenge: 'abc' });
    expect(Buffer.from(text, 'base64url').toString()).not.toContain('abc');
    expect(steps().read('registration', text)).toBeUndefined();
    expect(steps().read('passkey', `${text.slice(0, -2)}AA`)).toBeUndefined();
    expect(steps().begin('passkey', { challenge: 'abc' }), 'no two are equal').not.toBe(text);
  });
});
