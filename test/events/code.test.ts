import { describe, expect, test } from 'vitest';
import {
  type Code,
  type CodeChange,
  changeCode,
  createCode,
  deleteCode,
  evolveCode,
  type NewCode,
  reachLimit,
} from '../../events/code.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import { noTargeting } from '../../events/targeting/targeting.ts';

const created = new Date('2026-03-01T09:30:00.000Z');
const later = new Date('2026-03-02T10:00:00.000Z');

let ids = 0;
const newId = (prefix: 'r' | 'v') => `${prefix}${++ids}`;

const newCode: NewCode = {
  account: 'acct_1',
  mode: 'live',
  name: 'Menu',
  destination_url: 'https://example.com/menu',
  short_code: 'menu-26',
  short_code_given: true,
  status: 'active',
  style: { dotsType: 'rounded' },
};

const recorded = <E extends CodeEvent>(event: E, version: number, at = later): Recorded<E> => ({
  ...event,
  position: 40 + version,
  id: `evt_${version}`,
  stream: 'qr_1',
  version,
  actor: 'key_1',
  occurred_at: at,
});

const code = (fields: Partial<NewCode> = {}): Code =>
  evolveCode(undefined, recorded(createCode({ ...newCode, ...fields }, newId), 1, created));

/** The code after all events of a change. */
const changed = (before: Code, change: CodeChange): Code =>
  changeCode(before, change, newId).reduce(
    (now, event, i) => evolveCode(now, recorded(event, before.version + 1 + i)),
    before,
  );

const inStatus: Record<'active' | 'paused' | 'draft', Code> = {
  active: code(),
  paused: changed(code(), { active: false }),
  draft: code({ status: 'draft' }),
};

describe('creating', () => {
  test('a new code is active, at revision 1, with updated_at equal to created_at', () => {
    expect(code()).toEqual({
      ...newCode,
      id: 'qr_1',
      destination_revision: 1,
      created_at: created,
      updated_at: created,
      version: 1,
      position: 41,
      disabled_reason: null,
      disabled_at: null,
      has_password: null,
      ...noTargeting,
      tags: null,
      tag_names: null,
      note: null,
      imported_at: null,
      imported_scans: null,
    });
  });

  test('a code can be created as a draft', () => {
    expect(code({ status: 'draft' }).status).toBe('draft');
  });
});

describe('transitions', () => {
  test.each([
    ['active', { active: false }, ['code_paused'], 'paused'],
    ['active', { active: true }, [], 'active'],
    ['paused', { active: true }, ['code_resumed'], 'active'],
    ['paused', { active: false }, [], 'paused'],
    ['draft', { active: true }, ['code_published'], 'active'],
    ['draft', { active: false }, [], 'draft'],
  ] as const)('given %s, when changed by %j, then %j and it is %s', (status, change, events, next) => {
    const before = inStatus[status];
    expect(changeCode(before, change, newId).map(({ type }) => type)).toEqual(events);
    expect(changed(before, change).status).toBe(next);
  });

  test.each(['active', 'paused', 'draft'] as const)('given %s, when deleted, then it is deleted', (status) => {
    const [event, ...more] = deleteCode(inStatus[status]);
    expect(event).toEqual({ type: 'code_deleted', data: {} });
    expect(more).toEqual([]);
    expect(evolveCode(inStatus[status], recorded(event as CodeEvent, 9)).status).toBe('deleted');
  });

  test('deleting a deleted code records nothing', () => {
    const deleted = evolveCode(code(), recorded({ type: 'code_deleted', data: {} }, 2));
    expect(deleteCode(deleted)).toEqual([]);
  });
});

