/** Bounds the duration of one eviction when nearly all entries are in use. */
const maxSecondChances = 32;

interface Entry<V> {
  value: V;
  /** Looked up since it was inserted or last passed over for eviction. */
  used: boolean;
}

/** A bounded map with second-chance eviction: a lookup only sets a flag, which is cheaper than LRU reordering. */
export class RouteCache<V> {
  /** In the order of eviction. */
  readonly #entries = new Map<string, Entry<V>>();
  readonly #maxEntries: number;
  readonly #onEvict: (value: V) => void;

  constructor(maxEntries: number, onEvict: (value: V) => void) {
    this.#maxEntries = maxEntries;
    this.#onEvict = onEvict;
  }

  /** Counts as use. */
  use(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value;
  }

  /** Does not count as use. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: string, value: V): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      entry.value = value;
      return;
    }
    if (this.#entries.size >= this.#maxEntries) this.#evict();
    this.#entries.set(key, { value, used: false });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  *values(): Iterable<V> {
    for (const { value } of this.#entries.values()) yield value;
  }

  *entries(): Iterable<[string, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  /** Removes the oldest unused entry; used ones before it lose their flag and move to the end. */
  #evict(): void {
    let chances = 0;
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key);
      if (entry.used && chances++ < maxSecondChances) {
        entry.used = false;
        this.#entries.set(key, entry);
        continue;
      }
      this.#onEvict(entry.value);
      return;
    }
  }
}
