import { describe, expect, test } from 'vitest';
import { offsetsOf, splitHours } from '../../../src/analytics/calendar.ts';
import type { Interval } from '../../../src/analytics/series.ts';
import { bucketsOf, countBuckets } from '../../../src/api/analytics/buckets.ts';
import { type Comparison, comparedPeriod, daysOf, periodOf, presentPeriod } from '../../../src/api/analytics/period.ts';
import { Refusal } from '../../../src/lib/errors.ts';

const now = new Date('2026-03-15T10:20:30.456Z');
const period = (start_date?: string, end_date?: string) =>
  presentPeriod(
    periodOf(
      { ...(start_date === undefined ? {} : { start_date }), ...(end_date === undefined ? {} : { end_date }) },
      now,
    ),
  );

/** The fields that the error names. */
function invalidFields(start_date?: string, end_date?: string): string[] {
  try {
    period(start_date, end_date);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'invalid_request')
      return (error.details ?? []).map(({ field }) => field);
    throw error;
  }
  return [];
}

describe('a period', () => {
  test.each<[string | undefined, string | undefined, string, string, string]>([
    [undefined, undefined, '2026-02-13T10:20:30.456Z', '2026-03-15T10:20:30.456Z', 'the last 30 days up to now'],
    ['2026-03-01', '2026-03-31', '2026-03-01T00:00:00.000Z', '2026-03-31T23:59:59.999Z', 'plain dates are whole days'],
    ['2026-03-15', '2026-03-15', '2026-03-15T00:00:00.000Z', '2026-03-15T23:59:59.999Z', 'a single day, today'],
    ['2024-02-29', '2024-02-29', '2024-02-29T00:00:00.000Z', '2024-02-29T23:59:59.999Z', 'a leap day'],
    [undefined, '2026-03-31', '2026-03-02T00:00:00.000Z', '2026-03-31T23:59:59.999Z', '30 whole days'],
    [undefined, '2024-03-01', '2024-02-01T00:00:00.000Z', '2024-03-01T23:59:59.999Z', '30 days with a leap day'],
    [undefined, '2026-03-31T12:00:00Z', '2026-03-01T12:00:00.000Z', '2026-03-31T12:00:00.000Z', '30 × 24 hours'],
    ['2026-03-01', undefined, '2026-03-01T00:00:00.000Z', '2026-03-15T10:20:30.456Z', 'from a day to now'],
    ['2026-03-15', undefined, '2026-03-15T00:00:00.000Z', '2026-03-15T10:20:30.456Z', 'today so far'],
    ['2027-01-01', undefined, '2027-01-01T00:00:00.000Z', '2027-01-01T23:59:59.999Z', 'a day in the future'],
    [
      '2027-01-01T05:00Z',
      undefined,
      '2027-01-01T05:00:00.000Z',
      '2027-01-01T05:00:00.000Z',
      'a timestamp in the future',
    ],
    ['2027-01-01', '2027-02-01', '2027-01-01T00:00:00.000Z', '2027-02-01T23:59:59.999Z', 'a period in the future'],
    ['1900-01-01', '2299-12-31', '1900-01-01T00:00:00.000Z', '2299-12-31T23:59:59.999Z', 'the longest period'],
    [
      '2026-03-01T09:30:00.25Z',
      '2026-03-01',
      '2026-03-01T09:30:00.250Z',
      '2026-03-01T23:59:59.999Z',
      'a timestamp and a date',
    ],
    ['2026-03-01T09:30', '2026-03-01T09:30', '2026-03-01T09:30:00.000Z', '2026-03-01T09:30:00.000Z', 'no zone: UTC'],
    [
      '2026-03-01T00:30:00+02:00',
      '2026-03-02',
      '2026-02-28T22:30:00.000Z',
      '2026-03-02T23:59:59.999Z',
      'a zone east of UTC',
    ],
    [
      '2026-03-01T00:30:00 02:00',
      '2026-03-02',
      '2026-02-28T22:30:00.000Z',
      '2026-03-02T23:59:59.999Z',
      'a zone whose + became a space',
    ],
    [
      '2026-03-01T22:30:00-0330',
      '2026-03-02',
      '2026-03-02T02:00:00.000Z',
      '2026-03-02T23:59:59.999Z',
      'a zone west of UTC',
    ],
    [
      '2026-03-01t10:00:00.123456789z',
      '2026-03-02',
      '2026-03-01T10:00:00.123Z',
      '2026-03-02T23:59:59.999Z',
      'lower case, nanoseconds',
    ],
  ])('from %s to %s is %s to %s: %s', (start, end, from, to) => {
    expect(period(start, end)).toEqual({ start: from, end: to });
  });

  test.each([
    ...['', 'yesterday', '2026', '2026-3-1', '20260301', '2026-03-01Z', ' 2026-03-01', '2026-03-01 ', '01.03.2026'],
    ...['2025-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-10', '2026-01-00', '2100-02-29'],
    ...['2026-03-01T24:00', '2026-03-01T24:00:00Z', '2026-03-01T12:60Z', '2026-03-01T12:00:60Z', '2026-03-01T12Z'],
    ...['2026-03-01T12:00:00+24:00', '2026-03-01T12:00:00 Z', '2026-03-01T12:00:00.Z', '2026-02-29T12:00:00Z'],
    ...['1899-12-31', '2300-01-01', '9999-12-31', '-002026-03-01', '+012026-03-01', '0000-00-00', '1772359200'],
    ...['2026-W09-1', '2026-060', "2026-03-01' OR 1=1 --", '２０２６-03-01', '2026-03-01\n', 'NaN', 'null'],
  ])('%j is not a date: 400', (text) => {
    expect(invalidFields(text, undefined)).toEqual(['start_date']);
    expect(invalidFields(undefined, text)).toEqual(['end_date']);
    expect(invalidFields(text, text)).toEqual(['start_date', 'end_date']);
  });

  test('must not end before it starts', () => {
    expect(invalidFields('2026-03-02', '2026-03-01')).toEqual(['start_date']);
    expect(invalidFields('2026-03-01T12:00:00.001Z', '2026-03-01T12:00:00Z')).toEqual(['start_date']);
    expect(invalidFields('2026-03-01T23:59:59.999Z', '2026-03-01')).toEqual([]);
  });

  test('is as long as its time, and at least a day', () => {
    const days = (start?: string, end?: string) =>
      daysOf(periodOf({ ...(start && { start_date: start }), ...(end && { end_date: end }) }, now));
    expect(days(), 'exactly 30 × 24 hours, from the middle of a day').toBe(30);
    expect(days('2026-03-15', '2026-03-15')).toBe(1);
    expect(days('2026-03-01', '2026-03-31')).toBe(31);
    expect(days('2024-02-28', '2024-03-01')).toBe(3);
    expect(days('2026-03-14T10:20:30.456Z'), 'the last 24 hours').toBe(1);
    expect(days('2026-03-01T23:00:00Z', '2026-03-02T01:00:00Z'), 'two hours of two days').toBe(1);
    expect(days('2026-03-01', '2026-03-02T12:00:00Z')).toBe(1.5);
  });

  test.each<[Comparison, string | undefined, string | undefined, string, string, string]>([
    ['previous', '2026-03-11', '2026-03-20', '2026-03-01T00:00:00.000Z', '2026-03-10T23:59:59.999Z', 'whole days'],
    ['previous', '2024-03-01', '2024-03-31', '2024-01-30T00:00:00.000Z', '2024-02-29T23:59:59.999Z', 'a leap day'],
    ['previous', undefined, undefined, '2026-01-14T10:20:30.455Z', '2026-02-13T10:20:30.455Z', 'the last 30 days'],
    ['previous', '2026-03-15', undefined, '2026-03-14T00:00:00.000Z', '2026-03-14T10:20:30.456Z', 'today so far'],
    ['previous', '2026-03-09', undefined, '2026-03-02T00:00:00.000Z', '2026-03-08T10:20:30.456Z', '7 days until now'],
    [
      ...(['previous', '2026-03-15T00:00Z', '2026-03-15T09:00Z'] as const),
      ...(['2026-03-14T00:00:00.000Z', '2026-03-14T09:00:00.000Z', 'until an hour of today'] as const),
    ],
    [
      ...(['previous', '2026-03-10T00:00Z', '2026-03-10T12:00Z'] as const),
      ...(['2026-03-09T11:59:59.999Z', '2026-03-09T23:59:59.999Z', 'half a day of the past'] as const),
    ],
    ['previous_weeks', '2026-02-14', undefined, '2026-01-10T00:00:00.000Z', '2026-02-08T10:20:30.456Z', '30 days'],
    ['week_before', '2026-03-15', undefined, '2026-03-08T00:00:00.000Z', '2026-03-08T10:20:30.456Z', 'today so far'],
    ['week_before', '2026-03-01', '2026-03-03', '2026-02-22T00:00:00.000Z', '2026-02-24T23:59:59.999Z', 'whole days'],
    ['year_before', '2026-03-15', '2026-03-15', '2025-03-16T00:00:00.000Z', '2025-03-16T23:59:59.999Z', 'a Sunday'],
  ])('%s of %s to %s is %s to %s: %s', (comparison, start_date, end_date, start, end) => {
    const query = { ...(start_date && { start_date }), ...(end_date && { end_date }) };
    expect(presentPeriod(comparedPeriod(periodOf(query, now), comparison, now))).toEqual({ start, end });
  });

  test('until now is moved on the clocks of its zone, over a change to daylight saving', () => {
    const afterChange = new Date('2026-03-29T12:37:00.000Z');
    const today = periodOf({ start_date: '2026-03-29', timezone: 'Europe/Berlin' }, afterChange);
    expect(presentPeriod(comparedPeriod(today, 'previous', afterChange)), '14:37 of a day of 24 hours').toEqual({
      start: '2026-03-27T23:00:00.000Z',
      end: '2026-03-28T13:37:00.000Z',
    });
  });
});

