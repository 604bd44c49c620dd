import { describe, expect, test } from 'vitest';
import { resume, setPlan, suspend } from '../../src/accounts/accounts.ts';
import { takeDown } from '../../src/codes/takedown.ts';
import { created } from '../support/api.ts';
import { openTab } from '../support/console.ts';
import { blamedFields, unknownKey } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1';
const from = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '203.0.113.7', 'user-agent': iphone };
type Listed = { type: string; actor: string; data: Record<string, unknown> };
const typesOf = (events: Listed[]) => events.map(({ type }) => type);

describe('GET /v1/account/audit', () => {
  test('happy: keys, plan, the operator, sign-ins, failed ones and ended sessions, newest first', async () => {
    const { sql } = service.database;
    const { id, live, keys } = await service.account('free');
    const now = new Date();
    const key = (await live.post('/v1/account/keys', { name: 'CI' })).body;
    const code = await created(live);
    await setPlan(sql, id, 'enterprise', now);
    await takeDown(sql, code.id, 'Phishing', now);
    await suspend(sql, id, 'Unpaid', now);
    await resume(sql, id, now);
    const [phone, laptop] = [openTab(service.urls[0] as string), openTab(service.urls[0] as string)];
    await phone.signIn(key.key, {}, from);
    await laptop.signIn(keys.live, {}, from);
    await laptop.send('DELETE', '/console/api/sessions');
    await laptop.send('POST', '/console/sign-out', undefined, from);
    await live.delete(`/v1/account/keys/${key.id}`);
    await phone.signIn(key.key, {}, from);
    await phone.signIn(unknownKey(), {}, from);

    const { body } = await live.get('/v1/account/audit?limit=100');
    expect(typesOf(body.data)).toEqual([
      ...['sign_in.failed', 'key.revoked', 'session.ended', 'session.ended', 'session.created', 'session.created'],
      ...['account.resumed', 'account.suspended', 'code.disabled', 'account.plan_changed', 'key.created'],
      ...['key.created', 'key.created', 'account.created'],
    ]);
    expect(body.data[0]).toMatchObject({ actor: key.id, data: { mode: 'live', reason: 'key_revoked' } });
    expect(body.data[2]).toMatchObject({ data: { by: 'sign_out' } });
    expect(body.data[3]).toMatchObject({ data: { by: 'other_session', session_id: body.data[5].data.session_id } });
    expect(body.data[5]).toMatchObject({
      actor: key.id,
      data: {
        session_id: expect.stringMatching(/^sess_/),
        mode: 'live',
        by: 'key',
        device: 'iPhone',
        browser: 'Safari',
      },
    });
    expect(body.data[8]).toMatchObject({ actor: 'operator', qr_id: code.id, data: { to: 'Phishing' } });
    expect(body.pagination).toEqual({ page: 1, limit: 100, total: 14, total_pages: 1 });
    const stored = JSON.stringify([body, await sql`SELECT * FROM events WHERE stream = ${id}`]);
    for (const secret of ['203.0.113', 'Mozilla', key.key.slice(8), keys.live.slice(8)])
      expect(stored).not.toContain(secret);
    expect(JSON.stringify(body)).not.toContain('hash');

    const listed = async (query: string) => typesOf((await live.get(`/v1/account/audit?${query}`)).body.data);
    expect(await listed('actor=operator&type=account.suspended,account.resumed')).toEqual([
      ...['account.resumed', 'account.suspended'],
    ]);
    expect(await listed(`actor=${key.id}`)).toEqual(['sign_in.failed', 'session.created']);
    expect(await listed('limit=2&page=2')).toEqual(['session.ended', 'session.ended']);
    expect(await listed('to=2020-01-01')).toEqual([]);
    const [day] = body.data.at(-1).timestamp.split('T');
    expect(await listed(`from=${day}&type=account.created`)).toEqual(['account.created']);

    const exported = await live.get('/v1/account/audit?type=key.created', { accept: 'application/x-ndjson' });
    expect(exported.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const lines = exported.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual((await live.get('/v1/account/audit?type=key.created')).body.data.toReversed());
  });

  test('a flood of failed sign-ins adds at most ten events an hour', async () => {
    const { live } = await service.account();
    const old = (await live.post('/v1/account/keys', { name: 'Old' })).body;
    await live.delete(`/v1/account/keys/${old.id}`);
    const tab = openTab(service.urls[0] as string);
    for (let i = 0; i < 14; i++) await tab.signIn(old.key, {}, { ...from, 'x-forwarded-for': '203.0.113.9' });
    expect((await live.get('/v1/account/audit?type=sign_in.failed')).body.pagination.total).toBe(10);
  });

  test('security: a test key sees only what belongs to test mode', async () => {
    const { live, test: testing, keys } = await service.account();
    await live.post('/v1/account/keys', { name: 'Live one' });
    const { body: made } = await testing.post('/v1/account/keys', { name: 'Test one' });
    await testing.delete(`/v1/account/keys/${made.id}`);
    const tab = openTab(service.urls[0] as string);
    await tab.signIn(keys.live, {}, from);
    await openTab(service.urls[0] as string).signIn(keys.test, {}, from);
    const { body } = await testing.get('/v1/account/audit');
    expect(typesOf(body.data)).toEqual(['session.created', 'key.revoked', 'key.created', 'key.created']);
    expect(body.data.map(({ data }: Listed) => data['mode'] ?? data['key_id'])).toEqual([
      'test',
      made.id,
      'test',
      'test',
    ]);
    expect((await live.get('/v1/account/audit')).body.pagination.total).toBe(8);
  });

  test('errors: types, times and actors', async () => {
    const { live } = await service.account();
    for (const [query, field] of [
      ...[
        ['type=scan.created', 'type'],
        ['from=yesterday', 'from'],
        ['actor=a%20b', 'actor'],
        ['limit=501', 'limit'],
      ],
      ['from=2026-03-02&to=2026-03-01', 'from'],
    ]) {
      const refused = await live.get(`/v1/account/audit?${query}`);
      expect([refused.status, blamedFields(refused)], query).toEqual([400, [field]]);
    }
  });
});
