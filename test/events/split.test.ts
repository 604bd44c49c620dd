import { describe, expect, test } from 'vitest';
import { chooseVariant, splitSeed } from '../../events/targeting/split.ts';

const visitors = 200_000;

/** A generator of numbers that repeats, with well distributed bits (SplitMix32). */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    yield (mixed ^ (mixed >>> 15)) >>> 0;
  }
}

const hex = (number = 0) => number.toString(16).padStart(8, '0');
const hashes = (() => {
  const source = numbers(7);
  const next = () => source.next().value as number;
  return Array.from({ length: visitors }, () => hex(next()) + hex(next()) + hex(next()) + hex(next()));
})();

const seedsOf = (rule: string, weights: number[]) => weights.map((weight, i) => splitSeed(rule, `v${i}`, weight));

const choices = (rule: string, weights: number[]): Uint8Array => {
  const seeds = seedsOf(rule, weights);
  return Uint8Array.from(hashes, (visitor) => chooseVariant(visitor, seeds));
};

const countOf = (chosen: Uint8Array, variant: number) => chosen.filter((each) => each === variant).length;

/** 5 standard deviations: by chance, one run in a million is outside. */
const tolerance = (share: number) => 5 * Math.sqrt(visitors * share * (1 - share));

describe('a split over 200,000 visitors', () => {
  const even = choices('r1', [1, 1]);

  test.each([{ weights: [1, 1] }, { weights: [900, 90, 10] }, { weights: [1, 2, 3, 4] }])(
    'shares are within what chance allows: $weights',
    ({ weights }) => {
      const chosen = choices('r1', weights);
      const sum = weights.reduce((total, weight) => total + weight, 0);
      for (const [i, weight] of weights.entries()) {
        const share = weight / sum;
        expect(Math.abs(countOf(chosen, i) - visitors * share), `variant ${i}`).toBeLessThan(tolerance(share));
      }
    },
  );

  test('a visitor always gets the same variant, and weights of equal ratio give the same', () => {
    expect(Buffer.compare(choices('r1', [500, 500]), even)).toBe(0);
  });

  test('other weights move as few visitors as possible, and only to variants that grow', () => {
    const after = choices('r1', [1, 3]);
    let moved = 0;
    for (let i = 0; i < visitors; i++) {
      if (even[i] === after[i]) continue;
      moved++;
      if (after[i] !== 1) throw new Error('a visitor moved to a variant whose share shrinks');
    }
    // From half to three quarters: a quarter must move.
    expect(Math.abs(moved - visitors / 4)).toBeLessThan(tolerance(0.25));
  });

  test('a new variant takes its share from the others, which keep the rest', () => {
    const after = choices('r1', [1, 1, 1]);
    for (let i = 0; i < visitors; i++)
      if (after[i] !== 2 && after[i] !== even[i]) throw new Error('a visitor moved between variants that stayed');
    expect(Math.abs(countOf(after, 2) - visitors / 3)).toBeLessThan(tolerance(1 / 3));
  });

  test('two rules split independently', () => {
    const other = choices('r2', [1, 1]);
    const both = even.filter((each, i) => each === 0 && other[i] === 0).length;
    expect(Math.abs(both - visitors / 4)).toBeLessThan(tolerance(0.25));
  });
});

test('the choice is a fixed function: a change of it would move visitors', () => {
  const seeds = seedsOf('r7dKm2VbNcXz', [1, 2, 3]);
  const first = hashes.slice(0, 24).map((visitor) => chooseVariant(visitor, seeds));
  expect(first.join('')).toBe('212201222222200002001022');
});