describe('the buckets of a period', () => {
  const buckets = (interval: Interval, start_date: string, end_date: string) =>
    bucketsOf(periodOf({ start_date, end_date }, now), interval);

  test.each<[Interval, string, string, string[]]>([
    ['day', '2024-02-28', '2024-03-01', ['2024-02-28', '2024-02-29', '2024-03-01']],
    ['day', '2026-03-01T23:59:59.999Z', '2026-03-02T00:00Z', ['2026-03-01', '2026-03-02']],
    [
      'hour',
      '2026-03-01T22:59Z',
      '2026-03-02T00:00Z',
      ['22', '23'].map((h) => `2026-03-01T${h}:00:00Z`).concat('2026-03-02T00:00:00Z'),
    ],
    ['week', '2025-12-31', '2026-01-05', ['2025-12-29', '2026-01-05']],
    ['week', '2021-01-03', '2021-01-04', ['2020-12-28', '2021-01-04']],
    ['week', '2026-03-02', '2026-03-08', ['2026-03-02']],
    ['week', '1969-12-31', '1970-01-05', ['1969-12-29', '1970-01-05']],
    ['month', '2026-01-31', '2026-03-01', ['2026-01', '2026-02', '2026-03']],
    ['month', '2025-12-31T23:59:59.999Z', '2026-01-01T00:00Z', ['2025-12', '2026-01']],
    ['month', '1900-01-15', '1900-02-15', ['1900-01', '1900-02']],
  ])('by the %s, from %s to %s', (interval, start, end, names) => {
    expect(buckets(interval, start, end)).toEqual(names);
  });

  test('are counted without being created', () => {
    const all = periodOf({ start_date: '1900-01-01', end_date: '2299-12-31' }, now);
    expect(countBuckets(all, 'month')).toBe(4_800);
    expect(countBuckets(all, 'day')).toBe(146_097);
    expect(countBuckets(all, 'hour')).toBe(146_097 * 24);
  });
});

