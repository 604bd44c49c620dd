import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { webhookEventTypes } from '../../events/webhooks/webhook-events.ts';
import { resume, suspend } from '../../src/accounts/accounts.ts';
import { readStream } from '../../src/log/read.ts';
import { startReplay as startReplayOf } from '../../src/webhooks/replays.ts';
import type { Api, Json } from '../support/api.ts';
import { archiveAll, useArchiveFolder } from '../support/archive.ts';
import { eventually } from '../support/eventually.ts';
import { blamedFields } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { dumpAll } from '../support/tables.ts';
import { useTimeouts } from '../support/timeouts.ts';
import { movableClock } from './clock.ts';
import { answer, hang, type Received, together, useReceiver } from './receiver.ts';
import { codeOf, mayCallTests, newPath, scanCode, setHook, withoutSendTimeout } from './webhook-support.ts';

const archive = useArchiveFolder();
useTimeouts(withoutSendTimeout);
const time = movableClock();
const service = useService({ config: mayCallTests, clock: time.clock });
const receiver = useReceiver();
const url = () => service.urls[0] as string;
/** Scans at a later time than everything before. */
const scan = (code: { short_code: string }, times = 1) => {
  time.forward(1);
  return scanCode(url(), code, times);
};

async function addHook(api: Api, settings: object = {}): Promise<Json> {
  const path = newPath();
  const { status, body } = await api.post('/v1/webhooks', { url: receiver.url(path), ...settings });
  expect(status, JSON.stringify(body)).toBe(201);
  return { ...body, path };
}

const typesOf = (received: Received[]) => received.map(({ body }) => JSON.parse(body).type);
const expectSigned = (received: Received[], secret: string) => {
  for (const { body, headers } of received)
    expect(time.at(() => new Webhook(secret).verify(body, headers))).toBeDefined();
};
const idsOf = (received: Received[]) => received.map(({ id }) => id).toSorted();

