import type { Lru } from './lru.ts';

/**
 * Returns the cached load of `key`, or starts one. Pending and successful loads are shared; a failed one is loaded again by
 * the next caller.
 *
 * @example
 * const image = await loadOnce(images, id, () => readImage(sql, id));
 */
export function loadOnce<T>(cache: Lru<string, Promise<T>>, key: string, load: () => Promise<T>): Promise<T> {
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const loading = load();
  cache.set(key, loading);
  loading.catch(() => cache.delete(key));
  return loading;
}
