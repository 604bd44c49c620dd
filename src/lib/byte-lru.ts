/** The approximate overhead of an entry, so that tiny values count too. */
const entryOverheadBytes = 256;

/**
 * A cache of the values used most recently, with at most `maxBytes` of values, keys and overhead.
 *
 * @example
 * const images = new ByteLru<Uint8Array>(64 * 1024 * 1024);
 * images.set('menu 512', png);
 */
export class ByteLru<V extends { readonly byteLength: number }> {
  readonly #maxBytes: number;
  // A Map iterates in insertion order, so the first entry is the least recently used.
  readonly #entries = new Map<string, V>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Drops the values used longest ago to make room; does not store a value that is larger than the cache. */
  set(key: string, value: V): void {
    this.#delete(key);
    const cost = costOf(key, value);
    if (cost > this.#maxBytes) return;
    this.#entries.set(key, value);
    this.#bytes += cost;
    for (const oldKey of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#delete(oldKey);
    }
  }

  #delete(key: string): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= costOf(key, value);
  }
}

const costOf = (key: string, value: { readonly byteLength: number }) =>
  value.byteLength + key.length + entryOverheadBytes;
