/**
 * Weighted rendezvous hashing: every visitor gives each variant a score, and takes the variant with the highest. The scores
 * of one variant do not depend on the others, so a change of weights moves only as many visitors as it must, and only to
 * variants whose share has grown.
 */

/** A variant of a split: the hash of its id and the rule's, and its weight. */
export interface SplitSeed {
  low: number;
  high: number;
  weight: number;
}

export const splitSeed = (rule: string, variant: string, weight: number): SplitSeed => ({
  ...hashOf(`${rule}/${variant}`),
  weight,
});

/** The index of the variant that a visitor takes. */
export function chooseVariant(visitor: string, seeds: readonly SplitSeed[]): number {
  const { low, high } = hashOf(visitor);
  let best = 0;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < seeds.length; i++) {
    const seed = seeds[i] as SplitSeed;
    const first = finalize(finalize(low ^ seed.low) + seed.high);
    const second = finalize(finalize(high ^ seed.high) + first);
    // Uniform in (0, 1): 53 bits, shifted by half a step, so that it is never 0.
    const uniform = ((second >>> 11) * 2 ** 32 + (first >>> 0) + 0.5) / 2 ** 53;
    const score = -seed.weight / Math.log(uniform);
    if (score > bestScore) {
      best = i;
      bestScore = score;
    }
  }
  return best;
}

/** 64 bits of a text: two multiplicative hashes. */
function hashOf(text: string): { low: number; high: number } {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    low = Math.imul(low ^ character, 2654435761);
    high = Math.imul(high ^ character, 1597334677);
  }
  return { low: finalize(low ^ high), high: finalize(high) };
}

/** The finalizer of MurmurHash3: every bit of the input changes every bit of the output with probability 1/2. */
function finalize(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
