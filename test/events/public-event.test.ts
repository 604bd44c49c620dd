import { Value } from '@sinclair/typebox/value';
import { describe, expect, test } from 'vitest';
import { accountEvents } from '../../events/account.ts';
import { codeEvents } from '../../events/code-events.ts';
import type { LogEntry } from '../../events/entry.ts';
import { audienceOf, publicEventOf, publicTypeOf } from '../../events/public-event.ts';
import { hiddenEntries, publicTypes } from '../../events/public-types.ts';
import { lineOf, ScanLine } from '../../events/scan-line.ts';
import { serviceEvents } from '../../events/service.ts';

const at = new Date('2026-03-01T09:30:00.000Z');
const visitor = '0123456789abcdef0123456789abcdef';
const scan = new ScanLine(
  lineOf({
    type: 'code_scanned',
    position: 7,
    id: 'scan_0VMOcq2hE3kx0dTtWq8LbY',
    code: 'qr_1',
    account: 'acct_1',
    mode: 'live',
    occurred_at: at,
    country: 'AT',
    region: 'Vienna',
    city: 'Vienna',
    device: 'ios',
    browser: 'safari',
    is_bot: false,
    visitor,
    is_unique: true,
    revision: 3,
    rule: 'r1',
    variant: 'v1',
  }),
);

const change = (stream: string, type: string, data: object) =>
  ({
    type,
    data,
    stream,
    version: 2,
    position: 8,
    id: 'evt_0VMPcq2hE3kx0dTtWq8LbY',
    actor: 'key_1',
    occurred_at: at,
  }) as unknown as LogEntry;

describe('a log entry as its owner sees it', () => {
  test('every type of entry is shown as one type, or hidden on purpose', () => {
    const all = ['code_scanned', ...[codeEvents, accountEvents, serviceEvents].flatMap(Object.keys), 'erased'];
    const hidden: string[] = [...hiddenEntries];
    expect(all.filter((type) => publicTypeOf(type) === undefined).toSorted()).toEqual(hidden.toSorted());
  });

  test('a scan: the scan record, without visitor and revision', () => {
    expect(publicEventOf(scan)).toEqual({
      id: 'evt_0VMOcq2hE3kx0dTtWq8LbY',
      type: 'scan.created',
      timestamp: at,
      actor: 'visitor',
      qr_id: 'qr_1',
      data: {
        qr_id: 'qr_1',
        id: 'scan_0VMOcq2hE3kx0dTtWq8LbY',
        timestamp: at.toISOString(),
        country: 'AT',
        region: 'Vienna',
        city: 'Vienna',
        device: 'ios',
        browser: 'safari',
        is_unique: true,
        is_bot: false,
        rule: 'r1',
        variant: 'v1',
      },
    });
    expect(audienceOf(scan)).toEqual({ kind: 'owner', account: 'acct_1', mode: 'live' });
  });

  test('a change of a code: what changed, from what to what', () => {
    const renamed = change('qr_1', 'code_renamed', { from: 'Old', to: 'New' });
    expect(publicEventOf(renamed)).toEqual({
      id: 'evt_0VMPcq2hE3kx0dTtWq8LbY',
      type: 'code.updated',
      timestamp: at,
      actor: 'key_1',
      qr_id: 'qr_1',
      data: { qr_id: 'qr_1', field: 'name', from: 'Old', to: 'New' },
    });
    expect(audienceOf(renamed)).toEqual({ kind: 'code', code: 'qr_1' });
  });

  test('a key: not its hash', () => {
    const data = { key: 'key_2', name: 'CI', mode: 'test', hash: 'ab'.repeat(32), last4: 'x7Qa' };
    const created = change('acct_1', 'key_created', data);
    expect(publicEventOf(created)).toMatchObject({ type: 'key.created', qr_id: undefined });
    expect(publicEventOf(created)?.data).toEqual({ key_id: 'key_2', name: 'CI', mode: 'test', last4: 'x7Qa' });
    expect(audienceOf(created)).toEqual({ kind: 'owner', account: 'acct_1', mode: 'test' });
    const revoked = change('acct_1', 'key_revoked', { key: 'key_2' });
    expect(audienceOf(revoked)).toEqual({ kind: 'key', account: 'acct_1', key: 'key_2' });
  });

  test('events of the whole account, and of none', () => {
    const plan = change('acct_1', 'plan_changed', { from: 'free', to: 'pro' });
    expect(audienceOf(plan)).toEqual({ kind: 'account', account: 'acct_1' });
    const blocked = change('service', 'destination_blocked', { host: 'bad.example' });
    expect([publicEventOf(blocked), audienceOf(blocked)]).toEqual([undefined, { kind: 'none' }]);
  });

  test('data matches the schema of its type', () => {
    const entries = [
      change('acct_1', 'timezone_changed', { from: 'UTC', to: 'Europe/Vienna' }),
      change('acct_1', 'guest_page_changed', { from: null, to: { logo: 'logo_1' } }),
      change('acct_1', 'webhook_set', { mode: 'live', url: 'https://example.com' }),
      change('qr_1', 'code_paused', {}),
    ];
    for (const event of entries.map(publicEventOf))
      expect(event && Value.Check(publicTypes[event.type].data, event.data), event?.type).toBe(true);
  });
});
