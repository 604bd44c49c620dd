import { describe, expect, test } from 'vitest';
import { accountEvents } from '../../events/account.ts';
import { type DomainEvent, erasedSchema, isCodeEvent, schemaOf, upcast } from '../../events/catalogue.ts';
import { codeEvents } from '../../events/code.ts';

const created = {
  account: 'acct_1',
  mode: 'live',
  name: 'Menu',
  destination_url: 'https://example.com',
  short_code: 'menu',
  status: 'active',
  style: {},
};
const event = (type: string, data: unknown) => ({ type, data }) as DomainEvent;

describe('what an event may carry', () => {
  test('a right one has the number of its schema', () => {
    expect(schemaOf(event('code_created', created))).toBe(2);
    expect(schemaOf(event('code_paused', {}))).toBe(1);
  });

  test.each([
    ['a missing field', 'code_created', { ...created, name: undefined }, '/name'],
    ['a field too many', 'code_created', { ...created, ip: '203.0.113.7' }, '/ip'],
    ['a status no code can begin in', 'code_created', { ...created, status: 'paused' }, '/status'],
    ['a style that does not exist', 'code_created', { ...created, style: { dotsType: 'stars' } }, '/style/dotsType'],
    [
      'a first revision, which only creation makes',
      'destination_changed',
      { from: 'a', to: 'b', revision: 1 },
      '/revision',
    ],
    ['a plan nobody sells', 'plan_changed', { from: 'free', to: 'gold' }, '/to'],
    [
      'a secret in place of its hash',
      'key_created',
      { key: 'key_1', name: 'x', mode: 'live', hash: 'sk_live_x', last4: 'x' },
      '/hash',
    ],
    ['no data at all', 'code_deleted', null, 'data'],
  ])('%s is refused, and named', (_, type, data, where) => {
    expect(() => schemaOf(event(type, data))).toThrow(`${type} does not match its schema: ${where}: `);
  });

  test.each(['code_exploded', 'constructor', '__proto__', 'toString'])('there is no %s', (type) => {
    expect(() => schemaOf(event(type, {}))).toThrow(`There is no event of type ${type}`);
    expect(() => upcast(type, 1, {})).toThrow(
      `An event of the unknown type ${type} was written by a newer version of Scanlog: upgrade this process first`,
    );
  });
});

describe('older events', () => {
  test('a code created before there were drafts was active', () => {
    const { status: _, ...old } = created;
    expect(upcast('code_created', 1, old)).toEqual({ type: 'code_created', data: { ...old, status: 'active' } });
  });

  test('an old one that does not become a right one is refused', () => {
    expect(() => upcast('code_created', 1, { name: 'Menu' })).toThrow(
      'code_created of schema 1 cannot be read: /account',
    );
  });

  test('one from a newer version is refused', () => {
    expect(() => upcast('code_created', 3, created)).toThrow(
      'An event of type code_created (version 3, this process reads up to 2) was written by a newer version of Scanlog: upgrade this process first',
    );
  });

  test('one from before the first is refused', () => {
    const renamed = { from: 'Menu', to: 'Card' };
    expect(() => upcast('code_renamed', 0, renamed)).toThrow('code_renamed of schema 0 has no way to 1');
  });

  test.each(['code_created', 'code_paused', 'key_created'])('%s without its data is an erased event', (type) => {
    expect(upcast(type, erasedSchema, {})).toEqual({ type: 'erased', data: { type } });
  });

  test('an erased event of an unknown type is of a newer version', () => {
    expect(() => upcast('code_exploded', erasedSchema, {})).toThrow('was written by a newer version of Scanlog');
  });

  test('today’s is read as it is', () => {
    expect(upcast('code_created', 2, created)).toEqual({ type: 'code_created', data: created });
  });
});

test('every event is named in the past tense, and of a code or of an account', () => {
  for (const type of Object.keys(codeEvents)) {
    expect(type).toMatch(/ed$/);
    expect(isCodeEvent(event(type, {})), type).toBe(true);
  }
  for (const type of Object.keys(accountEvents)) {
    expect(type).toMatch(/(ed|set)$/);
    expect(isCodeEvent(event(type, {})), type).toBe(false);
  }
});
