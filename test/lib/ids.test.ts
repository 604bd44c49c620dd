import { describe, expect, test } from 'vitest';
import { type IdPrefix, isId, newId, newSecret, newShortCode } from '../../src/lib/ids.ts';
import { isReserved } from '../../src/lib/short-code.ts';

const now = Date.parse('2026-03-01T09:30:00.000Z');
const many = <T>(make: () => T, count = 20_000): T[] => Array.from({ length: count }, make);

/** How far the letters at one place are from being drawn evenly: chi-squared per degree of freedom, about 1 if even. */
function unevenness(texts: string[], place: number, alphabet: number): number {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text[place] as string, (counts.get(text[place] as string) ?? 0) + 1);
  const expected = texts.length / alphabet;
  const missing = alphabet - counts.size;
  const sum = [...counts.values()].reduce((total, count) => total + (count - expected) ** 2 / expected, 0);
  return (sum + missing * expected) / (alphabet - 1);
}

describe('an id', () => {
  test.each<IdPrefix>(['qr', 'scan', 'acct', 'key', 'whd'])('%s_ and at least 20 letters and digits', (prefix) => {
    expect(newId(prefix, now)).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{20,}$`));
    expect(isId(prefix, newId(prefix, now))).toBe(true);
  });

  test('sorts by time of creation, byte by byte', () => {
    const times = [0, 1, 61, 62, 3_843, 3_844, now - 1, now, now + 1, now + 1_000, Date.parse('2999-01-01')];
    const ids = times.map((time) => newId('qr', time));
    expect([...ids].sort()).toEqual(ids);
  });

  test('does not come twice, even within one millisecond', () => {
    const ids = many(() => newId('qr', now));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('has at least 60 random bits behind its time', () => {
    const tails = many(() => newId('qr', now).slice('qr_'.length + 8));
    const length = (tails[0] as string).length;
    expect(length * Math.log2(62)).toBeGreaterThanOrEqual(60);
    for (let place = 0; place < length; place++)
      expect(unevenness(tails, place, 62), `letters at place ${place}`).toBeLessThan(2);
  });

  test.each(['', 'qr_', 'qr_short', 'key_0VMNcq2hE3kx0dTtWq8LbY', `qr_${'a'.repeat(41)}`, 'qr_0VMNcq2hE3kx0dTtWq8Lb-'])(
    '%j is none of a code',
    (text) => {
      expect(isId('qr', text)).toBe(false);
    },
  );

  test('is none with a line break or NUL behind it', () => {
    expect(isId('qr', `${newId('qr', now)}\n`)).toBe(false);
    expect(isId('qr', `${newId('qr', now)}\0`)).toBe(false);
  });
});

describe('a generated short code', () => {
  test('has 7 base58 letters, none of which is mistaken for another', () => {
    for (const code of many(newShortCode, 2_000)) expect(code).toMatch(/^[1-9A-HJ-NP-Za-km-z]{7}$/);
  });

  test('is drawn evenly', () => {
    const codes = many(newShortCode);
    for (let place = 0; place < 7; place++) expect(unevenness(codes, place, 58), `place ${place}`).toBeLessThan(2);
  });

  test('could be a reserved word, which is why that is checked', () => {
    expect(isReserved('swagger'), 'seven letters of base58').toBe(true);
  });
});

test('a secret has at least 32 random bytes', () => {
  const secrets = many(newSecret, 5_000);
  expect((secrets[0] as string).length * Math.log2(62)).toBeGreaterThanOrEqual(256);
  expect(new Set(secrets).size).toBe(secrets.length);
  for (let place = 0; place < 43; place++) expect(unevenness(secrets, place, 62), `place ${place}`).toBeLessThan(2.5);
});
