import { describe, expect, test } from 'vitest';
import { type Code, changeCode, createCode, deleteCode, evolveCode } from '../../events/code.ts';
import type { ReadyChange } from '../../events/code-change.ts';
import type { CodeChanged, CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import { restoreCode } from '../../events/restore.ts';
import { revertCode, versionsToUndo } from '../../events/revert.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 4, 3, 12, minute));
const scope = { actor: 'key_a', from: at(10), to: at(20) };
const url = (path: string) => `https://example.com/${path}`;
let ids = 0;
const newId = (prefix: 'r' | 'v') => `${prefix}${++ids}`;

/** A code and its events; each entry of a history is who did what, and in which minute. */
class Life {
  code: Code;
  readonly events: Recorded<CodeEvent>[] = [];

  constructor(minute = 0, actor = 'key_b', status: 'active' | 'draft' = 'active') {
    const event = createCode(
      {
        account: 'acct_1',
        mode: 'live',
        name: 'Menu',
        destination_url: url('menu'),
        short_code: 'menu',
        short_code_given: true,
        status,
        style: {},
      },
      newId,
    );
    this.code = evolveCode(undefined, this.#record(event, minute, actor));
  }

  #record<E extends CodeEvent>(event: E, minute: number, actor: string): Recorded<E> {
    const version = this.events.length + 1;
    const common = { position: version, id: `evt_${version}`, stream: 'qr_1', version, actor, occurred_at: at(minute) };
    const recorded = { ...event, ...common };
    this.events.push(recorded);
    return recorded;
  }

  apply(minute: number, actor: string, events: CodeChanged[]): this {
    for (const event of events) this.code = evolveCode(this.code, this.#record(event, minute, actor));
    return this;
  }

  change(minute: number, actor: string, change: Parameters<typeof changeCode>[1]): this {
    return this.apply(minute, actor, changeCode(this.code, change, newId));
  }

  revert(problemWith: (change: ReadyChange) => string | undefined = () => undefined) {
    const since = this.events.findIndex(({ actor, occurred_at }) => actor === 'key_a' && occurred_at >= scope.from);
    const history = since === -1 ? [] : this.events.slice(since);
    const needed = versionsToUndo(history, scope);
    const events = this.events.filter(({ version }) => needed.includes(version));
    return revertCode(this.code, history, new Map(events.map((event) => [event.version, event])), scope, problemWith);
  }
}

const nothing = { events: [], skipped: [] };

describe('what a key did is undone field by field', () => {
  test('to the values from before its first change in the period', () => {
    const life = new Life()
      .change(5, 'key_a', { destination_url: url('legit') })
      .change(11, 'key_a', { name: 'Hacked', destination_url: url('evil'), tags: ['x'], note: 'x', max_scans: 3 })
      .change(12, 'key_a', { destination_url: url('worse'), starts_at: at(50), forward_query: true, active: false });
    const { events, skipped } = life.revert();
    expect(skipped).toEqual([]);
    expect(events.map(({ type }) => type).toSorted()).toEqual([
      ...['code_renamed', 'code_resumed', 'destination_changed', 'limit_changed', 'note_changed', 'query_changed'],
      ...['schedule_changed', 'tags_changed'],
    ]);
    life.apply(30, 'key_b', events);
    expect(life.code).toMatchObject({
      name: 'Menu',
      destination_url: url('legit'),
      tags: null,
      note: null,
      max_scans: null,
      starts_at: null,
      forward_query: null,
      status: 'active',
    });
    expect(life.revert(), 'a second time').toEqual(nothing);
  });

  test('rules come back with their ids', () => {
    const rules = [{ when: { countries: ['DE'] }, destination_url: url('de') }];
    const life = new Life().change(1, 'key_b', { rules });
    const before = life.code.rules;
    life.change(11, 'key_a', { rules: [{ when: { countries: ['DE'] }, destination_url: url('evil') }] });
    expect(life.apply(30, 'key_b', life.revert().events).code.rules).toEqual(before);
  });

  test('a value that someone else set in between comes back, one that was set later stays', () => {
    const between = new Life()
      .change(11, 'key_a', { name: 'Evil' })
      .change(12, 'key_b', { name: 'Fixed' })
      .change(13, 'key_a', { name: 'Evil again' });
    expect(between.revert()).toEqual({
      ...nothing,
      events: [{ type: 'code_renamed', data: { from: 'Evil again', to: 'Fixed' } }],
    });
    const later = new Life().change(11, 'key_a', { name: 'Evil', tags: ['x'] }).change(25, 'key_b', { name: 'Mine' });
    expect(later.revert()).toEqual({
      events: [{ type: 'tags_changed', data: { from: ['x'], to: null } }],
      skipped: ['name was changed later by key_b: that value is kept.'],
    });
    const byItself = new Life().change(11, 'key_a', { name: 'Evil' }).change(25, 'key_a', { name: 'After' });
    expect(byItself.revert().skipped).toEqual(['name was changed later by key_a: that value is kept.']);
    const fixed = new Life().change(11, 'key_a', { name: 'Evil' }).change(25, 'key_b', { name: 'Menu' });
    expect(fixed.revert(), 'set back by someone else').toEqual(nothing);
  });

  test('a key that undoes itself does not undo that again', () => {
    const life = new Life().change(11, 'key_a', { name: 'Evil' });
    life.apply(15, 'key_a', life.revert().events);
    expect(life.code.name).toBe('Menu');
    expect(life.revert()).toEqual(nothing);
  });

  test('a restore by the key is undone like any change', () => {
    const life = new Life();
    const first = life.code;
    life.change(1, 'key_b', { name: 'New' });
    life.apply(11, 'key_a', restoreCode(life.code, first));
    expect(life.revert().events).toEqual([{ type: 'code_renamed', data: { from: 'Menu', to: 'New' } }]);
  });

  test('nothing is undone outside of the period, or of other keys', () => {
    const life = new Life().change(9, 'key_a', { name: 'Before' }).change(15, 'key_b', { tags: ['x'] });
    expect(life.revert()).toEqual(nothing);
  });

  test('an earlier value that is invalid now is skipped, and the rest is undone', () => {
    const life = new Life().change(11, 'key_a', { name: 'Evil', destination_url: url('evil') });
    const problemWith = ({ destination_url }: ReadyChange) => (destination_url ? 'blocked' : undefined);
    expect(life.revert(problemWith)).toEqual({
      events: [{ type: 'code_renamed', data: { from: 'Evil', to: 'Menu' } }],
      skipped: ['blocked'],
    });
  });
});

describe('codes that the key created, started or deleted', () => {
  test('a code that it created is paused, whatever else it changed of it', () => {
    const life = new Life(11, 'key_a').change(12, 'key_a', { name: 'Renamed' });
    const { events, skipped } = life.revert();
    expect([events, skipped]).toEqual([[{ type: 'code_paused', data: {} }], []]);
    expect(life.apply(30, 'key_b', events).revert(), 'a second time').toEqual(nothing);
  });

  test('one that someone else resumed since is kept, and a draft too', () => {
    const resumed = new Life(11, 'key_a').change(21, 'key_b', { active: false }).change(22, 'key_b', { active: true });
    expect(resumed.revert()).toEqual({
      events: [],
      skipped: ['status was changed later by key_b: that value is kept.'],
    });
    expect(new Life(11, 'key_a', 'draft').revert()).toEqual({
      events: [],
      skipped: ['It was created in this period and is still a draft, which redirects no one: it is kept.'],
    });
  });

  test('one that it resumed or published is paused', () => {
    const resumed = new Life().change(1, 'key_b', { active: false }).change(11, 'key_a', { active: true });
    const published = new Life(0, 'key_b', 'draft').change(11, 'key_a', { active: true });
    for (const life of [resumed, published])
      expect(life.revert()).toEqual({ ...nothing, events: [{ type: 'code_paused', data: {} }] });
  });

  test('a deleted code cannot be brought back, which is said unless the key had created it', () => {
    const deletedBy = (actor: string, life: Life) => life.apply(15, actor, deleteCode(life.code)).revert();
    expect(deletedBy('key_a', new Life())).toEqual({
      events: [],
      skipped: ['It was deleted in this period, and a deleted code cannot be brought back.'],
    });
    expect(deletedBy('key_b', new Life().change(11, 'key_a', { name: 'Evil' })).skipped).toEqual([
      'It was deleted later by key_b.',
    ]);
    expect(deletedBy('operator', new Life(11, 'key_a'))).toEqual(nothing);
  });
});
