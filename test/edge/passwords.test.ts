import { beforeAll, describe, expect, test } from 'vitest';
import { PasswordGate } from '../../src/edge/password-gate.ts';
import { hashPassword } from '../../src/lib/passwords.ts';
import { created, newCode, type ReceivedResponse } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { manualTimers } from '../support/timers.ts';

const service = useService({ instances: 2 });
let account: TestAccount;
beforeAll(async () => {
  account = await service.account('enterprise');
});

const open = (path: string, init: RequestInit = {}, instance = 0): Promise<ReceivedResponse> =>
  service.client(instance).send(path, init);

let visitors = 0;
/** Sends the form as a visitor of its own. */
const enter = (path: string, password: string, instance = 0): Promise<ReceivedResponse> =>
  open(
    path,
    {
      method: 'POST',
      body: new URLSearchParams({ password }),
      // Scans by bots do not count against a limit.
      headers: { 'x-forwarded-for': `203.0.113.${++visitors}`, 'user-agent': 'Mozilla/5.0 (iPhone) Safari/604.1' },
    },
    instance,
  );

const scansOf = async (id: string) => {
  await service.allStored();
  const [row] = await service.database.sql<[{ count: number }]>`SELECT count(*) FROM scans WHERE code = ${id}`;
  return row.count;
};

