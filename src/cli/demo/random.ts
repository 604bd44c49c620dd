/** Returns a number in [0, 1). */
export type Random = () => number;

/** The same numbers for the same seed (mulberry32), so that every demo looks the same. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Picks an entry with a probability proportional to its first element. */
export function pick<T extends readonly [number, ...unknown[]]>(entries: readonly T[], random: Random): T {
  let left = random() * entries.reduce((sum, [share]) => sum + share, 0);
  for (const entry of entries) {
    left -= entry[0];
    if (left < 0) return entry;
  }
  return entries.at(-1) as T;
}
