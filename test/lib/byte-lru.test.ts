import { expect, test } from 'vitest';
import { ByteLru } from '../../src/lib/byte-lru.ts';

const value = (bytes: number) => new Uint8Array(bytes);

test('keeps the values used last, within its size', () => {
  const cache = new ByteLru<Uint8Array>(4_000);
  for (const key of ['a', 'b', 'c']) cache.set(key, value(1_000));
  cache.get('a');
  cache.set('d', value(1_000));
  expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true, true]);
  expect(cache.bytes).toBeLessThanOrEqual(4_000);
});

test('counts a replaced value once, and stores none that is larger than the cache', () => {
  const cache = new ByteLru<Uint8Array>(4_000);
  cache.set('a', value(1_000));
  const { bytes } = cache;
  cache.set('a', value(1_000));
  expect(cache.bytes).toBe(bytes);
  cache.set('b', value(5_000));
  expect([cache.get('a')?.length, cache.get('b')]).toEqual([1_000, undefined]);
});
