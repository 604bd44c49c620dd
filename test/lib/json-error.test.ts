import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonError } from '../../src/lib/json-error.ts';

describe('findJsonError', () => {
  test.each([
    ['', 1, 1, 'expected a value, found the end of the text'],
    ['{"name": "Menu", "destination_url"', 1, 35, 'expected ":", found the end of the text'],
    ['{\n  "name": "Menu",\n}', 3, 1, "expected a name in double quotes, found '}'"],
    ['[1, 2,]', 1, 7, "expected a value, found ']'"],
    ["{'name': 1}", 1, 2, `expected a name in double quotes or "}", found '''`],
    ['{}{}', 1, 3, "expected the end of the text, found '{'"],
    ['name=Menu', 1, 1, "expected a value, found 'n'"],
    ['{"name": NaN}', 1, 10, "expected a value, found 'N'"],
    ['{"a": 1 "b": 2}', 1, 9, `expected "," or "}", found '"'`],
    ['[1 2]', 1, 4, `expected "," or "]", found '2'`],
    ['[01]', 1, 3, `expected "," or "]", found '1'`],
    ['{"name": "Me\nnu"}', 1, 13, 'a line break in a string must be escaped'],
    ['"\u0001"', 1, 2, 'U+0001 in a string must be escaped'],
    ['{"a": "\\x"}', 1, 8, 'unknown escape sequence in a string'],
    ['["\\u12"]', 1, 3, 'unknown escape sequence in a string'],
    ['{"a":\r\n "b}', 2, 2, 'the string that begins here is not closed'],
    ['["🍋🍋", x]', 1, 8, "expected a value, found 'x'"],
    ['[1,\u00a02]', 1, 4, 'expected a value, found U+00A0'],
  ])('%j: line %i, column %i: %s', (text, line, column, problem) => {
    expect(findJsonError(text)).toEqual({ line, column, problem });
  });

  test('finds the end of half a million brackets', () => {
    expect(findJsonError('['.repeat(500_000))).toMatchObject({ line: 1, column: 500_001 });
  });

  test('agrees with JSON.parse about any text', () => {
    const isRefused = (text: string) => {
      try {
        JSON.parse(text);
        return false;
      } catch {
        return true;
      }
    };
    /** JSON with a few characters removed, repeated or replaced. */
    const damaged = fc
      .tuple(
        fc.json(),
        fc.array(fc.tuple(fc.nat(), fc.constantFrom('', '"', '\\', ',', ']', '}', '{', '1', '\n', 'e'))),
      )
      .map(([json, edits]) =>
        edits.slice(0, 3).reduce((text, [place, insert]) => {
          const at = place % (text.length + 1);
          return text.slice(0, at) + insert + text.slice(at + 1);
        }, json),
      );
    fc.assert(
      fc.property(fc.oneof(damaged, fc.json(), fc.string()), (text) => {
        expect(findJsonError(text) !== undefined, text).toBe(isRefused(text));
      }),
      { numRuns: 2_000 },
    );
  });
});
