import { describe, expect, test } from 'vitest';
import { changeText, previousScans } from '../../src/console/app/analytics/comparison.ts';
import { marksOf } from '../../src/console/app/analytics/marks.ts';
import {
  chartComparison,
  intervalOf,
  isSoFar,
  periodBeforeLabel,
  periodLabel,
  periodOf,
} from '../../src/console/app/analytics/period.ts';
import { ignoredParameters } from '../../src/console/app/parameters.ts';

const now = Date.parse('2026-11-15T12:34:56Z');

describe('periodOf', () => {
  test.each([
    ['7d', '2026-11-09', 'day', 'Last 7 days', 'the 7 days before'],
    ['30d', '2026-10-17', 'day', 'Last 30 days', 'the 30 days before'],
    ['90d', '2026-08-18', 'day', 'Last 90 days', 'the 90 days before'],
    ['12m', '2025-11-16', 'week', 'Last 12 months', 'the 12 months before'],
  ] as const)(
    '%s covers the days up to now, and has a suitable interval and words',
    (name, start_date, interval, label, before) => {
      const period = periodOf(name, null, null, 'UTC', now);
      expect(period).toEqual({ start_date, end_date: undefined });
      expect(intervalOf(period, now)).toBe(interval);
      expect(periodLabel(name, period)).toBe(label);
      expect(periodBeforeLabel(name, period, now)).toBe(before);
    },
  );

  test.each([
    ['today', '2026-11-15', undefined, 'the day before'],
    ['yesterday', '2026-11-14', '2026-11-14', 'the day before'],
    ['week', '2026-11-09', undefined, 'the 7 days before'],
    ['last-week', '2026-11-02', '2026-11-08', 'the 7 days before'],
    ['month', '2026-11-01', undefined, 'the 15 days before'],
    ['last-month', '2026-10-01', '2026-10-31', 'the 31 days before'],
    ['year', '2026-01-01', undefined, 'the 319 days before'],
  ] as const)('%s is a period of the calendar', (name, start_date, end_date, before) => {
    const period = periodOf(name, null, null, 'UTC', now);
    expect(period).toEqual({ start_date, end_date });
    expect(periodBeforeLabel(name, period, now)).toBe(before);
  });

  test('days begin and end in the time zone', () => {
    expect(periodOf('7d', null, null, 'Pacific/Auckland', now).start_date).toBe('2026-11-10');
    expect(periodOf('custom', '2026-11-01', '2026-11-16', 'Pacific/Auckland', now).end_date).toBeUndefined();
  });

  test('24h covers 24 whole hours up to the current one', () => {
    const period = periodOf('24h', null, null, 'UTC', now);
    expect(period).toEqual({ start_date: '2026-11-14T13:00:00.000Z', end_date: undefined });
    expect(intervalOf(period, now)).toBe('hour');
    expect(periodOf('24h', null, null, 'Asia/Kolkata', now).start_date, 'an hour there').toBe(
      '2026-11-14T13:30:00.000Z',
    );
  });

  test('a custom period is kept as given, and never ends before it starts', () => {
    expect(periodOf('custom', '2026-01-01', '2026-12-31', 'UTC', now)).toEqual({
      start_date: '2026-01-01',
      end_date: '2026-12-31',
    });
    expect(periodOf('custom', '2026-02-01', '2026-01-01', 'UTC', now)).toEqual({
      start_date: '2026-02-01',
      end_date: '2026-02-01',
    });
    const march = periodOf('custom', '2026-03-01', '2026-03-31', 'UTC', now);
    expect(periodLabel('custom', march)).toBe('1 Mar 2026 – 31 Mar 2026');
    expect(periodBeforeLabel('custom', march, now)).toBe('the 31 days before');
    expect(periodOf('custom', '2026-11-01', '2026-11-15', 'UTC', now), 'up to now, if it ends today').toEqual({
      start_date: '2026-11-01',
      end_date: undefined,
    });
    expect(intervalOf(periodOf('custom', '2023-01-01', '2026-01-01', 'UTC', now), now)).toBe('month');
  });
});

describe('the chart', () => {
  test.each([
    ['24h', 'previous', 'the 24 hours before'],
    ['7d', 'previous_weeks', 'the week before'],
    ['30d', 'previous_weeks', 'the same weekdays 5 weeks before'],
    ['12m', 'previous', 'the 12 months before'],
  ] as const)('of %s is compared with %s: %s', (name, compare, before) => {
    const period = periodOf(name, null, null, 'UTC', now);
    expect(chartComparison(name, period, intervalOf(period, now), now)).toEqual({ compare, before });
  });
});

