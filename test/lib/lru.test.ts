import { describe, expect, it } from 'vitest';
import { lru } from '../../src/lib/lru.ts';

describe('a bounded memory', () => {
  it('given no more entries than its limit, keeps them all', () => {
    const memory = lru<number, string>(3);
    for (const n of [1, 2, 3]) memory.set(n, `value ${n}`);
    expect([1, 2, 3].map(memory.get)).toEqual(['value 1', 'value 2', 'value 3']);
    expect(memory.get(4)).toBeUndefined();
  });

  it('given many more, keeps what is used again and again and forgets the rest', () => {
    const memory = lru<number, string>(10);
    memory.set(-1, 'popular');
    for (let n = 0; n < 1000; n++) {
      memory.set(n, 'seen once');
      expect(memory.get(-1), `after ${n} others`).toBe('popular');
    }
    const kept = Array.from({ length: 1000 }, (_, n) => n).filter((n) => memory.get(n) !== undefined);
    expect(kept.length).toBeLessThan(20);
  });

  it('given the same key again, has the new value', () => {
    const memory = lru<string, number>(2);
    memory.set('a', 1);
    memory.set('b', 1);
    memory.set('c', 1);
    memory.set('a', 2);
    expect(memory.get('a')).toBe(2);
  });
});
