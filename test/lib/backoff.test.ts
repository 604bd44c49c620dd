import { expect, test } from 'vitest';
import { backoff } from '../../src/lib/backoff.ts';

const options = { firstMs: 100, maxMs: 500, resetAfterMs: 1_000 };

test('doubles the pause from firstMs to maxMs', () => {
  const { nextMs } = backoff(options);
  expect([0, 0, 0, 0, 0].map(nextMs)).toEqual([100, 200, 400, 500, 500]);
});

test('begins with firstMs again after an attempt longer than resetAfterMs', () => {
  const { nextMs } = backoff(options);
  expect([0, 0, 1_000, 1_001, 0].map(nextMs)).toEqual([100, 200, 400, 100, 200]);
});
