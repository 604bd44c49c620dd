/** A bounded memory of what was used lately. */
export interface Lru<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

/**
 * Keeps at least the `limit` entries used last and at most twice as many. Two maps take turns instead of a linked list:
 * when the young one is full it becomes the old one, and the old one is dropped, so that a hit costs one look-up.
 */
export function lru<K, V>(limit: number): Lru<K, V> {
  let young = new Map<K, V>();
  let old = new Map<K, V>();

  function set(key: K, value: V): void {
    if (young.size >= limit && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }

  function get(key: K): V | undefined {
    const fresh = young.get(key);
    if (fresh !== undefined) return fresh;
    const stale = old.get(key);
    if (stale !== undefined) set(key, stale);
    return stale;
  }

  return { get, set };
}
