/** A bounded cache of the entries used most recently. */
export interface Lru<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
}

/**
 * Keeps at least the `limit` entries used last, and at most twice as many. Uses two generations instead of a linked list,
 * so a hit usually costs one lookup: when the young map is full, it replaces the old one.
 *
 * @example
 * const devices = lru<string, Device>(8_192);
 * devices.set(userAgent, classify(userAgent));
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

  function remove(key: K): void {
    young.delete(key);
    old.delete(key);
  }

  return { get, set, delete: remove };
}
