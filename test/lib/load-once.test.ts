import { describe, expect, it } from 'vitest';
import { loadOnce } from '../../src/lib/load-once.ts';
import { lru } from '../../src/lib/lru.ts';

describe('loadOnce', () => {
  it('shares a pending load and keeps its result', async () => {
    const cache = lru<string, Promise<number>>(2);
    const gate = Promise.withResolvers<number>();
    let loads = 0;
    const load = () => {
      loads++;
      return gate.promise;
    };
    const both = [loadOnce(cache, 'a', load), loadOnce(cache, 'a', load)];
    gate.resolve(7);
    expect(await Promise.all(both)).toEqual([7, 7]);
    expect(await loadOnce(cache, 'a', load)).toBe(7);
    expect(loads).toBe(1);
  });

  it('loads again what failed, also if other keys were loaded meanwhile', async () => {
    const cache = lru<string, Promise<string>>(2);
    const failing = Promise.withResolvers<string>();
    const first = loadOnce(cache, 'a', () => failing.promise);
    // Fills the young generation, so that the pending load is in the old one when it fails.
    for (const key of ['b', 'c']) await loadOnce(cache, key, async () => key);
    failing.reject(new Error('the archive is unavailable'));
    await expect(first).rejects.toThrow('unavailable');
    expect(await loadOnce(cache, 'a', async () => 'available again')).toBe('available again');
  });
});
