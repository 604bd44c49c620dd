import { describe, expect, it } from 'vitest';
import { lru } from '../../src/lib/lru.ts';

describe('lru', () => {
  it('keeps all entries up to its limit', () => {
    const cache = lru<number, string>(3);
    for (const n of [1, 2, 3]) cache.set(n, `value ${n}`);
    expect([1, 2, 3].map(cache.get)).toEqual(['value 1', 'value 2', 'value 3']);
    expect(cache.get(4)).toBeUndefined();
  });

  it('keeps entries in use and evicts the others', () => {
    const cache = lru<number, string>(10);
    cache.set(-1, 'popular');
    for (let n = 0; n < 1000; n++) {
      cache.set(n, 'seen once');
      expect(cache.get(-1), `after ${n} others`).toBe('popular');
    }
    const kept = Array.from({ length: 1000 }, (_, n) => n).filter((n) => cache.get(n) !== undefined);
    expect(kept.length).toBeLessThan(20);
  });

  it('deletes an entry wherever it is', () => {
    const cache = lru<number, string>(2);
    for (const n of [1, 2, 3]) cache.set(n, `value ${n}`);
    for (const n of [1, 2, 3]) cache.delete(n);
    expect([1, 2, 3].map(cache.get)).toEqual([undefined, undefined, undefined]);
  });

  it('replaces the value of a key', () => {
    const cache = lru<string, number>(2);
    cache.set('a', 1);
    cache.set('b', 1);
    cache.set('c', 1);
    cache.set('a', 2);
    expect(cache.get('a')).toBe(2);
  });
});
