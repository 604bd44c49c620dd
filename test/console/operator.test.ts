import { describe, expect, test } from 'vitest';
import type { Service } from '../../src/api/service.ts';
import { operatorOperations } from '../../src/console/operator/serve.ts';
import { recordBackup } from '../../src/maintenance/backup-record.ts';
import { byOperators } from '../../src/operator/audit.ts';
import { created, type Json } from '../support/api.ts';
import { openTab } from '../support/console.ts';
import { eventually } from '../support/eventually.ts';
import { signedInPerson } from '../support/operators.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
const base = '/console/api/operator';
const operator = () => signedInPerson(service, { isOperator: true });
const openLink = async ({ short_code }: Json) => (await service.client(0).send(`/${short_code}`, {})).status;
const actorsOf = async (stream: string, type: string) =>
  (
    await service.database.sql<{ actor: string }[]>`
      SELECT actor FROM events WHERE stream = ${stream} AND type = ${type} ORDER BY version`
  ).map(({ actor }) => actor);

/** Method and path of each operation. */
const operations = operatorOperations({ addresses: {} } as unknown as Service).map(
  ({ method, path }) => [method, path.replace('/v1', base).replace(/:\w+/g, 'x')] as const,
);

describe('who is not an operator', () => {
  test('gets 403 from every operation, and 401 without a session', async () => {
    const account = await service.account();
    const [member, disabled] = [await signedInPerson(service), await operator()];
    await service.database.sql`UPDATE users SET disabled_at = now() WHERE id = ${disabled.id}`;
    const withKey = openTab(service.urls[0] as string);
    await withKey.signIn(account.keys.live);
    const stranger = openTab(service.urls[0] as string);
    expect(operations.length).toBeGreaterThan(15);
    for (const [method, path] of [...operations, ['GET', `${base}/unknown`] as const]) {
      for (const tab of [withKey, member.tab, disabled.tab]) {
        const { status } = await tab.send(method, path, method === 'GET' ? undefined : {});
        expect([401, 403], `${method} ${path}`).toContain(status);
        if (tab !== disabled.tab) expect(status, `${method} ${path}`).toBe(403);
      }
      await service.database.sql`DELETE FROM rate_windows`;
      expect((await stranger.send(method, path)).status, `${method} ${path}`).toBe(401);
    }
  });

  test('cannot make an operator send a change from another site', async () => {
    const { tab } = await operator();
    const { id } = await service.account();
    const path = `${base}/accounts/${id}/suspension`;
    const plain = { 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' };
    expect((await tab.send('POST', path, { reason: 'Spam' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(401);
    expect((await tab.send('DELETE', path, undefined, plain)).status).toBe(401);
    expect(await actorsOf(id, 'account_suspended')).toEqual([]);
  });

  test('no longer is after the flag was taken away, within the next request', async () => {
    const [one, other] = [await operator(), await operator()];
    expect((await other.tab.get(`${base}/users`)).status).toBe(200);
    expect((await one.tab.send('PATCH', `${base}/users/${other.id}`, { is_operator: false })).body).toMatchObject({
      is_operator: false,
    });
    expect((await other.tab.get(`${base}/users`)).status).toBe(403);
  });
});

describe('accounts', () => {
  test('are found by id, name and address of a member, with plan and usage', async () => {
    const { tab } = await operator();
    const account = await service.account('pro');
    const member = await signedInPerson(service, { account: account.id });
    await created(account.live);
    await created(account.test);
    for (const search of [account.id, `${member.id}@EXAMPLE.com`]) {
      const { body } = await tab.get(`${base}/accounts?search=${encodeURIComponent(search)}`);
      expect(body).toMatchObject({
        data: [{ id: account.id, plan: 'pro', suspended: null, live_codes: 1, test_codes: 1, members: 1, domains: 0 }],
        next: null,
      });
    }
    expect((await tab.get(`${base}/accounts?search=100%25`)).body.data, 'wildcards are letters').toEqual([]);
    const { body } = await tab.get(`${base}/accounts/${account.id}`);
    expect(body).toMatchObject({
      account: { id: account.id },
      limits: { qr_codes: expect.any(Number) },
      members: [{ id: member.id, name: member.name, role: 'viewer' }],
    });
    expect(body.keys.map(({ mode }: Json) => mode).toSorted()).toEqual(['live', 'test']);
    expect(JSON.stringify(body)).not.toContain('hash');
  });

  test('are suspended and resumed at once, get another plan, and the person is recorded as the actor', async () => {
    const { tab, id: user } = await operator();
    const account = await service.account('pro');
    const code = await created(account.live);
    const path = `${base}/accounts/${account.id}`;
    expect(await openLink(code)).toBe(302);
    expect((await tab.send('POST', `${path}/suspension`, { reason: ' ' })).status).toBe(400);
    const suspended = await tab.send('POST', `${path}/suspension`, { reason: 'Unpaid' });
    expect(suspended.body).toMatchObject({ suspended: { reason: 'Unpaid' } });
    // This instance, without waiting.
    expect(await openLink(code)).toBe(410);
    expect((await account.live.get('/v1/account')).status).toBe(403);
    expect((await tab.get(`${base}/accounts?suspended=true&search=${account.id}`)).body.data).toHaveLength(1);
    expect((await tab.send('DELETE', `${path}/suspension`)).body).toMatchObject({ suspended: null });
    expect(await openLink(code)).toBe(302);
    expect((await tab.send('PATCH', path, { plan: 'gold' })).status).toBe(400);
    expect((await tab.send('PATCH', path, { plan: 'business' })).body).toMatchObject({ plan: 'business' });
    for (const type of ['account_suspended', 'account_resumed', 'plan_changed'])
      expect(await actorsOf(account.id, type)).toEqual([user]);
    const audit = await tab.get(`${path}/audit?limit=2`);
    expect(audit.body.data).toMatchObject([{ type: 'account.plan_changed', actor: user }, { type: 'account.resumed' }]);
    const { data } = (await account.live.get('/v1/account/audit?limit=1')).body;
    expect(data, 'the owner does not learn who it was').toMatchObject([{ actor: user, actor_name: 'the operator' }]);
  });

  test('are deleted only with their id typed', async () => {
    const { tab, id: user } = await operator();
    const account = await service.account();
    const code = await created(account.live);
    const path = `${base}/accounts/${account.id}/deletion`;
    expect((await tab.send('POST', path, { confirm: 'yes' })).status).toBe(400);
    expect((await account.live.get('/v1/account')).status).toBe(200);
    expect((await tab.send('POST', path, { confirm: account.id })).body).toEqual({ deleted: true, id: account.id });
    expect((await account.live.get('/v1/account')).status).toBe(401);
    expect(await openLink(code)).toBe(410);
    expect((await tab.get(`${base}/accounts/${account.id}`)).status).toBe(404);
    expect(await actorsOf(account.id, 'account_deleted')).toEqual([user]);
  });
});

describe('codes of all accounts', () => {
  test('are found by short code, link, id and destination; rules and fallbacks where asked for', async () => {
    const { tab } = await operator();
    const account = await service.account();
    const plain = await created(account.live, { destination_url: 'https://phish.example/one' });
    const ruled = await created(account.live, {
      destination_url: 'https://good.example',
      fallback_url: 'https://phish.example/two',
      expires_at: '2099-01-01T00:00:00Z',
    });
    const find = async (query: string) => {
      const { status, body } = await tab.get(`${base}/codes?${query}`);
      expect(status, JSON.stringify(body)).toBe(200);
      return body.data.map(({ id }: Json) => id);
    };
    for (const search of [plain.id, plain.short_code, plain.short_url, 'HTTPS://phish.example/ONE'])
      expect(await find(`search=${encodeURIComponent(search)}`), search).toEqual([plain.id]);
    expect(await find('search=phish.example')).toEqual([plain.id]);
    expect(await find('search=phish.example&everywhere=true')).toEqual([ruled.id, plain.id]);
    expect((await tab.get(`${base}/codes?search=zz`)).status, 'too short for a search').toBe(400);
  });

  test('are taken down and put back at once, and listed while they are down', async () => {
    const { tab, id: user } = await operator();
    const account = await service.account();
    const code = await created(account.live);
    const path = `${base}/codes/${code.id}/takedown`;
    expect(await openLink(code)).toBe(302);
    expect((await tab.send('POST', path, { reason: 'Phishing' })).body).toMatchObject({
      id: code.id,
      disabled: { reason: 'Phishing' },
      account: { id: account.id, is_suspended: false },
    });
    expect(await openLink(code)).toBe(410);
    const down = (await tab.get(`${base}/codes`)).body.data;
    expect(down.map(({ id }: Json) => id)).toContain(code.id);
    expect((await tab.send('DELETE', path)).body).toMatchObject({ disabled: null });
    expect(await openLink(code)).toBe(302);
    expect((await tab.send('POST', `${base}/codes/qr_unknown/takedown`, { reason: 'x' })).status).toBe(404);
    expect([await actorsOf(code.id, 'code_disabled'), await actorsOf(code.id, 'code_enabled')]).toEqual([
      [user],
      [user],
    ]);
  });
});

describe('blocked hosts', () => {
  test('end links at once until they are unblocked, in pages of 50', async () => {
    const { tab } = await operator();
    const account = await service.account();
    const code = await created(account.live, { destination_url: 'https://shop.bad.example/x' });
    expect((await tab.send('POST', `${base}/hosts`, { host: 'https://bad.example' })).status).toBe(400);
    const blocked = await tab.send('POST', `${base}/hosts`, { host: 'BAD.example' });
    expect([blocked.status, blocked.body.host]).toEqual([201, 'bad.example']);
    expect(await openLink(code)).toBe(410);
    expect((await tab.send('DELETE', `${base}/hosts/bad.example`)).status).toBe(200);
    expect((await tab.send('DELETE', `${base}/hosts/bad.example`)).status, 'once').toBe(404);
    expect(await openLink(code)).toBe(302);

    const { sql } = service.database;
    await sql`
      INSERT INTO blocked_hosts
      SELECT 'paged' || lpad(i::text, 3, '0') || '.example', now() FROM generate_series(1, 60) AS i`;
    const first = (await tab.get(`${base}/hosts?search=paged`)).body;
    expect([first.data.length, first.next]).toEqual([50, 'paged050.example']);
    const second = (await tab.get(`${base}/hosts?search=paged&after=${first.next}`)).body;
    expect([second.data.length, second.data[0].host, second.next]).toEqual([10, 'paged051.example', null]);
    await sql`DELETE FROM blocked_hosts WHERE host LIKE 'paged%'`;
  });
});

describe('people', () => {
  test('are disabled, which ends their sessions, and enabled; the last operator stays one', async () => {
    await service.database.sql`UPDATE users SET is_operator = false`;
    const [boss, person] = [await operator(), await signedInPerson(service)];
    const change = (id: string, body: object) => boss.tab.send('PATCH', `${base}/users/${id}`, body);
    expect((await boss.tab.get(`${base}/users?search=${person.id}@EXAMPLE`)).body.data).toMatchObject([
      { id: person.id, is_you: false, is_operator: false, is_disabled: false, accounts: [{ id: person.account }] },
    ]);
    expect((await change(person.id, { is_disabled: true })).body).toMatchObject({ is_disabled: true });
    expect((await person.tab.get('/console/api/account')).status).toBe(401);
    expect((await change(person.id, { is_disabled: false })).body).toMatchObject({ is_disabled: false });
    expect((await change(boss.id, { is_disabled: true })).status, 'not yourself').toBe(400);
    expect((await change(boss.id, { is_operator: false })).status, 'the last one').toBe(409);
    expect((await change('usr_unknown', { is_operator: true })).status).toBe(404);
    expect((await change(person.id, { is_operator: true })).status).toBe(200);
    expect((await change(boss.id, { is_operator: false })).status).toBe(200);
    expect((await boss.tab.get(`${base}/users`)).status).toBe(403);
  });

  test('are never left without an operator, also if two remove each other at the same time', async () => {
    const { sql } = service.database;
    await sql`UPDATE users SET is_operator = false`;
    const [one, other] = [await operator(), await operator()];
    const remove = (by: typeof one, id: string) => by.tab.send('PATCH', `${base}/users/${id}`, { is_operator: false });
    const responses = await Promise.all([remove(one, other.id), remove(other, one.id)]);
    // The second is refused as the last operator, or because the first was faster than its admission.
    expect(responses.map(({ status }) => status).toSorted()).toEqual([
      200,
      expect.toSatisfy((status) => status >= 403),
    ]);
    const left = await sql<{ id: string }[]>`SELECT id FROM users WHERE is_operator`;
    expect(left).toHaveLength(1);
    const last = left[0]?.id === one.id ? one : other;
    const refused = await last.tab.send('PATCH', `${base}/users/${last.id}`, { is_operator: false });
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('No one would be operator'),
    ]);
    const deleted = await last.tab.send('DELETE', '/console/api/me');
    expect([deleted.status, deleted.body.error.message]).toEqual([
      409,
      expect.stringContaining('No one would be operator'),
    ]);
    expect((await last.tab.get(`${base}/users`)).status, 'nothing was done').toBe(200);
  });
});

test('a link for a new password is created, and sign-up is explained', async () => {
  const [boss, person] = [await operator(), await signedInPerson(service)];
  const link = await boss.tab.send('POST', `${base}/users/${person.id}/reset-link`);
  expect([link.status, link.body.url]).toEqual([201, expect.stringMatching(/\/console\/reset#\w{43}$/)]);
  expect((await boss.tab.send('POST', `${base}/users/usr_unknown/reset-link`)).status).toBe(404);
  expect((await boss.tab.get(`${base}/sign-up`)).body).toEqual({ sign_up: 'invite', plan: 'free' });
  const [last] = (await boss.tab.get(`${base}/audit`)).body.data;
  expect(last).toMatchObject({ type: 'reset_link_created', actor: boss.id, subject: { id: person.id } });
  expect(JSON.stringify(last), 'the token is in no log').not.toContain(link.body.url.split('#')[1]);
});

test('a change needs a proof of the last 15 minutes, a read does not', async () => {
  const { tab, id } = await operator();
  await service.database.sql`
    UPDATE console_sessions SET proven_at = now() - interval '16 minutes', last_proof_at = NULL WHERE user_id = ${id}`;
  expect((await tab.get(`${base}/users`)).status).toBe(200);
  for (const [method, path] of operations.filter(([method]) => method !== 'GET')) {
    const { status, body } = await tab.send(method, path, {});
    expect([status, body.error.code], `${method} ${path}`).toEqual([403, 'reauthentication_required']);
  }
  const { sql } = service.database;
  const unproven = await signedInPerson(service);
  const change = () => tab.send('PATCH', `${base}/users/${unproven.id}`, { is_disabled: true });
  expect((await change()).status).toBe(403);
  expect(
    [...(await sql`SELECT FROM users WHERE id = ${unproven.id} AND disabled_at IS NULL`)],
    'unchanged',
  ).toHaveLength(1);
  await sql`UPDATE console_sessions SET last_proof_at = now() WHERE user_id = ${id}`;
  expect((await change()).status, 'after a proof').toBe(200);
});

describe('the audit of operators', () => {
  test('has every change with who and when, newest first, also of commands', async () => {
    const { tab, id, name } = await operator();
    const [account, person] = [await service.account('pro'), await signedInPerson(service)];
    await tab.send('PATCH', `${base}/accounts/${account.id}`, { plan: 'free' });
    await tab.send('POST', `${base}/hosts`, { host: 'audited.example' });
    await tab.send('PATCH', `${base}/users/${person.id}`, { is_disabled: true });
    const { body } = await tab.get(`${base}/audit`);
    expect(body.data.slice(0, 3)).toMatchObject([
      { type: 'user_disabled', subject: { kind: 'user', id: person.id, name: person.name } },
      { type: 'destination_blocked', subject: { kind: 'host', id: 'audited.example' } },
      { type: 'plan_changed', subject: { kind: 'account', id: account.id, name: 'Test' }, detail: 'pro → free' },
    ]);
    for (const action of body.data.slice(0, 3)) expect(action).toMatchObject({ actor: id, actor_name: name });
    expect(body.data).toContainEqual(expect.objectContaining({ type: 'account_created', actor: 'operator' }));
    const mine = (await tab.get(`${base}/audit?actor=${id}`)).body.data;
    expect(mine).toHaveLength(3);
  });

  test('is read through its own index, whose condition is the same', async () => {
    const plan = await service.database.sql.begin(async (tx) => {
      await tx`SET LOCAL enable_seqscan = off`;
      return tx<{ 'QUERY PLAN': string }[]>`
        EXPLAIN SELECT * FROM events WHERE ${tx.unsafe(byOperators)} ORDER BY position DESC LIMIT 51`;
    });
    expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain('events_of_operators');
  });
});

test('health shows the process with its spool and disk, the lag, and the last backup', async () => {
  const { tab } = await operator();
  await recordBackup(service.database.sql, { position: 7, rows: 9 }, new Date());
  await eventually(async () => {
    const { body } = await tab.get(`${base}/health`);
    expect(body).toMatchObject({
      version: expect.any(String),
      position: expect.any(Number),
      projections: expect.arrayContaining([{ projection: 'analytics', position: 0, lag: expect.any(Number) }]),
      instances: [
        {
          pid: process.pid,
          roles: ['api', 'edge'],
          is_silent: false,
          spool: { bytes: expect.any(Number) },
          disk: { free: expect.any(Number), size: expect.any(Number) },
        },
      ],
      domains: { active: 0, failing: 0, pending: 0, problems: [] },
      last_backup: { position: 7, rows: 9 },
    });
  });
});
