import { expect, test } from 'vitest';
import { cutoffOf } from '../../src/maintenance/retention.ts';

test.each([
  [1, '2026-03-01T00:00:00Z', '2026-02-01T00:00:00.000Z'],
  [1, '2026-03-31T23:59:59Z', '2026-02-01T00:00:00.000Z'],
  [12, '2026-11-15T10:00:00Z', '2025-11-01T00:00:00.000Z'],
  [14, '2026-01-31T10:00:00Z', '2024-11-01T00:00:00.000Z'],
  [1_200, '2026-01-31T10:00:00Z', '1926-01-01T00:00:00.000Z'],
])('with a retention of %i months, the cutoff at %s is %s', (months, now, expected) => {
  expect(cutoffOf(months, new Date(now)).toISOString()).toBe(expected);
});
