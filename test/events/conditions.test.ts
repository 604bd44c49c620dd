import { describe, expect, test } from 'vitest';
import { compileWhen, type Facts } from '../../events/targeting/conditions.ts';
import { acceptedTags } from '../../events/targeting/languages.ts';
import { localTime, offsetOf, timeZoneNamed } from '../../events/targeting/local-time.ts';
import type { When } from '../../events/targeting/targeting-schema.ts';

const holds = (when: When, facts: Partial<Facts> & { at?: string } = {}) => {
  const { at = '2026-03-02T12:00:00Z', ...rest } = facts;
  return compileWhen(when)({
    country: 'DE',
    device: 'ios',
    browser: 'safari',
    language: '',
    ...rest,
    atMs: Date.parse(at),
  });
};

describe('conditions', () => {
  test('all must hold, and a list holds if one item does', () => {
    expect(holds({})).toBe(true);
    expect(holds({ countries: ['AT', 'DE'], devices: ['ios'], browsers: ['safari', 'chrome'] })).toBe(true);
    expect(holds({ countries: ['AT', 'DE'], devices: ['android'] })).toBe(false);
    expect(holds({ countries: ['AT'] }, { country: 'XX' })).toBe(false);
  });

  test('from is included and until is not, to the millisecond', () => {
    const when: When = { from: '2026-03-02T10:00:00.000Z', until: '2026-03-02T11:00:00.000Z' };
    expect(holds(when, { at: '2026-03-02T09:59:59.999Z' })).toBe(false);
    expect(holds(when, { at: '2026-03-02T10:00:00.000Z' })).toBe(true);
    expect(holds(when, { at: '2026-03-02T10:59:59.999Z' })).toBe(true);
    expect(holds(when, { at: '2026-03-02T11:00:00.000Z' })).toBe(false);
  });

  test('hours end before their last minute, to the millisecond', () => {
    const when: When = { hours: { from: '07:00', to: '11:00' } };
    expect(holds(when, { at: '2026-03-02T06:59:59.999Z' })).toBe(false);
    expect(holds(when, { at: '2026-03-02T07:00:00Z' })).toBe(true);
    expect(holds(when, { at: '2026-03-02T10:59:59.999Z' })).toBe(true);
    expect(holds(when, { at: '2026-03-02T11:00:00Z' })).toBe(false);
    expect(holds({ hours: { from: '20:00', to: '24:00' } }, { at: '2026-03-02T23:59:59.999Z' })).toBe(true);
  });

  test('hours that pass midnight belong to the day on which they begin', () => {
    // 2026-03-06 is a Friday.
    const friday: When = { days: ['fri'], hours: { from: '23:00', to: '02:00' } };
    expect(holds(friday, { at: '2026-03-06T01:00:00Z' }), 'the night from Thursday').toBe(false);
    expect(holds(friday, { at: '2026-03-06T23:00:00Z' })).toBe(true);
    expect(holds(friday, { at: '2026-03-07T01:59:59.999Z' })).toBe(true);
    expect(holds(friday, { at: '2026-03-07T02:00:00Z' })).toBe(false);
    expect(holds(friday, { at: '2026-03-07T23:30:00Z' })).toBe(false);
    expect(holds({ hours: { from: '23:00', to: '02:00' } }, { at: '2026-03-06T01:00:00Z' })).toBe(true);
  });

  test('days begin and end in the time zone', () => {
    const monday: When = { days: ['mon'], timezone: 'Asia/Kolkata' };
    expect(holds(monday, { at: '2026-03-01T18:29:59Z' })).toBe(false);
    expect(holds(monday, { at: '2026-03-01T18:30:00Z' })).toBe(true);
    expect(holds(monday, { at: '2026-03-02T18:30:00Z' })).toBe(false);
  });
});