describe('changing', () => {
  test('a new name records only code_renamed', () => {
    expect(changeCode(code(), { name: 'Spring menu' }, newId)).toEqual([
      { type: 'code_renamed', data: { from: 'Menu', to: 'Spring menu' } },
    ]);
    expect(changed(code(), { name: 'Spring menu' })).toEqual({
      ...code(),
      name: 'Spring menu',
      updated_at: later,
      version: 2,
    });
  });

  test('each new destination increases the revision', () => {
    const second = changed(code(), { destination_url: 'https://example.com/2' });
    const third = changed(second, { destination_url: 'https://example.com/3' });
    expect([second.destination_revision, third.destination_revision]).toEqual([2, 3]);
    expect(changeCode(second, { destination_url: 'https://example.com/3' }, newId)).toEqual([
      {
        type: 'destination_changed',
        data: { from: 'https://example.com/2', to: 'https://example.com/3', revision: 3 },
      },
    ]);
  });

  test('a change of several fields records one event per field and applies all', () => {
    const change = { name: 'New', destination_url: 'https://example.com/new', active: false };
    expect(changeCode(code(), change, newId).map(({ type }) => type)).toEqual([
      'code_renamed',
      'destination_changed',
      'code_paused',
    ]);
    expect(changed(code(), change)).toMatchObject({
      name: 'New',
      destination_url: 'https://example.com/new',
      status: 'paused',
      version: 4,
    });
  });

  test.each([
    {},
    { name: 'Menu' },
    { destination_url: 'https://example.com/menu' },
    { active: true },
    { name: 'Menu', destination_url: 'https://example.com/menu', active: true },
  ])('%j changes nothing and records nothing', (change) => {
    expect(changeCode(code(), change, newId)).toEqual([]);
  });

  test('immutable fields do not change', () => {
    const now = changed(code(), { name: 'New', destination_url: 'https://example.com/new', active: false });
    const { id, account, mode, short_code, style, created_at, position } = code();
    expect(now).toMatchObject({ id, account, mode, short_code, style, created_at, position });
  });

  test('changeCode and evolveCode do not mutate their input', () => {
    const before = Object.freeze(code());
    expect(changed(before, { name: 'New', active: false }).name).toBe('New');
    expect(before).toEqual(code());
  });
});

describe('where a code leads', () => {
  const rules = [{ when: { devices: ['ios' as const] }, destination_url: 'https://example.com/ios' }];
  const wanted = {
    rules,
    starts_at: created,
    max_scans: 5,
    fallback_url: 'https://example.com/closed',
    forward_query: true,
    tags: ['summer'],
    note: 'On the terrace',
  };

  test('each part has its own event, and a second time changes nothing', () => {
    const types = changeCode(code(), wanted, newId).map(({ type }) => type);
    expect(types).toEqual([
      ...['rules_changed', 'schedule_changed', 'limit_changed', 'fallback_changed', 'query_changed', 'tags_changed'],
      'note_changed',
    ]);
    const after = changed(code(), wanted);
    expect(after).toMatchObject({ ...wanted, rules: [{ ...rules[0], id: expect.stringMatching(/^r/) }] });
    expect(changeCode(after, wanted, newId)).toEqual([]);
    const removed = { ...wanted, rules: null, starts_at: null, max_scans: null, fallback_url: null };
    expect(changed(after, { ...removed, forward_query: null, tags: null, note: null })).toMatchObject({
      ...noTargeting,
      tags: null,
      note: null,
    });
  });

  test('a code created with it has it', () => {
    expect(code({ optional: wanted })).toMatchObject({ ...wanted, rules: [{ id: expect.stringMatching(/^r/) }] });
  });

  test('a limit is reached once, and another limit can be reached again', () => {
    const limited = code({ optional: { max_scans: 5 } });
    expect(reachLimit(limited, 4)).toEqual([]);
    const [reached, ...more] = reachLimit(limited, 5);
    expect([reached, more]).toEqual([{ type: 'limit_reached', data: { max_scans: 5 } }, []]);
    const after = evolveCode(limited, recorded(reached as CodeEvent, 2));
    expect(after.limit_reached_at).toEqual(later);
    expect(reachLimit(after, 9)).toEqual([]);
    expect(changed(after, { max_scans: 6 }).limit_reached_at).toBeNull();
  });
});

test('rejects a stream that does not begin with code_created', () => {
  expect(() => evolveCode(undefined, recorded({ type: 'code_paused', data: {} }, 1))).toThrow(
    'qr_1 begins with code_paused, not with code_created',
  );
});
