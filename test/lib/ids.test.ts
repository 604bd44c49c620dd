import { describe, expect, test } from 'vitest';
import { isReserved } from '../../events/reserved-words.ts';
import { type IdPrefix, isId, newId, newSecret, newShortCode } from '../../src/lib/ids.ts';

const now = Date.parse('2026-03-01T09:30:00.000Z');
const many = <T>(make: () => T, count = 40_000): T[] => Array.from({ length: count }, make);

/** More than this has a probability of 10⁻¹³ for a uniform distribution; a modulo of a byte has 5. */
const maxUnevenness = 3;

/** Chi-squared per degree of freedom of the characters at one position: about 1 for a uniform distribution. */
function unevenness(texts: string[], position: number, alphabet: number): number {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text[position] as string, (counts.get(text[position] as string) ?? 0) + 1);
  const expected = texts.length / alphabet;
  const missing = alphabet - counts.size;
  const sum = [...counts.values()].reduce((total, count) => total + (count - expected) ** 2 / expected, 0);
  return (sum + missing * expected) / (alphabet - 1);
}

describe('an id', () => {
  test.each<IdPrefix>(['qr', 'scan', 'acct', 'key', 'whd'])(
    'has the prefix %s_ and at least 20 letters and digits',
    (prefix) => {
      expect(newId(prefix, now)).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{20,}$`));
      expect(isId(prefix, newId(prefix, now))).toBe(true);
    },
  );

  test('sorts by time of creation, byte by byte', () => {
    const times = [0, 1, 61, 62, 3_843, 3_844, now - 1, now, now + 1, now + 1_000, Date.parse('2999-01-01')];
    const ids = times.map((time) => newId('qr', time));
    expect([...ids].sort()).toEqual(ids);
  });

  test('is unique, even within one millisecond', () => {
    const ids = many(() => newId('qr', now));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('has at least 60 random bits after its time', () => {
    const tails = many(() => newId('qr', now).slice('qr_'.length + 8));
    const length = (tails[0] as string).length;
    expect(length * Math.log2(62)).toBeGreaterThanOrEqual(60);
    for (let position = 0; position < length; position++)
      expect(unevenness(tails, position, 62), `position ${position}`).toBeLessThan(maxUnevenness);
  });

  test.each(['', 'qr_', 'qr_short', 'key_0VMNcq2hE3kx0dTtWq8LbY', `qr_${'a'.repeat(41)}`, 'qr_0VMNcq2hE3kx0dTtWq8Lb-'])(
    '%j is not an id of a code',
    (text) => {
      expect(isId('qr', text)).toBe(false);
    },
  );

  test('is invalid with a trailing line break or NUL', () => {
    expect(isId('qr', `${newId('qr', now)}\n`)).toBe(false);
    expect(isId('qr', `${newId('qr', now)}\0`)).toBe(false);
  });
});

describe('a generated short code', () => {
  test('has 7 base58 characters', () => {
    for (const code of many(newShortCode, 2_000)) expect(code).toMatch(/^[1-9A-HJ-NP-Za-km-z]{7}$/);
  });

  test('is uniformly distributed', () => {
    const codes = many(newShortCode);
    for (let position = 0; position < 7; position++)
      expect(unevenness(codes, position, 58), `position ${position}`).toBeLessThan(maxUnevenness);
  });

  test('could be a reserved word, so callers must check it', () => {
    expect(isReserved('swagger'), 'seven base58 characters').toBe(true);
  });
});

test('a secret has at least 32 random bytes', () => {
  const secrets = many(newSecret, 5_000);
  expect((secrets[0] as string).length * Math.log2(62)).toBeGreaterThanOrEqual(256);
  expect(new Set(secrets).size).toBe(secrets.length);
  for (let position = 0; position < 43; position++)
    expect(unevenness(secrets, position, 62), `position ${position}`).toBeLessThan(maxUnevenness);
});
