import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { accountEvents } from '../../events/account.ts';
import { type DomainEvent, erasedSchema, isCodeEvent, schemaOf, upcast } from '../../events/catalogue.ts';
import { codeEvents } from '../../events/code-events.ts';

const created = {
  account: 'acct_1',
  mode: 'live',
  name: 'Menu',
  destination_url: 'https://example.com',
  short_code: 'menu',
  short_code_given: true,
  status: 'active',
  style: {},
};
const noLimits = { scopes: null, expires_at: null, allowed_cidrs: null };
const event = (type: string, data: unknown) => ({ type, data }) as DomainEvent;

describe('validation', () => {
  test('a valid event has the number of its schema', () => {
    expect(schemaOf(event('code_created', created))).toBe(9);
    expect(schemaOf(event('code_paused', {}))).toBe(1);
  });

  test.each([
    ['a missing field', 'code_created', { ...created, name: undefined }, '/name'],
    ['an unknown field', 'code_created', { ...created, ip: '203.0.113.7' }, '/ip'],
    ['a status that a new code cannot have', 'code_created', { ...created, status: 'paused' }, '/status'],
    ['an unknown style value', 'code_created', { ...created, style: { dotsType: 'stars' } }, '/style/dotsType'],
    ['revision 1, which only creation has', 'destination_changed', { from: 'a', to: 'b', revision: 1 }, '/revision'],
    ['an unknown plan', 'plan_changed', { from: 'free', to: 'gold' }, '/to'],
    [
      'a secret instead of its hash',
      'key_created',
      { key: 'key_1', name: 'x', mode: 'live', hash: 'sk_live_x', last4: 'x', ...noLimits },
      '/hash',
    ],
    ['no data', 'code_deleted', null, 'data'],
  ])('%s is rejected, naming the field', (_, type, data, where) => {
    expect(() => schemaOf(event(type, data))).toThrow(`${type} does not match its schema: ${where}: `);
  });

  test.each(['code_exploded', 'constructor', '__proto__', 'toString'])('rejects the unknown type %s', (type) => {
    expect(() => schemaOf(event(type, {}))).toThrow(`There is no event of type ${type}`);
    expect(() => upcast(type, 1, {})).toThrow(
      `An event of the unknown type ${type} was written by a newer version of Scanlog: upgrade this process first`,
    );
  });
});

