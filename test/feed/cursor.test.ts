import { describe, expect, test } from 'vitest';
import { Cursors } from '../../src/feed/cursor.ts';
import { sealerKeys } from '../../src/lib/sealed-text.ts';
import type { Branch } from '../../src/log/cursor-source.ts';

const cursorsOf = (key: Buffer, branch: number, branches: Branch[]) =>
  new Cursors({ keys: sealerKeys(key, 'cursor'), branch, branches });

const key = Buffer.alloc(32, 7);
const owner = { account: 'acct_1', mode: 'live' } as const;
const cursors = cursorsOf(key, 0, []);

describe('a cursor', () => {
  test('is the position, on every instance', () => {
    for (const position of [0, 1, 65_536, 400_000_000, 2 ** 47])
      expect(cursorsOf(key, 0, []).open(owner, cursors.seal(owner, position))).toBe(position);
  });

  test('does not show the position: neighbors have nothing in common', () => {
    const [a, b] = [cursors.seal(owner, 1_000), cursors.seal(owner, 1_001)].map((text) =>
      Buffer.from(text, 'base64url'),
    );
    const same = [...(a ?? [])].filter((byte, i) => i > 0 && byte === b?.[i]).length;
    expect(same).toBeLessThan(5);
  });

  test.each([
    ['another account', cursors.seal({ account: 'acct_2', mode: 'live' }, 5)],
    ['the other mode', cursors.seal({ account: 'acct_1', mode: 'test' }, 5)],
    ['another service', cursorsOf(Buffer.alloc(32, 8), 0, []).seal(owner, 5)],
    ['a cut one', cursors.seal(owner, 5).slice(1)],
    ['no cursor', '5'],
  ])('of %s is refused', (_, cursor) => expect(cursors.open(owner, cursor)).toBeUndefined());

  test('with one changed bit anywhere is refused', () => {
    const bytes = Buffer.from(cursors.seal(owner, 123_456), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const forged = Buffer.from(bytes);
      forged[bit >> 3] = (forged[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(cursors.open(owner, forged.toString('base64url'))).toBeUndefined();
    }
  });

  test('from before a restore continues where the logs part, if it was ahead of that', () => {
    // The log was restored as it was at 300, and later that log as it was at 400.
    const restored = cursorsOf(key, 22, [
      { branch: 11, after: 300 },
      { branch: 22, after: 400 },
    ]);
    const first = cursorsOf(key, 11, [{ branch: 11, after: 300 }]);
    expect(restored.open(owner, cursors.seal(owner, 250))).toBe(250);
    expect(restored.open(owner, cursors.seal(owner, 350))).toBe(300);
    expect(restored.open(owner, first.seal(owner, 350))).toBe(350);
    expect(restored.open(owner, first.seal(owner, 500))).toBe(400);
    expect(restored.open(owner, restored.seal(owner, 500))).toBe(500);
    // A log that this one does not know, because it was restored from the same backup elsewhere.
    expect(restored.open(owner, cursorsOf(key, 33, []).seal(owner, 500))).toBe(300);
  });
});
