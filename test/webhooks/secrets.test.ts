import { describe, expect, test } from 'vitest';
import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import { createSecretBox } from '../../src/lib/secret-box.ts';
import { isKeyOfDatabase } from '../../src/log/secret-key.ts';
import { newSigningSecret } from '../../src/webhooks/secrets.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();
const box = createSecretBox('a'.repeat(32));
const key: EndpointKey = { account: 'acct_1', webhook: 'live' };

describe('a signing secret', () => {
  test('has 256 random bits in the format of Standard Webhooks', () => {
    expect(newSigningSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newSigningSecret()).not.toBe(newSigningSecret());
  });

  test('is encrypted, and decrypts to itself', () => {
    const secret = newSigningSecret();
    const sealed = box.seal(secret, key);
    expect(box.open(sealed, key)).toBe(secret);
    expect(sealed).not.toContain(secret.slice(6, 20));
    expect(box.seal(secret, key), 'equal secrets have different ciphertexts').not.toBe(sealed);
  });

  test.each([
    ['for another account', (sealed: string) => box.open(sealed, { ...key, account: 'acct_2' })],
    ['for the other mode', (sealed: string) => box.open(sealed, { ...key, webhook: 'test' })],
    ['with another key', (sealed: string) => createSecretBox('b'.repeat(32)).open(sealed, key)],
    ['when changed', (sealed: string) => box.open(`${sealed.slice(0, -4)}AAAA`, key)],
    ['when truncated', (sealed: string) => box.open(sealed.slice(0, 20), key)],
  ])('cannot be decrypted %s', (_, open) => {
    expect(() => open(box.seal(newSigningSecret(), key))).toThrow();
  });
});

test('a database accepts only the key that it was first used with', async () => {
  expect(await isKeyOfDatabase(database.sql, box)).toBe(true);
  expect(await isKeyOfDatabase(database.sql, createSecretBox('b'.repeat(32)))).toBe(false);
  expect(await isKeyOfDatabase(database.sql, createSecretBox('a'.repeat(32)))).toBe(true);
});