describe('a comparison with the period before', () => {
  test.each([
    [109, 100, '9% more than the 30 days before'],
    [91, 100, '9% less than the 30 days before'],
    [300, 100, '200% more than the 30 days before'],
    [100, 100, 'the same as in the 30 days before'],
    [5, 0, 'none in the 30 days before'],
    [0, 5, '100% less than the 30 days before'],
  ])('of %d with %d is in words', (figure, previous, text) => {
    expect(changeText(figure, previous, 'the 30 days before')).toBe(text);
  });

  test('aligns the buckets of both periods at the end, without one that the period before starts within', () => {
    const bucketsOf = (dates: string[]) => dates.map((date, i) => ({ date, total_scans: i + 1, unique_visitors: 0 }));
    const data = bucketsOf(['2026-03-03', '2026-03-04', '2026-03-05']);
    const previous = (start: string, dates: string[]) => ({ period: { start, end: '' }, data: bucketsOf(dates) });
    const line = (start: string, dates: string[], timezone = 'UTC') =>
      previousScans({ interval: 'day', data, previous: previous(start, dates) }, timezone);
    const three = ['2026-02-28', '2026-03-01', '2026-03-02'];
    expect(line('2026-02-28T00:00:00.000Z', three)).toEqual([1, 2, 3]);
    expect(line('2026-02-28T10:00:00.000Z', three)).toEqual([undefined, 2, 3]);
    expect(line('2026-02-28T05:00:00.000Z', three, 'America/New_York'), 'midnight there').toEqual([1, 2, 3]);
    expect(line('2026-02-27T10:00:00.000Z', ['2026-02-27', ...three])).toEqual([2, 3, 4]);
    expect(previousScans({ interval: 'day', data }, 'UTC')).toEqual([undefined, undefined, undefined]);
  });
});

test.each([
  ['hour', '2026-11-15T12:00:00Z', true],
  ['hour', '2026-11-15T11:00:00Z', false],
  ['day', '2026-11-15', false],
  ['day', '2026-11-16', true],
  ['week', '2026-11-09', false],
  ['week', '2026-11-16', true],
  ['month', '2026-11', true],
  ['month', '2026-10', false],
] as const)('the %s %s is not over in Auckland: %s', (interval, date, expected) => {
  expect(isSoFar(date, interval, 'Pacific/Auckland', now)).toBe(expected);
});

describe('marksOf', () => {
  const series = (interval: 'hour' | 'day' | 'month', dates: string[]) => ({
    interval,
    data: dates.map((date) => ({ date, total_scans: 0, unique_visitors: 0 })),
  });
  const marks = (of: ReturnType<typeof series>, ...times: string[]) =>
    marksOf(
      times.map((at) => ({ at, text: at })),
      of,
      'Asia/Kolkata',
    ).map(({ index, texts }) => [index, ...texts]);

  test('finds the bucket of a time in the time zone, and leaves out what is outside of the period', () => {
    const late = '2026-03-01T18:31:00.000Z';
    const early = '2026-03-01T18:29:00.000Z';
    const days = series('day', ['2026-03-01', '2026-03-02']);
    expect(marks(days, late, early, '2026-02-28T18:00:00.000Z', '2026-03-02T18:30:00.000Z')).toEqual([
      [0, early],
      [1, late],
    ]);
    const hours = series('hour', ['2026-03-01T23:00:00+05:30', '2026-03-02T00:00:00+05:30']);
    expect(marks(hours, late, early)).toEqual([
      [0, early],
      [1, late],
    ]);
    expect(marks(series('month', ['2026-02', '2026-03']), late, early, '2026-04-02T00:00:00.000Z')).toEqual([
      [1, early, late],
    ]);
    expect(marks(series('day', []), late)).toEqual([]);
  });
});

test('ignored parameters of a URL are those that its page does not read', () => {
  const unknown = (path: string, query: string) =>
    ignoredParameters(path, new URLSearchParams(query)).map(({ name }) => name);
  expect(unknown('/', 'q=a&sort=name&page=2&bots=include')).toEqual([]);
  expect(unknown('/', 'Status=paused&statuss=x&statuss=y')).toEqual(['Status', 'statuss']);
  expect(unknown('/analytics', 'codes=qr_1&tags=a&period=7d&country=DE')).toEqual([]);
  expect(unknown('/codes/qr_1', 'tab=scans&codes=qr_2')).toEqual(['codes']);
  expect(unknown('/live', 'period=7d')).toEqual(['period']);
  expect(unknown('/codes/new', 'kind=static&from=qr_1')).toEqual([]);
});

test.each([
  ['/', 'status=gone&sort=size&page=abc&limit=7&bots=maybe', ['status', 'sort', 'page', 'limit', 'bots']],
  ['/', 'status=&sort=-name&page=2&limit=50&q=x&tag=y', []],
  ['/analytics', 'period=7x&interval=minute&tab=history&match=none', ['period', 'interval', 'tab', 'match']],
  ['/analytics', 'period=7d&from=2026-01-01', ['from']],
  ['/analytics', 'period=custom&from=2026-01-01&to=2026-02-01&interval=week&tab=scans&match=all&limit=250', []],
  ['/codes/qr_1', 'tab=history&page=2', []],
  ['/codes/new', 'kind=statik&from=1', ['kind', 'from']],
  ['/codes/import', 'from=bitly', ['from']],
])('values of %s?%s that have no effect are ignored parameters, too', (path, query, expected) => {
  const parameters = new URLSearchParams(query);
  expect(ignoredParameters(path, parameters)).toEqual(expected.map((name) => ({ name, value: parameters.get(name) })));
});