describe('/v1/webhooks', () => {
  test('creates, lists, reads, changes and removes webhooks of a mode', async () => {
    const { live, test: development } = await service.account('pro');
    const code = await codeOf(live);
    const settings = { url: receiver.url('a'), tags: [' Summer '], qr_ids: [code.id], description: 'A' };
    const created = (await live.post('/v1/webhooks', settings)).body;
    expect(created).toEqual({
      id: expect.stringMatching(/^wh_[0-9A-Za-z]{20,}$/),
      url: settings.url,
      events: webhookEventTypes,
      qr_ids: [code.id],
      tags: ['summer'],
      description: 'A',
      active: true,
      mode: 'live',
      account_webhook: false,
      status: 'enabled',
      disabled_reason: null,
      status_since: expect.any(String),
      failing_since: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      old_secret_valid_until: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const path = `/v1/webhooks/${created.id}`;
    expect((await live.get(path)).body).toEqual(created);
    const changed = (await live.patch(path, { active: false, tags: null, events: ['code.deleted', 'scan.created'] }))
      .body;
    expect(changed).toMatchObject({ active: false, status: 'paused', tags: null, qr_ids: [code.id] });
    expect(changed.events, 'in the order of the documentation').toEqual(['scan.created', 'code.deleted']);
    expect((await live.patch(path, { events: ['code.deleted', 'scan.created'] })).body, 'nothing new').toEqual(changed);
    const rotated = (await live.post(`${path}/rotate`, {})).body;
    expect(rotated.secret).not.toBe(created.secret);
    expect(rotated.old_secret_valid_until).not.toBeNull();

    const account = await setHook(live, receiver.url('b'));
    const [first, second] = (await live.get('/v1/webhooks')).body.data;
    expect(first).toMatchObject({ account_webhook: true, url: account.url, secret: account.secret });
    expect(first).toMatchObject({ events: ['scan.created'], created_at: account.created_at });
    expect(second).toEqual(rotated);
    expect((await live.get('/v1/webhooks/live')).status, 'its name in the tables is no id').toBe(404);
    expect((await development.get('/v1/webhooks')).body).toEqual({ data: [] });

    expect((await live.patch(`/v1/webhooks/${first.id}`, { url: receiver.url('c') })).body.url).toBe(receiver.url('c'));
    expect((await live.get('/v1/account/webhook')).body.url).toBe(receiver.url('c'));
    expect(blamedFields(await live.patch(`/v1/webhooks/${first.id}`, { events: ['code.paused'] }))).toEqual(['events']);
    expect(blamedFields(await live.patch(`/v1/webhooks/${first.id}`, { active: false }))).toEqual(['active']);
    expect((await live.delete(`/v1/webhooks/${first.id}`)).body).toEqual({ deleted: true, id: first.id });
    expect((await live.get('/v1/account/webhook')).status).toBe(404);
    expect((await live.delete(path)).body).toEqual({ deleted: true, id: created.id });
    expect((await live.get(path)).status).toBe(404);
  });

  test('refuses invalid settings, an eleventh webhook, and the Free plan', async () => {
    const { id, live } = await service.account();
    const wrong: [object, string][] = [
      [{}, 'url'],
      [{ url: 'https://10.0.0.1/' }, 'url'],
      [{ url: receiver.url('a'), events: [] }, 'events'],
      [{ url: receiver.url('a'), events: ['key.created'] }, 'events[0]'],
      [{ url: receiver.url('a'), qr_ids: ['qr_0000000000000000000000'] }, 'qr_ids[0]'],
      [{ url: receiver.url('a'), tags: ['x'.repeat(51)] }, 'tags[0]'],
      [{ url: receiver.url('a'), secret: 'mine' }, 'secret'],
    ];
    for (const [body, field] of wrong) {
      const refused = await live.post('/v1/webhooks', body);
      expect([refused.status, blamedFields(refused)]).toEqual([400, [field]]);
    }
    for (let i = 0; i < 10; i++) await addHook(live);
    const eleventh = await live.post('/v1/webhooks', { url: receiver.url('a') });
    expect([eleventh.status, eleventh.body.error.code]).toEqual([403, 'quota_exceeded']);
    expect(eleventh.body.error.message).toContain('10 webhooks');
    await setHook(live, receiver.url('a'));
    expect((await live.get('/v1/webhooks')).body.data).toHaveLength(11);

    const { live: free } = await service.account('free');
    for (const answered of [
      await free.get('/v1/webhooks'),
      await free.post('/v1/webhooks', { url: receiver.url('a') }),
    ])
      expect([answered.status, answered.body.error.code]).toEqual([403, 'plan_required']);
    const secrets = (await live.get('/v1/webhooks')).body.data.map((webhook: Json) => webhook.secret);
    const everything = JSON.stringify([
      await dumpAll(service.database.sql),
      await readStream(service.database.sql, id),
    ]);
    for (const secret of secrets) expect(everything, 'no secret in plain text').not.toContain(secret);
  });

  test('sends the events of the feed, signed, under one id, beside the body of the contract', async () => {
    const { live, test: development } = await service.account();
    const [all, updates] = [await addHook(live), await addHook(live, { events: ['code.updated'] })];
    const other = await addHook(development);
    const contract = newPath();
    await setHook(live, receiver.url(contract));
    const code = await codeOf(live);
    await scan(code);
    await live.patch(`/v1/qrcodes/${code.id}`, { name: 'New', active: false });
    const received = await receiver.gets(all.path, 4);
    expect(typesOf(received).toSorted()).toEqual(['code.created', 'code.paused', 'code.updated', 'scan.created']);
    expectSigned(received, all.secret);
    const ofType = (type: string) => received.find(({ body }) => JSON.parse(body).type === type) as Received;
    expect(Object.keys(JSON.parse(ofType('scan.created').body))).toEqual(['type', 'timestamp', 'data']);
    expect(JSON.parse(ofType('scan.created').body).data).toMatchObject({
      qr_id: code.id,
      id: expect.stringMatching(/^scan_/),
      browser: 'other',
      is_unique: true,
      rule: null,
      qr_name: expect.any(String),
    });
    expect(JSON.parse(ofType('code.updated').body).data).toMatchObject({
      qr_id: code.id,
      qr_name: 'New',
      field: 'name',
      to: 'New',
    });
    expect(idsOf(await receiver.gets(updates.path, 1))).toEqual([ofType('code.updated').id]);
    const [scanned] = await receiver.gets(contract, 1);
    expect(scanned?.id).toBe(ofType('scan.created').id);
    expect(Object.keys(JSON.parse(scanned?.body ?? ''))).toEqual(['event', 'timestamp', 'data']);
    expect(JSON.parse(scanned?.body ?? '').data, 'the contract has no name').not.toHaveProperty('qr_name');

    const { body: tested } = await live.post(`/v1/webhooks/${updates.id}/test`, {});
    expect(tested).toMatchObject({ delivered: true, status_code: 200, body: { type: 'code.updated' } });
    const deliveries = await eventually(async () => {
      const { data } = (await live.get(`/v1/webhooks/${all.id}/deliveries?status=delivered`)).body;
      expect(data).toHaveLength(4);
      return data;
    });
    expect(deliveries.map(({ id }: Json) => id).toSorted()).toEqual(idsOf(received));
    for (const { body } of deliveries) expect(body.data.qr_name).toBe('New');
    const resent = await live.post(`/v1/webhooks/${all.id}/deliveries/${deliveries[0].id}/resend`, {});
    expect(resent.body).toMatchObject({ id: deliveries[0].id, status: 'pending' });
    await receiver.gets(all.path, 5);
    expect(receiver.received(contract), 'the contract: scans only').toHaveLength(1);
    expect(receiver.received(other.path), 'the other mode').toHaveLength(0);
  });

  test('isolates webhooks of one account: one that hangs or answers 410 delays no other', async () => {
    const { live } = await service.account();
    const [hanging, gone, fine] = [await addHook(live), await addHook(live), await addHook(live)];
    receiver.behave(hanging.path, hang);
    receiver.behave(gone.path, answer(410));
    const code = await codeOf(live);
    await scan(code, 20);
    await receiver.gets(fine.path, 21);
    expect(receiver.maxConcurrent(hanging.path)).toBeLessThanOrEqual(8);
    await eventually(async () => {
      const { body } = await live.get(`/v1/webhooks/${gone.id}`);
      expect(body).toMatchObject({ active: false, status: 'disabled', disabled_reason: 'gone' });
    });
    expect((await live.get(`/v1/webhooks/${fine.id}`)).body.status).toBe('enabled');
    receiver.behave(gone.path, answer(200));
    // Later than the attempts whose response is 410.
    time.forward(1);
    expect((await live.patch(`/v1/webhooks/${gone.id}`, { active: true })).body.status).toBe('enabled');
    const before = receiver.received(gone.path).length;
    await scan(code);
    await receiver.gets(gone.path, before + 1);
    receiver.behave(hanging.path, answer(200));
  });
});

describe('a replay', () => {
  /** An account with a webhook that was paused during some of its scans. */
  async function given(): Promise<TestAccount & { hook: Json; code: Json; path: string; early: Received[] }> {
    const account = await service.account();
    const { live } = account;
    const code = await codeOf(live);
    await scan(code, 3);
    await service.allStored();
    const hook = await addHook(live, { events: ['scan.created'] });
    const path = `/v1/webhooks/${hook.id}`;
    await scan(code, 2);
    const early = [...(await receiver.gets(hook.path, 2))];
    await live.patch(path, { active: false });
    await scan(code, 4);
    await service.allStored();
    await live.patch(path, { active: true });
    return { ...account, hook, code, path, early };
  }

  const from = '2026-01-01';
  /** A replay has what happened before it. */
  const startReplay = (live: Api, path: string, body: object) => {
    time.forward(1);
    return live.post(`${path}/replay`, body);
  };
  /** Waits for the end of a replay. Queries the database, because the API has a rate limit. */
  const ended = async (live: Api, path: string, id: string): Promise<Json> => {
    await eventually(async () => {
      const [row] = await service.database.sql`SELECT status FROM endpoint_replays WHERE id = ${id}`;
      expect(row?.['status']).toBe('done');
    });
    return (await live.get(`${path}/replays/${id}`)).body;
  };

  test('sends what is missing, then everything, each under the id of the first time, also from the archive', async () => {
    const { live, hook, path, early } = await given();
    await archiveAll(service.database.sql, archive);
    const started = await startReplay(live, path, { from, only: 'missing' });
    expect(started.status).toBe(202);
    expect(started.body).toMatchObject({ id: expect.stringMatching(/^whr_/), total: 7, status: 'running' });
    expect(await ended(live, path, started.body.id)).toMatchObject({ total: 7, sent: 7, delivered: 7, failed: 0 });
    const received = await receiver.gets(hook.path, 9);
    expect(new Set(idsOf(received)).size).toBe(9);
    expectSigned(received, hook.secret);

    const empty = (await startReplay(live, path, { from, only: 'missing' })).body;
    expect(empty, 'nothing is left').toMatchObject({ total: 0 });
    await ended(live, path, empty.id);
    const again = (await startReplay(live, path, { from, to: '2200-12-31', only: 'all' })).body;
    expect(again.total).toBe(9);
    await ended(live, path, again.id);
    const twice = await receiver.gets(hook.path, 18);
    expect(idsOf(twice)).toEqual([...idsOf(received), ...idsOf(received)].toSorted());
    const bodyOfFirst = twice.filter(({ id }) => id === early[0]?.id).map(({ body }) => body);
    expect(bodyOfFirst).toEqual([early[0]?.body, early[0]?.body]);
    const { data } = (await live.get(`${path}/replays`)).body;
    expect(data.map(({ total }: Json) => total)).toEqual([9, 0, 7]);
    const nothing = await startReplay(live, path, { from, to: '2026-01-02', only: 'all' });
    expect(nothing.body.total, 'nothing happened then').toBe(0);
  });

  test('of failed deliveries; live ones go first; one at a time; canceled, it sends no more', async () => {
    const { live, hook, code, path } = await given();
    // All three are in the log before the first response disables the webhook.
    receiver.behave(hook.path, together(3, answer(410)));
    await scan(code, 3);
    await eventually(async () => expect((await live.get(path)).body.status).toBe('disabled'));
    const refused = await startReplay(live, path, { from, only: 'all' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
    expect(refused.body.error.message).toContain('The webhook is disabled');
    receiver.behave(hook.path, answer(200));
    time.forward(1);
    await live.patch(path, { active: true });
    const failed = (await startReplay(live, path, { from, only: 'failed' })).body;
    expect(failed.total).toBe(3);
    await ended(live, path, failed.id);

    const before = receiver.received(hook.path).length;
    await scan(code, 30);
    await receiver.gets(hook.path, before + 30);
    await eventually(async () => {
      const [row] = await service.database.sql`
        SELECT deliveries FROM delivery_counts WHERE webhook = ${hook.id} AND status = 'pending'`;
      expect(row?.['deliveries'], 'pending deliveries').toBe(0);
    });
    receiver.behave(hook.path, hang);
    const all = (await startReplay(live, path, { from, only: 'all' })).body;
    expect(all.total).toBe(42);
    const second = await startReplay(live, path, { from, only: 'missing' });
    expect([second.status, second.body.error.code]).toEqual([409, 'replay_running']);
    const known = idsOf(await receiver.gets(hook.path, before + 38));
    await scan(code);
    const [{ id: newest }] = await eventually(async () => {
      const { data } = (await live.get(`${path}/deliveries?limit=1`)).body;
      expect(known, 'it has a delivery').not.toContain(data[0].id);
      return data;
    });
    // Each time, the 8 requests that hang end with their connections, and leave their slots to the next ones. The new scan
    // is among them as soon as the worker has read it, before the 34 others of the replay.
    for (const count of [46, 54]) {
      receiver.dropOpen(hook.path);
      await receiver.gets(hook.path, before + count);
    }
    const next = receiver.received(hook.path).slice(before + 38);
    expect(next.map(({ id }) => id)).toContain(newest);
    const recorded = await eventually(async () => {
      const rows = await service.database.sql<{ id: string }[]>`
        SELECT id FROM deliveries WHERE webhook = ${hook.id} AND status = 'pending' AND tries > 0`;
      expect(rows, 'requests whose connection was dropped').toHaveLength(16);
      return rows.filter(({ id }) => id !== newest);
    });
    const canceled = await live.delete(`${path}/replays/${all.id}`);
    expect(canceled.body).toMatchObject({ status: 'canceled', sent: recorded.length, ended_at: expect.any(String) });
    const { data } = (await live.get(`${path}/deliveries?status=pending&limit=100`)).body;
    // The new scan may be among the requests that hang, and does not belong to the replay.
    expect(data.filter(({ id, attempts }: Json) => attempts.length === 0 && id !== newest)).toEqual([]);

    // The worker has more of the replay in memory. It notices the end when it renews its lease.
    const leaseEnd = async () => {
      const [row] = await service.database.sql<{ lease_until: Date }[]>`
        SELECT lease_until FROM endpoints WHERE webhook = ${hook.id}`;
      return row?.lease_until.getTime();
    };
    const leasedUntil = await leaseEnd();
    await eventually(async () => expect(await leaseEnd()).not.toBe(leasedUntil));
    const tried = receiver.received(hook.path).length;
    receiver.behave(hook.path, answer(200));
    receiver.dropOpen(hook.path);
    await scan(code);
    const later = () => receiver.received(hook.path).slice(tried);
    const isNew = ({ id }: Received) =>
      !receiver
        .received(hook.path)
        .slice(before + 30, tried)
        .some((one) => one.id === id);
    await eventually(async () => {
      const { data: delivered } = (await live.get(`${path}/deliveries?limit=1`)).body;
      expect(delivered[0]).toMatchObject({ status: 'delivered', id: later().find(isNew)?.id });
    });
    expect(later().filter(isNew), 'only the last scan').toHaveLength(1);
  });

  test('of a suspended account waits, and goes on when it is resumed', async () => {
    const { sql } = service.database;
    const [one, other] = [await given(), await given()];
    await suspend(sql, one.id, 'Unpaid.', time.clock());
    time.forward(1);
    // The API refuses a new one: as if it had begun just before.
    const request = { from: new Date(from), to: time.clock(), choice: 'missing' as const };
    const { id } = await startReplayOf(sql, { account: one.id, webhook: one.hook.id }, request, time.clock());
    const later = (await startReplay(other.live, other.path, { from, only: 'missing' })).body;
    expect(await ended(other.live, other.path, later.id), 'begun after it').toMatchObject({ delivered: 7 });
    expect(receiver.received(one.hook.path)).toHaveLength(2);
    await resume(sql, one.id, time.clock());
    expect(await ended(one.live, one.path, id)).toMatchObject({ delivered: 7 });
  });

  test.each([
    ['without a time', { only: 'all' }, ['from']],
    ['in the future', { from: '2999-01-01T00:00:00Z', only: 'all' }, ['from']],
    ['backwards', { from: '2026-02-01', to: '2026-01-01', only: 'all' }, ['from']],
    ['of a day that does not exist', { from: '2026-02-30', only: 'all' }, ['from']],
    ['of anything else', { from: '2026-01-01', only: 'some' }, ['only']],
  ])('%s is refused', async (_, body, fields) => {
    const { live } = await service.account();
    const hook = await addHook(live);
    const refused = await live.post(`/v1/webhooks/${hook.id}/replay`, body);
    expect([refused.status, blamedFields(refused)]).toEqual([400, fields]);
  });
});
