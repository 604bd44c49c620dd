import { describe, expect, test } from 'vitest';
import { readFields } from '../../events/read-fields.ts';
import { createResolver } from '../../events/targeting/resolver.ts';
import { assignIds, type GivenRule } from '../../events/targeting/rule-ids.ts';
import type { Rule } from '../../events/targeting/targeting-schema.ts';

const url = (path: string) => `https://example.com/${path}`;
const problemsOf = (given: Record<string, unknown>) =>
  readFields(given, ['https://go.example']).problems.map(({ field, problem }) => `${field} ${problem}`);
const fieldsOf = (given: Record<string, unknown>) =>
  readFields(given, ['https://go.example']).problems.map(({ field }) => field);

describe('reading', () => {
  test('normalizes what has several spellings, and keeps the rest', () => {
    const { change, problems } = readFields(
      {
        rules: [
          {
            name: ' Lunch ',
            when: { countries: ['de', 'DE', 'AT'], languages: ['PT-br'], from: '2026-12-01T10:00:00+01:00' },
            destination_url: url('Lunch?ü'),
          },
          {
            split: [
              { weight: 1, destination_url: url('a') },
              { name: 'B', weight: 1000, destination_url: url('b') },
            ],
          },
        ],
        starts_at: '2026-12-01T00:00:00Z',
        expires_at: null,
        max_scans: 5,
        fallback_url: url('closed'),
        forward_query: false,
        utm: { source: ' flyer ', medium: null },
        tags: ['Summer', ' summer', 'Café'],
      },
      [],
    );
    expect(problems).toEqual([]);
    expect(change).toEqual({
      rules: [
        {
          name: 'Lunch',
          when: { countries: ['DE', 'AT'], languages: ['pt-BR'], from: '2026-12-01T09:00:00.000Z' },
          destination_url: url('Lunch?ü'),
        },
        {
          split: [
            { weight: 1, destination_url: url('a') },
            { name: 'B', weight: 1000, destination_url: url('b') },
          ],
        },
      ],
      starts_at: new Date('2026-12-01T00:00:00Z'),
      expires_at: null,
      max_scans: 5,
      fallback_url: url('closed'),
      forward_query: null,
      utm: { source: 'flyer' },
      tags: ['Summer', 'Café'],
    });
  });

  test('empty lists and objects remove, and absent fields stay', () => {
    const empty = { rules: null, tags: null, utm: null, note: null };
    expect(readFields({ rules: [], tags: [], utm: {}, note: ' \n' }, []).change).toEqual(empty);
    expect(readFields({ note: '' }, [])).toEqual({ change: { note: null }, problems: [] });
    expect(readFields({}, []).change).toEqual({});
  });

  test('names the place of every problem', () => {
    const rule = { when: { devices: ['ios'] }, destination_url: url('x') };
    const variant = { weight: 1, destination_url: url('x') };
    expect(
      fieldsOf({
        rules: [
          rule,
          { ...rule, when: { countries: ['DE', 'UK'], device: ['ios'] } },
          { when: {}, destination_url: 'ftp://example.com' },
          { destination_url: url('x') },
          { split: [variant] },
          {
            split: [
              { ...variant, weight: 0 },
              { ...variant, destination_url: 'https://go.example/x' },
            ],
          },
          { ...rule, split: [variant, variant] },
          { when: { hours: { from: '7:00', to: '11:00' }, timezone: 'Berlin', languages: ['d'], days: ['monday'] } },
          'rule',
        ],
      }),
    ).toEqual([
      'rules[1].when.device',
      'rules[1].when.countries[1]',
      'rules[2].when',
      'rules[2].destination_url',
      'rules[3].when',
      'rules[4].split',
      'rules[5].split[0].weight',
      'rules[5].split[1].destination_url',
      'rules[6].destination_url',
      'rules[7].when.languages[0]',
      'rules[7].when.days[0]',
      'rules[7].when.hours.from',
      'rules[7].when.timezone',
      'rules[7].destination_url',
      'rules[8]',
    ]);
  });

  test.each([
    [{ rules: Array.from({ length: 21 }, () => ({})) }, ['rules']],
    [{ rules: {} }, ['rules']],
    [{ starts_at: '2026-12-01' }, ['starts_at']],
    [{ starts_at: '2026-12-01T00:00:00' }, ['starts_at']],
    [{ starts_at: '2026-02-30T00:00:00Z' }, ['starts_at']],
    [{ starts_at: '2026-12-01T00:00:00Z', expires_at: '2026-12-01T00:00:00Z' }, ['expires_at']],
    [{ max_scans: 0 }, ['max_scans']],
    [{ max_scans: 1.5 }, ['max_scans']],
    [{ fallback_url: 'javascript:alert(1)' }, ['fallback_url']],
    [{ forward_query: 'yes' }, ['forward_query']],
    [{ utm: { source: '', id: 'x' } }, ['utm.id', 'utm.source']],
    [{ utm: 'flyer' }, ['utm']],
    [{ tags: ['', 'x'.repeat(51), 7] }, ['tags[0]', 'tags[1]', 'tags[2]']],
    [{ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, ['tags']],
    [{ tags: 'summer' }, ['tags']],
    [{ note: 'x'.repeat(501) }, ['note']],
    [{ note: 'a\tb' }, ['note']],
    [{ note: 'a\rb' }, ['note']],
    [{ note: '\ud800' }, ['note']],
    [{ note: 7 }, ['note']],
  ])('refuses %j', (given, fields) => {
    expect(fieldsOf(given)).toEqual(fields);
  });

  test('rules that would not fit into a message are refused', () => {
    const split = Array.from({ length: 10 }, (_, i) => ({
      weight: 1,
      destination_url: url(`${i}${'x'.repeat(1_000)}`),
    }));
    expect(problemsOf({ rules: Array.from({ length: 7 }, () => ({ split })) })).toEqual([
      'rules must have at most 65536 characters as JSON',
    ]);
  });
});

describe('ids of rules and variants', () => {
  let last = 0;
  const newId = (prefix: string) => `${prefix}${++last}`;
  const assign = (before: Rule[], given: GivenRule[]) => assignIds(before, given, newId);
  const plain = (path: string, fields: Partial<GivenRule> = {}): GivenRule => ({
    when: { devices: ['ios'] },
    destination_url: url(path),
    ...fields,
  });
  const split = (weights: number[]): GivenRule => ({
    split: weights.map((weight, i) => ({ weight, destination_url: url(`v${i}`) })),
  });
  const before = assign([], [plain('a'), plain('b'), split([1, 1])]);
  const [a = '', b = '', ab = ''] = before.map(({ id }) => id);

  test('are kept by equal content, in any order', () => {
    expect(assign(before, [split([1, 1]), plain('b'), plain('a')]).map(({ id }) => id)).toEqual([ab, b, a]);
  });

  test('are kept by the given id when other conditions hold', () => {
    const [changed] = assign(before, [plain('b', { id: b, when: { devices: ['android'] } })]);
    expect(changed).toMatchObject({ id: b, when: { devices: ['android'] } });
  });

  test('are new for another URL, even if the id is given, and for an unknown id', () => {
    for (const given of [plain('new', { id: a }), plain('new', { id: 'r0' }), plain('new')]) {
      const [rule] = assign(before, [given]);
      expect(before.map(({ id }) => id)).not.toContain(rule?.id);
      expect(rule?.id).not.toBe('r0');
    }
  });

  test('of a split stay when only weights change, so that few visitors move', () => {
    const [after] = assign(before, [split([1, 3])]);
    expect(after?.id).toBe(ab);
    const ids = (rule: Rule | undefined) =>
      rule !== undefined && 'split' in rule ? rule.split.map(({ id }) => id) : [];
    expect(ids(after)).toEqual(ids(before[2]));
    const [replaced] = assign(before, [{ ...split([1, 1, 1]), id: ab }]);
    expect(ids(replaced).slice(0, 2)).toEqual(ids(before[2]));
  });

  test('are never given twice', () => {
    const ids = assign(before, [plain('a'), plain('a'), plain('a', { id: a })]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(ids[2]).toBe(a);
  });
});

describe('where a scan leads', () => {
  const facts = {
    country: 'DE',
    device: 'ios',
    browser: 'safari',
    language: 'de',
    atMs: Date.parse('2026-03-02T12:00Z'),
  };
  const toLocation = (text: string) => text;

  test('the first rule that applies decides, and the destination if none does', () => {
    const rules: Rule[] = [
      { id: 'r1', when: { countries: ['AT'] }, destination_url: url('at') },
      { id: 'r2', when: { devices: ['ios'] }, destination_url: url('ios') },
      { id: 'r3', when: { countries: ['DE'] }, destination_url: url('de') },
    ];
    const resolver = createResolver(url(''), { rules }, toLocation);
    expect(resolver.resolve(facts, 'v')).toMatchObject({ url: url('ios'), rule: 'r2', variant: undefined });
    expect(resolver.resolve({ ...facts, device: 'android' }, 'v')).toMatchObject({ url: url('de'), rule: 'r3' });
    expect(resolver.resolve({ ...facts, device: 'android', country: 'FR' }, 'v')).toMatchObject({
      url: url(''),
      rule: undefined,
    });
  });

  test('a schedule is exact to the millisecond', () => {
    const resolver = createResolver(
      url(''),
      { starts_at: '2026-03-02T11:00:00.000Z', expires_at: '2026-03-02T12:00:00.000Z' },
      toLocation,
    );
    const at = (text: string) => resolver.availabilityAt(Date.parse(text));
    expect(at('2026-03-02T10:59:59.999Z')).toBe('scheduled');
    expect(at('2026-03-02T11:00:00.000Z')).toBe('live');
    expect(at('2026-03-02T11:59:59.999Z')).toBe('live');
    expect(at('2026-03-02T12:00:00.000Z')).toBe('expired');
    expect(resolver.fallback).toBeUndefined();
  });

  test('the query is added to destinations, and not to the fallback', () => {
    const rules: Rule[] = [{ id: 'r1', when: { devices: ['ios'] }, destination_url: url('ios') }];
    const resolver = createResolver(
      url(''),
      { rules, forward_query: true, utm: { source: 'x' }, fallback_url: url('closed') },
      toLocation,
    );
    expect(resolver.resolve(facts, 'v').locationOf('a=1')).toBe(url('ios?a=1&utm_source=x'));
    expect(resolver.fallback?.locationOf('a=1')).toBe(url('closed'));
  });
});
