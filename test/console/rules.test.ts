import { describe, expect, test } from 'vitest';
import type { Rule } from '../../events/targeting/targeting-schema.ts';
import { readTargetingCells } from '../../src/console/app/codes/import-targeting.ts';
import { errorAt, isWithin } from '../../src/console/app/parts/field-errors.ts';
import { changesOf, formOf, problemsWith } from '../../src/console/app/rules/form.ts';
import { conditionsText, daysText, ruleText, sharesOf } from '../../src/console/app/rules/sentence.ts';
import { dateTimeText, toIso, toLocal } from '../../src/console/app/rules/zoned-time.ts';
import type { QrCode } from '../../src/console/app/types.ts';

const berlin = 'Europe/Berlin';

describe('the sentence of a rule', () => {
  test('names each condition and the destination', () => {
    const rule: Rule = {
      id: 'r1',
      when: {
        devices: ['ios'],
        countries: ['DE', 'AT'],
        hours: { from: '07:00', to: '11:00' },
        timezone: berlin,
      },
      destination_url: 'https://example.com/breakfast',
    };
    expect(ruleText(rule, berlin)).toBe(
      'On iPhone or iPad, in Germany or Austria, from 7:00 to 11:00 → example.com/breakfast',
    );
    expect(ruleText(rule, 'UTC'), 'a zone other than the own is named').toContain('from 7:00 to 11:00, Berlin time');
  });

  test('names the share of each variant, and everyone without a condition', () => {
    const split = [
      { id: 'v1', weight: 2, destination_url: 'https://example.com/a' },
      { id: 'v2', weight: 1, name: 'New menu', destination_url: 'https://example.com/b' },
    ];
    expect(ruleText({ id: 'r1', split }, berlin)).toBe('Everyone → 67% example.com/a, 33% New menu');
    expect(sharesOf([])).toEqual([]);
  });

  test.each([
    [['mon', 'tue', 'wed', 'thu', 'fri'], 'Monday to Friday'],
    [['sat', 'sun'], 'Saturday and Sunday'],
    [['fri', 'mon', 'wed'], 'Monday, Wednesday and Friday'],
    [['mon', 'tue', 'wed', 'sun'], 'Monday to Wednesday and Sunday'],
  ] as const)('days %j', (days, text) => {
    expect(daysText(days)).toBe(text);
  });

  test('hours without a zone are in UTC, and dates are in the zone of the reader', () => {
    expect(conditionsText({ hours: { from: '22:00', to: '24:00' } }, berlin)).toBe('From 22:00 to midnight, UTC');
    expect(conditionsText({ from: '2026-11-30T23:00:00.000Z', until: '2026-12-24T11:30:00.000Z' }, berlin)).toBe(
      'From 1 Dec 2026, until 24 Dec 2026, 12:30',
    );
  });
});

describe('local times', () => {
  test.each([
    ['2026-07-01T09:00', '2026-07-01T07:00:00.000Z'],
    ['2026-12-01T09:00', '2026-12-01T08:00:00.000Z'],
    ['2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
    ['2026-10-25T01:59', '2026-10-24T23:59:00.000Z'],
  ])('%s in Berlin is %s, and back', (local, iso) => {
    expect(toIso(local, berlin)).toBe(iso);
    expect(toLocal(iso, berlin)).toBe(local);
  });

  test('a skipped time moves forward, and of a repeated one the first counts', () => {
    expect(toLocal(toIso('2026-03-29T02:30', berlin), berlin)).toBe('2026-03-29T03:30');
    expect(toIso('2026-10-25T02:30', berlin)).toBe('2026-10-25T00:30:00.000Z');
  });

  test('nothing stays nothing', () => {
    expect([toIso('', berlin), toLocal('', berlin)]).toEqual(['', '']);
    expect(dateTimeText('2026-12-01T00:00:00Z', 'UTC')).toBe('1 Dec 2026');
  });
});

describe('the form', () => {
  const code = {
    destination_url: 'https://example.com',
    rules: [
      { id: 'r1', when: { hours: { from: '07:00', to: '11:00' } }, destination_url: 'https://example.com/breakfast' },
      {
        id: 'r2',
        name: 'Test',
        when: { from: '2026-11-30T23:00:12.345Z', countries: ['DE'] },
        split: [
          { id: 'v1', weight: 1, destination_url: 'https://example.com/a' },
          { id: 'v2', weight: 3, destination_url: 'https://example.com/b' },
        ],
      },
    ],
    utm: { source: 'flyer' },
  } as unknown as QrCode;

  test('has no changes until something is edited, and then sends the field whole, with its ids', () => {
    const base = formOf(code, berlin);
    expect(changesOf(formOf(code, berlin), base)).toEqual({});
    const [first, second] = base.rules;
    if (first === undefined || second === undefined) throw new Error('two rules expected');
    const changes = changesOf({ ...base, rules: [second, first], max_scans: '12' }, base);
    expect(changes.max_scans).toBe(12);
    expect(changes.rules).toEqual([
      code.rules?.[1],
      { ...code.rules?.[0], when: { hours: { from: '07:00', to: '11:00' }, timezone: 'UTC' } },
    ]);
  });

  test('finds the errors of the service, at their field', () => {
    const base = formOf(code, berlin);
    const [first] = base.rules;
    if (first === undefined) throw new Error('a rule expected');
    const rules = [{ ...first, when: { countries: [] }, destination: 'ftp://example.com' }];
    const errors = problemsWith(changesOf({ ...base, rules, max_scans: 'many' }, base), []);
    expect(Object.keys(errors)).toEqual(['rules[0].when.countries', 'rules[0].destination_url', 'max_scans']);
    expect(errorAt(errors, 'rules[0].when')).toBe('Choose at least one, or remove the condition.');
    expect(errorAt(errors, 'rules[0].name')).toBeUndefined();
  });

  test('a part of a field is within it, another field with the same beginning is not', () => {
    expect(isWithin('rules[2].when.countries[0]', 'rules[2].when')).toBe(true);
    expect(isWithin('rules[21].name', 'rules[2]')).toBe(false);
    expect(isWithin('tags', 'tags')).toBe(true);
  });
});

describe('the cells of an import', () => {
  test('become fields of a code, local times in the time zone of the browser', () => {
    const cells = {
      starts_at: '2026-07-01',
      expires_at: '2026-07-31 22:30',
      max_scans: '500',
      fallback_url: 'example.com/closed',
      tags: 'Menu; summer ;',
      note: ' On the terrace ',
    };
    expect(readTargetingCells(cells, [], berlin)).toEqual({
      fields: {
        starts_at: '2026-06-30T22:00:00.000Z',
        expires_at: '2026-07-31T20:30:00.000Z',
        max_scans: 500,
        fallback_url: 'https://example.com/closed',
        tags: ['Menu', 'summer'],
        note: 'On the terrace',
      },
      errors: [],
    });
    expect(readTargetingCells({ starts_at: '', tags: ' ' }, [], berlin)).toEqual({ fields: {}, errors: [] });
  });

  test('have the errors of the service', () => {
    const { errors } = readTargetingCells({ starts_at: 'soon', max_scans: 'many', note: 'a\tb' }, [], berlin);
    expect(errors.map(({ field }) => field)).toEqual(['starts_at', 'max_scans', 'note']);
    const { errors: order } = readTargetingCells({ starts_at: '2026-07-02', expires_at: '2026-07-01' }, [], berlin);
    expect(order).toEqual([{ field: 'expires_at', message: 'the end must be after the start' }]);
  });
});
