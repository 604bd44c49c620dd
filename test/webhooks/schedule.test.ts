import { describe, expect, test } from 'vitest';
import { retryAfterMs, retryDelayMs } from '../../src/webhooks/schedule.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const steps = [5 * second, 5 * minute, 30 * minute, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour)];

describe('the delay after a failed attempt', () => {
  test.each(steps.map((step, i) => [i + 1, step] as const))('number %i is %i ms ± 20 %', (tries, step) => {
    expect(retryDelayMs(tries, 0, () => 0)).toBe(step * 0.8);
    expect(retryDelayMs(tries, 0, () => 0.5)).toBe(step);
    expect(retryDelayMs(tries, 0, () => 1)).toBe(step * 1.2);
  });

  test('there is no retry after the tenth attempt', () => {
    expect(retryDelayMs(10)).toBeUndefined();
  });

  test('Retry-After can extend the delay up to twice, and never shorten it', () => {
    const requested = (ms: number) => retryDelayMs(2, ms, () => 0.5);
    expect(requested(8 * minute)).toBe(8 * minute);
    expect(requested(3 * hour)).toBe(10 * minute);
    expect(requested(second)).toBe(5 * minute);
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
  ])('%s means %i ms', (header, ms) => expect(retryAfterMs(header, now)).toBe(ms));
});
