import { describe, expect, test } from 'vitest';
import { gathered } from '../../src/lib/gathered.ts';
import { eventually } from '../support/eventually.ts';

/** Rounds that end when the test says so. */
function rounds(patienceMs = 60_000) {
  const asked: { questions: number[]; answer(): void; fail(): void }[] = [];
  const ask = gathered(
    (questions: number[]) =>
      new Promise<number[]>((resolve, reject) => {
        const answer = () => resolve(questions.map((question) => question * 10));
        asked.push({ questions, answer, fail: () => reject(new Error('no')) });
      }),
    { most: 3, patienceMs },
  );
  return { ask, asked };
}
const soon = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('questions asked together', () => {
  test('those of one moment are one round, and each gets its own answer', async () => {
    const { ask, asked } = rounds();
    const answers = Promise.all([ask(1), ask(2)]);
    await soon();
    expect(asked.map(({ questions }) => questions)).toEqual([[1, 2]]);
    asked[0]?.answer();
    expect(await answers).toEqual([10, 20]);
  });

  test('those that come during a round wait for the next, of so many at the most', async () => {
    const { ask, asked } = rounds();
    const first = ask(1);
    await soon();
    const later = Promise.all([2, 3, 4, 5].map(ask));
    await soon();
    expect(asked).toHaveLength(1);
    asked[0]?.answer();
    expect(await first).toBe(10);
    await soon();
    expect(asked[1]?.questions).toEqual([2, 3, 4]);
    asked[1]?.answer();
    await soon();
    asked[2]?.answer();
    expect(await later).toEqual([20, 30, 40, 50]);
  });

  test('a round that never ends does not hold up the next', async () => {
    const { ask, asked } = rounds(5);
    const stuck = ask(1);
    await soon();
    const next = ask(2);
    await eventually(() => expect(asked).toHaveLength(2));
    asked[1]?.answer();
    expect(await next).toBe(20);
    asked[0]?.answer();
    expect(await stuck).toBe(10);
  });

  test('a round that fails fails those in it, and nobody after it', async () => {
    const { ask, asked } = rounds();
    const failing = ask(1).catch((error: Error) => error.message);
    await soon();
    asked[0]?.fail();
    expect(await failing).toBe('no');
    const next = ask(2);
    await soon();
    asked[1]?.answer();
    expect(await next).toBe(20);
  });
});