describe('in a time zone', () => {
  const inZone = (timezone: string, start_date?: string, end_date?: string) =>
    periodOf({ timezone, ...(start_date && { start_date }), ...(end_date && { end_date }) }, now);
  const hours = ({ start, end }: { start: Date; end: Date }) => (end.getTime() + 1 - start.getTime()) / 3_600_000;

  test.each([
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
    ['Asia/Kolkata', '2026-11-15', '2026-11-14T18:30:00.000Z', 24],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', 24.5],
    ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30:00.000Z', 23.5],
    ['America/St_Johns', '2026-03-08', '2026-03-08T03:30:00.000Z', 23],
    // Midnight is skipped; midnight occurs twice.
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z', 23],
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
    ['utc', '2026-03-29', '2026-03-29T00:00:00.000Z', 24],
  ])('%s: the day %s starts at %s and has %d hours', (timezone, date, start, length) => {
    const period = inZone(timezone, date, date);
    expect(period.start.toISOString()).toBe(start);
    expect(hours(period)).toBe(length);
    expect(daysOf(period)).toBe(1);
  });

  test('a period of dates is compared with as many dates, and a plain end_date ends 30', () => {
    const march = inZone('Europe/Berlin', '2026-03-01', '2026-03-31');
    expect(daysOf(march)).toBe(31);
    expect(presentPeriod(comparedPeriod(march, 'previous', now))).toEqual({
      start: '2026-01-28T23:00:00.000Z',
      end: '2026-02-28T22:59:59.999Z',
    });
    const before = comparedPeriod(inZone('Europe/Berlin', '2026-04-01', '2026-04-30'), 'previous', now);
    expect(presentPeriod(before)).toEqual({ start: '2026-03-01T23:00:00.000Z', end: '2026-03-31T21:59:59.999Z' });
    expect(daysOf(before)).toBe(30);
    const month = inZone('Europe/Berlin', undefined, '2026-04-05');
    expect(presentPeriod(month)).toEqual({ start: '2026-03-06T23:00:00.000Z', end: '2026-04-05T21:59:59.999Z' });
    expect(daysOf(month)).toBe(30);
  });

  test('a timestamp without an offset is local, and one with an offset is not', () => {
    const period = inZone('Asia/Kolkata', '2026-03-01T09:30', '2026-03-01T09:30:00Z');
    expect(presentPeriod(period)).toEqual({ start: '2026-03-01T04:00:00.000Z', end: '2026-03-01T09:30:00.000Z' });
  });

  test.each(['', 'Berlin', '+02:00', 'Europe/Nowhere', "UTC' OR 1=1", 'CEST'])('%j is none: 400', (timezone) => {
    expect(() => inZone(timezone)).toThrow(
      expect.objectContaining({ details: [{ field: 'timezone', message: expect.any(String) }] }),
    );
  });

  test.each<[Interval, string, string, string, string[]]>([
    [
      ...(['hour', 'Europe/Berlin', '2026-03-29T00:00Z', '2026-03-29T01:59Z'] as const),
      ['2026-03-29T01:00:00+01:00', '2026-03-29T03:00:00+02:00'],
    ],
    [
      ...(['hour', 'Europe/Berlin', '2026-10-25T00:00Z', '2026-10-25T01:00Z'] as const),
      ['2026-10-25T02:00:00+02:00', '2026-10-25T02:00:00+01:00'],
    ],
    ['hour', 'Asia/Kolkata', '2026-11-15T07:30Z', '2026-11-15T08:29Z', ['2026-11-15T13:00:00+05:30']],
    [
      ...(['hour', 'Australia/Lord_Howe', '2026-04-04T14:00Z', '2026-04-04T15:30Z'] as const),
      ['2026-04-05T01:00:00+11:00', '2026-04-05T01:00:00+10:30', '2026-04-05T02:00:00+10:30'],
    ],
    ['hour', 'Europe/London', '2026-01-01T00:00Z', '2026-01-01T00:00Z', ['2026-01-01T00:00:00+00:00']],
    ['day', 'Europe/Berlin', '2026-03-28', '2026-03-30', ['2026-03-28', '2026-03-29', '2026-03-30']],
    ['day', 'America/St_Johns', '2026-11-01', '2026-11-02', ['2026-11-01', '2026-11-02']],
    ['day', 'Asia/Kolkata', '2026-03-01T18:29Z', '2026-03-01T18:30Z', ['2026-03-01', '2026-03-02']],
    ['day', 'Pacific/Apia', '2011-12-29', '2011-12-31', ['2011-12-29', '2011-12-31']],
    ['week', 'Europe/Berlin', '2026-03-29', '2026-03-30', ['2026-03-23', '2026-03-30']],
    ['month', 'Asia/Kolkata', '2026-03-31T18:29Z', '2026-03-31T18:30Z', ['2026-03', '2026-04']],
  ])('buckets by the %s in %s, from %s to %s', (interval, timezone, start, end, names) => {
    const period = inZone(timezone, start, end);
    expect(bucketsOf(period, interval)).toEqual(names);
    expect(countBuckets(period, interval)).toBe(names.length);
  });

  test('buckets of 400 years are counted', () => {
    const all = inZone('America/St_Johns', '1900-01-01', '2299-12-31');
    expect(countBuckets(all, 'month')).toBe(4_800);
    expect(countBuckets(all, 'day')).toBe(146_097);
    expect(bucketsOf(all, 'month')).toHaveLength(4_800);
  });

  test('only hours in which a bucket begins are split', () => {
    const splitIn = (timezone: string) =>
      splitHours(offsetsOf(timezone, Date.parse('2026-01-01'), Date.parse('2027-01-01')));
    expect(splitIn('UTC')).toEqual([]);
    expect(splitIn('Europe/Berlin')).toEqual([]);
    expect(splitIn('Asia/Kolkata')).toEqual([18]);
    expect(splitIn('Asia/Kathmandu')).toEqual([18]);
    expect(splitIn('America/St_Johns').toSorted(), 'midnights in winter and summer, and the changes').toEqual([
      2, 3, 4, 5,
    ]);
    expect(splitIn('Australia/Lord_Howe').toSorted()).toEqual([13, 15]);
  });
});
