import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isReserved, problemWithShortCode, reservedWords } from '../../events/reserved-words.ts';

describe('a short code', () => {
  test.each(['abc', 'A-1', 'a_b', '123', 'Spring-26', 'x'.repeat(50), 'a--b', 'a__b', 'V1x'])('may be %s', (code) => {
    expect(problemWithShortCode(code)).toBeUndefined();
  });

  test.each([
    '',
    'a',
    'ab',
    'x'.repeat(51),
    '-abc',
    'abc-',
    '_abc',
    'abc_',
    'a b',
    'a.b',
    'a/b',
    'a%20b',
    'café',
    'abc\n',
    '\nabc',
    'abc\u0000',
    'ａｂｃ',
  ])('must not be %j', (code) => {
    expect(problemWithShortCode(code)).toMatch(/^must have 3 to 50 letters, digits/);
  });

  test.each(['swagger', 'healthz', 'readyz', 'console', 'images', 'Swagger', 'HEALTHZ'])(
    'must not be %s, which the service itself serves',
    (code) => {
      expect(problemWithShortCode(code)).toBe(`must not be "${code}": the service itself uses that word`);
    },
  );

  test('must not be a reserved word, in any case', () => {
    for (const word of reservedWords) {
      expect(isReserved(word.toUpperCase()), word).toBe(true);
      expect(problemWithShortCode(word), word).toBeDefined();
    }
  });

  test('is valid exactly if it has 3 to 50 allowed characters with alphanumeric ends and is not reserved', () => {
    const character = fc.constantFrom(...'abzABZ019-_. /é');
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 60 }), (code) => {
        const allowed = code.length >= 3 && code.length <= 50 && [...code].every((c) => /[A-Za-z0-9_-]/.test(c));
        const ends = /[A-Za-z0-9]/.test(code[0] ?? '') && /[A-Za-z0-9]/.test(code.at(-1) ?? '');
        expect(problemWithShortCode(code) === undefined).toBe(allowed && ends && !isReserved(code));
      }),
      { numRuns: 2_000 },
    );
  });
});
