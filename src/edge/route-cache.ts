/** Bounds the duration of one eviction when nearly all entries are in use. */
const maxSecondChances = 32;

interface Entry<V> {
  value: V;
  bytes: number;
  /** Looked up since it was inserted or last passed over for eviction. */
  used: boolean;
}

interface RouteCacheOptions<V> {
  maxEntries: number;
  /** Together with `bytesOf`; without them, values have a fixed size. */
  maxBytes?: number;
  /** About how much memory a value takes. */
  bytesOf?(value: V): number;
  onEvict?(value: V): void;
}

/** A bounded map with second-chance eviction: a lookup only sets a flag, which is cheaper than LRU reordering. */
export class RouteCache<V> {
  /** In the order of eviction. */
  readonly #entries = new Map<string, Entry<V>>();
  readonly #options: RouteCacheOptions<V>;
  #bytes = 0;

  constructor(options: RouteCacheOptions<V>) {
    this.#options = options;
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

  /** Keeps the value, whatever has to be removed for it. */
  set(key: string, value: V): void {
    const used = this.#entries.get(key)?.used ?? false;
    this.delete(key);
    const { maxEntries, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    const bytes = this.#options.bytesOf?.(value) ?? 0;
    while (this.#entries.size >= maxEntries || (this.#bytes + bytes > maxBytes && this.#entries.size > 0))
      this.#evict();
    this.#entries.set(key, { value, bytes, used });
    this.#bytes += bytes;
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
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
      this.#bytes -= entry.bytes;
      this.#options.onEvict?.(entry.value);
      return;
    }
  }
}
