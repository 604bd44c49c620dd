import { expect, test } from 'vitest';
import { dueAt, isTooLate, periodAfter, periodAt, periodBefore } from '../../events/report-periods.ts';

test('a week begins on Monday, in the time zone of the report', () => {
  const at = new Date('2026-11-15T23:30:00Z');
  expect(periodAt(at, 'week', 'UTC')).toEqual({ first: '2026-11-09', last: '2026-11-15' });
  expect(periodAt(at, 'week', 'Europe/Berlin')).toEqual({ first: '2026-11-16', last: '2026-11-22' });
  expect(periodAt(new Date('2026-03-01T02:00:00Z'), 'month', 'America/New_York')).toEqual({
    first: '2026-02-01',
    last: '2026-02-28',
  });
});

test('periods follow each other without a gap, over years and leap days', () => {
  for (const every of ['week', 'month'] as const) {
    let period = periodAt(new Date('2027-12-20T12:00:00Z'), every, 'UTC');
    for (let i = 0; i < 20; i++) {
      const next = periodAfter(period, every);
      expect(Date.parse(next.first) - Date.parse(period.last)).toBe(86_400_000);
      expect(periodBefore(next, every)).toEqual(period);
      period = next;
    }
  }
  expect(periodAfter({ last: '2028-01-31' }, 'month')).toEqual({ first: '2028-02-01', last: '2028-02-29' });
});

test('a report is due at 6 in the morning after its period, also when the clocks change that night', () => {
  expect(dueAt({ last: '2026-11-15' }, 'UTC').toISOString()).toBe('2026-11-16T06:00:00.000Z');
  expect(dueAt({ last: '2026-10-31' }, 'Asia/Kolkata').toISOString()).toBe('2026-11-01T00:30:00.000Z');
  // Clocks go back in New York on 1 November 2026, and forward in Berlin on 29 March.
  expect(dueAt({ last: '2026-10-31' }, 'America/New_York').toISOString()).toBe('2026-11-01T11:00:00.000Z');
  expect(dueAt({ last: '2026-03-28' }, 'Europe/Berlin').toISOString()).toBe('2026-03-29T04:00:00.000Z');
});

test('a period is mailed up to 31 days late', () => {
  const late = (iso: string) => isTooLate({ last: '2026-10-31' }, 'UTC', new Date(iso));
  expect([late('2026-11-01T06:00:00Z'), late('2026-12-02T05:59:59Z'), late('2026-12-02T06:00:01Z')]).toEqual([
    false,
    false,
    true,
  ]);
});