describe('upcasting', () => {
  test('code_created of schema 1 becomes active', () => {
    const { status: _, short_code_given: __, ...old } = created;
    expect(upcast('code_created', 1, old)).toEqual({
      type: 'code_created',
      data: { ...old, status: 'active', short_code_given: null },
    });
  });

  test('schemas without the origin of the short code leave it unknown', () => {
    const { short_code_given: _, ...old } = created;
    expect(upcast('code_created', 2, old)).toEqual({ type: 'code_created', data: { ...old, short_code_given: null } });
    const erased = { account: 'acct_1', mode: 'live', short_code: 'menu' };
    expect(upcast('code_erased', 1, erased)).toEqual({
      type: 'code_erased',
      data: { ...erased, short_code_given: null },
    });
  });

  test.each([3, 4, 5, 6, 7, 8])('code_created of schema %i has none of the fields that were added since', (schema) => {
    expect(upcast('code_created', schema, created)).toEqual({ type: 'code_created', data: created });
  });

  test('tags of before their spelling was kept stay as they are', () => {
    const data = { from: null, to: ['summer'] };
    expect(upcast('tags_changed', 1, data)).toEqual({ type: 'tags_changed', data });
  });

  test('a key of before limits has full access', () => {
    const old = { key: 'key_1', name: 'till', mode: 'live', hash: 'ab'.repeat(32), last4: 'wxyz' };
    const data = { ...old, ...noLimits };
    expect(upcast('key_created', 1, old)).toEqual({ type: 'key_created', data });
  });

  test('a sign-in that failed stays as it is', () => {
    const data = { mode: 'live', reason: 'key_revoked' };
    expect(upcast('sign_in_failed', 1, data)).toEqual({ type: 'sign_in_failed', data });
  });

  test('rejects an old event that is invalid after upcasting', () => {
    expect(() => upcast('code_created', 1, { name: 'Menu' })).toThrow(
      'code_created of schema 1 cannot be read: /account',
    );
  });

  test('rejects a newer schema', () => {
    expect(() => upcast('code_created', 10, created)).toThrow(
      'An event of type code_created (version 10, this process reads up to 9) was written by a newer version of Scanlog: upgrade this process first',
    );
  });

  test('rejects a schema before the first', () => {
    const renamed = { from: 'Menu', to: 'Card' };
    expect(() => upcast('code_renamed', 0, renamed)).toThrow('code_renamed of schema 0 has no upcaster to schema 1');
  });

  test.each(['code_created', 'code_paused', 'key_created'])('%s without its data is an erased event', (type) => {
    expect(upcast(type, erasedSchema, {})).toEqual({ type: 'erased', data: { type } });
  });

  test('an erased event of an unknown type is rejected as newer', () => {
    expect(() => upcast('code_exploded', erasedSchema, {})).toThrow('was written by a newer version of Scanlog');
  });

  test('a session of schema 1 was opened with a key, on no new device', () => {
    const session = { session: 'sess_1', mode: 'live', by: 'link', device: 'Mac', browser: 'Safari' };
    expect(upcast('session_started', 1, session).data).toEqual({ ...session, is_new_device: false });
    const ended = { session: 'sess_1', mode: 'live', by: 'sign_out' };
    expect(upcast('session_ended', 1, ended).data).toEqual(ended);
  });

  test('reports and alerts of before they had a language are in English', () => {
    const report = {
      report: 'rpt_1',
      mode: 'live',
      name: 'Weekly',
      every: 'week',
      timezone: 'UTC',
      format: 'pdf',
      recipients: 1,
      codes: null,
      tags: ['menu'],
    };
    expect(upcast('report_created', 1, report).data).toEqual({ ...report, language: 'en' });
    const alert = { alert: 'alr_1', mode: 'live', kind: 'silent', name: 'Menu', codes: null, tags: null };
    const settings = { percent: 90, active: true };
    expect(upcast('alert_created', 1, { ...alert, ...settings }).data).toEqual({
      ...alert,
      ...settings,
      language: 'en',
    });
    for (const [type, id] of [
      ['report_changed', { report: 'rpt_1' }],
      ['alert_changed', { alert: 'alr_1' }],
      ['share_changed', { share: 'shr_1' }],
    ] as const) {
      const change = { ...id, mode: 'live', from: { name: 'Menu' }, to: { name: 'Card' } };
      expect(upcast(type, 1, change).data, type).toEqual(change);
    }
  });

  test('the current schema is returned unchanged', () => {
    expect(upcast('code_created', 4, created)).toEqual({ type: 'code_created', data: created });
  });
});

test('a process that loads nothing but the catalogue reads an event with a time', () => {
  const rules = [{ id: 'rule_1', when: { until: '2027-01-01T00:00:00.000Z' }, destination_url: 'https://example.com' }];
  const catalogue = join(import.meta.dirname, '../../events/catalogue.ts');
  const program = `const { upcast } = await import(${JSON.stringify(catalogue)});
    console.log(JSON.stringify(upcast('code_created', 5, ${JSON.stringify({ ...created, rules })}).data.rules))`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  expect(stdout === '' ? stderr : JSON.parse(stdout)).toEqual(rules);
});

test('every event type is in the past tense and belongs to a code or an account', () => {
  for (const type of Object.keys(codeEvents)) {
    expect(type).toMatch(/ed$/);
    expect(isCodeEvent(event(type, {})), type).toBe(true);
  }
  for (const type of Object.keys(accountEvents)) {
    expect(type).toMatch(/(ed|set)$/);
    expect(isCodeEvent(event(type, {})), type).toBe(false);
  }
});
