import { describe, expect, test } from 'vitest';
import { intervalOf, periodOf } from '../../src/console/app/code/period.ts';

const now = Date.parse('2026-11-15T12:34:56Z');

describe('periodOf', () => {
  test.each([
    ['7d', '2026-11-09', '2026-11-15', 'day'],
    ['30d', '2026-10-17', '2026-11-15', 'day'],
    ['90d', '2026-08-18', '2026-11-15', 'day'],
    ['12m', '2025-11-16', '2026-11-15', 'week'],
  ] as const)(
    '%s covers whole days up to today and has a suitable interval',
    (name, start_date, end_date, interval) => {
      const period = periodOf(name, null, null, now);
      expect(period).toEqual({ start_date, end_date });
      expect(intervalOf(period, now)).toBe(interval);
    },
  );

  test('24h covers 24 whole hours up to the current one', () => {
    const period = periodOf('24h', null, null, now);
    expect(period).toEqual({ start_date: '2026-11-14T13:00:00.000Z', end_date: undefined });
    expect(intervalOf(period, now)).toBe('hour');
  });

  test('a custom period is kept as given, and never ends before it starts', () => {
    expect(periodOf('custom', '2026-01-01', '2026-12-31', now)).toEqual({
      start_date: '2026-01-01',
      end_date: '2026-12-31',
    });
    expect(periodOf('custom', '2026-02-01', '2026-01-01', now)).toEqual({
      start_date: '2026-02-01',
      end_date: '2026-02-01',
    });
    expect(intervalOf(periodOf('custom', '2023-01-01', '2026-01-01', now), now)).toBe('month');
  });
});