describe('a code with a password', () => {
  test('answers with a form in the language of the guest, and opens with the password', async () => {
    const code = await created(account.live, { password: 'Sesam öffne dich!' });
    expect(code.has_password).toBe(true);
    const form = await open(`/${code.short_code}`, { headers: { 'accept-language': 'de' } });
    expect([form.status, form.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    expect(form.text).toContain('<form method="post">');
    expect(form.text).toContain('Passwort');
    const wrong = await enter(`/${code.short_code}`, 'sesam');
    expect([wrong.status, wrong.headers.get('location')]).toEqual([403, null]);
    expect(await scansOf(code.id), 'nothing is recorded before it opens').toBe(0);
    const opened = await enter(`/${code.short_code}`, 'Sesam öffne dich!');
    expect([opened.status, opened.headers.get('location')]).toEqual([303, 'https://example.com/menu']);
    expect(await scansOf(code.id)).toBe(1);
  });

  test('says in JSON that it needs one, and HEAD learns nothing else', async () => {
    const code = await created(account.live, { password: 'x' });
    const json = await open(`/${code.short_code}`, { headers: { accept: 'application/json' } });
    expect([json.status, (json.body as { error: { code: string } }).error.code]).toEqual([403, 'password_required']);
    const head = await open(`/${code.short_code}`, { method: 'HEAD' });
    expect([head.status, head.headers.get('location')]).toEqual([200, null]);
  });

  test('never shows the password or its hash', async () => {
    const code = await created(account.live, { password: 'visible-nowhere' });
    const { text } = await account.live.get(`/v1/qrcodes/${code.id}`);
    const history = await account.live.get(`/v1/qrcodes/${code.id}/history`);
    const rows = await service.database.sql<{ data: unknown }[]>`SELECT data FROM events WHERE stream = ${code.id}`;
    for (const shown of [text, history.text, JSON.stringify(rows)]) {
      expect(shown).not.toContain('visible-nowhere');
      expect(shown).not.toContain('argon2');
    }
    expect(JSON.parse(text).has_password).toBe(true);
  });

  test('gets it, another one and none by PATCH, on every instance', async () => {
    const code = await created(account.live);
    const path = `/${code.short_code}`;
    for (const instance of [0, 1]) expect((await open(path, {}, instance)).status).toBe(302);
    await account.live.patch(`/v1/qrcodes/${code.id}`, { password: 'first' });
    expect((await open(path)).status, 'the instance that took the change').toBe(200);
    await eventually(async () => expect((await open(path, {}, 1)).status).toBe(200));
    await account.live.patch(`/v1/qrcodes/${code.id}`, { password: 'second' });
    expect((await enter(path, 'first')).status).toBe(403);
    expect((await enter(path, 'second')).status).toBe(303);
    await eventually(async () => expect((await enter(path, 'second', 1)).status).toBe(303));
    const removed = await account.live.patch(`/v1/qrcodes/${code.id}`, { password: null });
    expect(removed.body.has_password).toBeUndefined();
    for (const instance of [0, 1])
      await eventually(async () => expect((await open(path, {}, instance)).status).toBe(302));
    expect((await enter(path, 'second')).status, 'only a form is posted').toBe(405);
    const { body } = await account.live.get(`/v1/qrcodes/${code.id}/history`);
    expect(body.data.map(({ field, from, to }: Record<string, unknown>) => [field, from, to]).slice(0, 3)).toEqual([
      ['password', 'set', null],
      ['password', null, 'set'],
      ['password', null, 'set'],
    ]);
  });

  test('changes nothing if it has that password already', async () => {
    const code = await created(account.live, { password: 'same' });
    await account.live.patch(`/v1/qrcodes/${code.id}`, { password: 'same' });
    expect((await account.live.get(`/v1/qrcodes/${code.id}`)).body.version).toBe(1);
  });

  test('that is paused, ended or deleted says so instead of asking', async () => {
    const paused = await created(account.live, { password: 'x' });
    await account.live.patch(`/v1/qrcodes/${paused.id}`, { active: false });
    const ended = await created(account.live, { password: 'x', expires_at: '2020-01-01T00:00:00Z' });
    const deleted = await created(account.live, { password: 'x' });
    await account.live.delete(`/v1/qrcodes/${deleted.id}`);
    expect((await open(`/${paused.short_code}`)).status).toBe(404);
    expect((await open(`/${ended.short_code}`)).status).toBe(404);
    expect((await open(`/${deleted.short_code}`)).status).toBe(410);
    const hashes = await service.database.sql`SELECT FROM code_passwords WHERE code = ${deleted.id}`;
    expect(hashes).toHaveLength(0);
  });

  test('counts only opened scans against its limit', async () => {
    const code = await created(account.live, { password: 'x', max_scans: 1 });
    expect((await open(`/${code.short_code}`)).status).toBe(200);
    expect((await enter(`/${code.short_code}`, 'x')).status).toBe(303);
    expect((await enter(`/${code.short_code}`, 'x')).status).toBe(404);
  });

  test('of 1 to 128 characters, and at most 20 in a bulk create', async () => {
    for (const password of ['', 'x'.repeat(129), 5]) {
      const { status, body } = await account.live.post('/v1/qrcodes', newCode({ password }));
      expect([status, body.error.details[0].field], String(password).slice(0, 9)).toEqual([400, 'password']);
    }
    const many = Array.from({ length: 21 }, () => newCode({ password: 'x' }));
    const { status, body } = await account.live.post('/v1/qrcodes/bulk', { qrcodes: many });
    expect([status, body.error.details[0].index]).toEqual([400, 20]);
  });

  test('is not copied by a duplicate', async () => {
    const code = await created(account.live, { password: 'x' });
    const { body } = await account.live.post(`/v1/qrcodes/${code.id}/duplicate`, {});
    expect(body.has_password).toBeUndefined();
  });
});

describe('the tries of a visitor', () => {
  const trusted = { v4: [], v6: [] };
  const form = (body: string) =>
    new Request('http://qr.test/menu', { method: 'POST', body, headers: { 'content-length': String(body.length) } });

  test('are five a minute for each code and network', async () => {
    const timers = manualTimers();
    const hash = await hashPassword('right');
    const gate = new PasswordGate(trusted, timers);
    const attempt = (password: string, { peer = '203.0.113.7', code = 'qr_1' } = {}) =>
      gate.open(form(`password=${password}`), peer, { code, hash });
    for (let i = 0; i < 5; i++) expect(await attempt('guess')).toBe('wrong');
    expect(await attempt('right'), 'the sixth is not compared').toBe('too_many');
    expect(await attempt('right', { peer: '198.51.100.1' })).toBe('open');
    expect(await attempt('right', { code: 'qr_2' })).toBe('open');
    timers.advance(60_000);
    expect(await attempt('right')).toBe('open');
  });

  test('are not counted for a form without a password, or one that is too large', async () => {
    const gate = new PasswordGate(trusted, manualTimers());
    for (const body of ['', 'password=', 'other=1', `password=${'x'.repeat(5_000)}`])
      expect(await gate.open(form(body), '203.0.113.7', { code: 'qr_1', hash: '' })).toBe('asked');
  });

  test('open nothing if the hash was lost', async () => {
    const gate = new PasswordGate(trusted, manualTimers());
    expect(await gate.open(form('password=x'), '203.0.113.7', { code: 'qr_1', hash: '' })).toBe('wrong');
  });
});