describe('a breakfast, lunch and dinner menu in Berlin', () => {
  const menu = (hours: { from: string; to: string }): When => ({ hours, timezone: 'Europe/Berlin' });
  const meals = {
    breakfast: menu({ from: '07:00', to: '11:00' }),
    lunch: menu({ from: '11:00', to: '15:00' }),
    dinner: menu({ from: '17:30', to: '22:00' }),
  };
  const mealAt = (at: string) => Object.entries(meals).find(([, when]) => holds(when, { at }))?.[0];

  // Clocks go from 02:00 to 03:00 on 2026-03-29, and from 03:00 to 02:00 on 2026-10-25.
  test.each([
    ['2026-03-28T09:59:59.999Z', 'breakfast'],
    ['2026-03-28T10:00:00.000Z', 'lunch'],
    ['2026-03-28T14:00:00.000Z', undefined],
    ['2026-03-28T16:30:00.000Z', 'dinner'],
    ['2026-03-29T04:59:59.999Z', undefined],
    ['2026-03-29T05:00:00.000Z', 'breakfast'],
    ['2026-03-29T08:59:59.999Z', 'breakfast'],
    ['2026-03-29T09:00:00.000Z', 'lunch'],
    ['2026-03-29T15:30:00.000Z', 'dinner'],
    ['2026-10-24T08:59:59.999Z', 'breakfast'],
    ['2026-10-24T09:00:00.000Z', 'lunch'],
    ['2026-10-25T05:59:59.999Z', undefined],
    ['2026-10-25T06:00:00.000Z', 'breakfast'],
    ['2026-10-25T09:59:59.999Z', 'breakfast'],
    ['2026-10-25T10:00:00.000Z', 'lunch'],
    ['2026-10-25T21:00:00.000Z', undefined],
  ])('at %s: %s', (at, meal) => {
    expect(mealAt(at)).toBe(meal);
  });
});

describe('local time', () => {
  test('offsets change with daylight saving, to the quarter of an hour', () => {
    const hours = (zone: string, at: string) => offsetOf(zone, Date.parse(at)) / 3_600_000;
    expect(hours('Europe/Berlin', '2026-03-29T00:59:59Z')).toBe(1);
    expect(hours('Europe/Berlin', '2026-03-29T01:00:00Z')).toBe(2);
    expect(hours('Australia/Lord_Howe', '2026-04-04T14:59:59Z')).toBe(11);
    expect(hours('Australia/Lord_Howe', '2026-04-04T15:00:00Z')).toBe(10.5);
    expect(hours('Asia/Kathmandu', '2026-01-01T00:00:00Z')).toBe(5.75);
    expect(hours('UTC', '2026-01-01T00:00:00Z')).toBe(0);
  });

  test('weekday and minute are as in the zone', () => {
    expect(localTime('America/New_York', Date.parse('2026-03-02T03:15:00Z'))).toEqual({
      weekday: 6,
      minute: 22 * 60 + 15,
    });
    expect(localTime('UTC', Date.parse('1969-12-31T23:59:00Z'))).toEqual({ weekday: 2, minute: 23 * 60 + 59 });
  });

  test('only IANA names are time zones', () => {
    for (const name of ['UTC', 'Europe/Berlin', 'Asia/Kolkata']) expect(timeZoneNamed(name)).toBe(name);
    expect(timeZoneNamed('europe/BERLIN')).toBe('Europe/Berlin');
    for (const name of ['', '+05:30', 'Berlin', 'Europe/Nowhere', '05:30'])
      expect(timeZoneNamed(name), name).toBeUndefined();
  });
});

describe('languages by RFC 4647 lookup', () => {
  test.each([
    ['de', 'de-AT,en;q=0.8', true],
    ['de', 'de-DE', true],
    ['de-AT', 'de', false],
    ['pt-BR', 'pt-br;q=0.1', true],
    ['zh-Hant', 'zh-Hant-TW', true],
    ['zh', 'zh-x-private', true],
    ['de', '*', false],
    ['de', 'en,de;q=0', false],
    ['de', 'de;q=0,de-AT', false],
    ['de', 'en, fr ; q=0.5 , de;q=0.1', true],
    ['en', '', false],
    ['en', ';;,,-,en-', false],
  ])('%s and "%s": %s', (tag, language, expected) => {
    expect(holds({ languages: [tag] }, { language })).toBe(expected);
  });

  test('accepted tags are the ranges with their truncations', () => {
    expect(acceptedTags('zh-Hant-TW, de-AT;q=0.5')).toEqual(['zh-hant-tw', 'zh-hant', 'zh', 'de-at', 'de']);
    expect(acceptedTags('en-a-bbb')).toEqual(['en-a-bbb', 'en']);
    expect(acceptedTags(`${'x,'.repeat(100_000)}de`).length).toBe(1);
    expect(acceptedTags(`${'a-'.repeat(400)}a, de`), 'a range that no language has').toEqual(['de']);
    expect(acceptedTags(Array.from({ length: 200 }, (_, i) => `x${i}`).join()), 'as many as bounded').toHaveLength(32);
  });
});
