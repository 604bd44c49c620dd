import { describe, expect, test } from 'vitest';
import { askedPatience, waitAfter } from '../../src/webhooks/schedule.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const steps = [5 * second, 5 * minute, 30 * minute, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour)];

describe('the wait after a failure', () => {
  test.each(steps.map((step, i) => [i + 1, step] as const))(
    'number %i is %i ms, give or take a fifth',
    (tries, step) => {
      expect(waitAfter(tries, 0, () => 0)).toBe(step * 0.8);
      expect(waitAfter(tries, 0, () => 0.5)).toBe(step);
      expect(waitAfter(tries, 0, () => 1)).toBe(step * 1.2);
    },
  );

  test('the tenth failure is the last', () => {
    expect(waitAfter(10)).toBeUndefined();
  });

  test('a receiver may ask for more, up to twice the step, and never for less', () => {
    const asked = (ms: number) => waitAfter(2, ms, () => 0.5);
    expect(asked(8 * minute)).toBe(8 * minute);
    expect(asked(3 * hour)).toBe(10 * minute);
    expect(asked(second)).toBe(5 * minute);
  });
});

describe('Retry-After', () => {
  const now = new Date('2026-03-01T12:00:00.000Z');
  test.each([
    [null, 0],
    ['120', 120 * second],
    [' 5 ', 5 * second],
    ['Sun, 01 Mar 2026 12:01:00 GMT', minute],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['-5', 0],
    ['soon', 0],
    ['', 0],
  ])('%s means %i ms', (header, ms) => expect(askedPatience(header, now)).toBe(ms));
});
