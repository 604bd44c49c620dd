import { beforeAll, describe, expect, test } from 'vitest';
import { maxAlerts } from '../../src/alerts/alerts.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { type Api, created, type Json, newCode } from '../support/api.ts';
import { eventually, reaches } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { answer, useReceiver } from '../webhooks/receiver.ts';
import { mayCallTests, newPath } from '../webhooks/webhook-support.ts';
import { createAlert, eventsOf, raisedOf, reachesRaised } from './support.ts';

const hourMs = 3_600_000;
let now = new Date();
const later = (hours: number) => {
  now = new Date(now.getTime() + hours * hourMs);
};
const service = useService({
  clock: () => now,
  alertPollMs: 100,
  // Mails wait in the outbox: no server listens there.
  config: {
    ...mayCallTests,
    publicUrl: 'https://qr.example.com',
    smtpUrl: 'smtp://127.0.0.1:1?tls=off',
    mailFrom: 'Scanlog <qr@example.com>',
  },
});
const receiver = useReceiver();
const { database } = service;

const untilRaised = (api: Api, count = 1) => reachesRaised(database.sql, api, count);

test('alerts are created, listed, read, changed, paused and deleted', async () => {
  const { live, test: testApi } = await service.account();
  const code = await created(live);
  const alert = await createAlert(live, { kind: 'silent', qr_ids: [code.id] });
  expect(alert).toMatchObject({
    kind: 'silent',
    name: 'No scans',
    qr_ids: [code.id],
    tags: null,
    active: true,
    raised: 0,
  });
  const change = { name: ' Menus ', tags: ['Menu'], active: false, to: ['ada@example.com'] };
  const changed = await live.patch(`/v1/alerts/${alert.id}`, change);
  expect(changed.body).toMatchObject({ name: 'Menus', qr_ids: null, tags: ['menu'], active: false, to: change.to });
  expect((await live.get(`/v1/alerts/${alert.id}`)).body).toEqual(changed.body);
  expect((await live.get('/v1/alerts')).body.data).toEqual([changed.body]);
  expect((await testApi.get('/v1/alerts')).body.data, 'modes are separate').toEqual([]);
  expect((await live.delete(`/v1/alerts/${alert.id}`)).body).toEqual({ deleted: true, id: alert.id });
  expect((await live.get(`/v1/alerts/${alert.id}`)).status).toBe(404);
  const audit = (await live.get('/v1/account/audit?type=alert.created,alert.updated,alert.deleted')).body.data;
  expect(audit.map(({ type }: Json) => type)).toEqual(['alert.deleted', 'alert.updated', 'alert.created']);
});

test('a key that reads codes sees what is raised, but not the addresses of alerts', async () => {
  const { live } = await service.account();
  const { id } = await createAlert(live, { kind: 'silent', to: ['ada@example.com'] });
  const { body } = await live.post('/v1/account/keys', { name: 'Widget', mode: 'live', scopes: ['codes.read'] });
  const limited = service.client(0, body.key);
  expect((await limited.get('/v1/alerts/raised')).status).toBe(200);
  for (const path of ['/v1/alerts', `/v1/alerts/${id}`])
    expect((await limited.get(path)).body.error?.code, path).toBe('insufficient_scope');
});

describe('an alert is refused', () => {
  let api: TestAccount;
  beforeAll(async () => {
    api = await service.account();
  });

  test.each([
    [{ kind: 'loud' }, 'kind'],
    [{ kind: 'silent', qr_ids: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }, 'qr_ids'],
    [{ kind: 'domain_failing', tags: ['menu'] }, 'tags'],
    [{ kind: 'limit_near', percent: 100 }, 'percent'],
    [{ kind: 'silent', name: ' ' }, 'name'],
    [{ kind: 'silent', to: ['ada@example'] }, 'to[0]'],
  ])('with %j', async (body, field) => {
    const answered = await api.live.post('/v1/alerts', body);
    expect([answered.status, answered.body.error.details[0].field]).toEqual([400, field]);
  });

  test('about domains with a test key, and beyond the limit', async () => {
    const refused = await api.test.post('/v1/alerts', { kind: 'domain_failing' });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'live_key_required']);
    const { live, id } = await service.account();
    const { id: alert } = await createAlert(live, { kind: 'limit_near' });
    await database.sql`
      INSERT INTO alerts SELECT id || i, account, mode, kind, name, codes, tags, percent, active, created_at
      FROM alerts, generate_series(2, ${maxAlerts}) AS i WHERE id = ${alert}`;
    const { status, body } = await live.post('/v1/alerts', { kind: 'silent' });
    expect([status, body.error.code]).toEqual([403, 'quota_exceeded']);
    await database.sql`DELETE FROM alerts WHERE account = ${id} AND id <> ${alert}`;
  });
});

test('a website that dies is reported once, to the feed, webhooks and the console, and again when it is back', async () => {
  const account = await service.account();
  const { live } = account;
  const [site, hooks] = [newPath(), newPath()];
  receiver.behave(site, answer(200));
  const code = await created(live, newCode({ name: 'Menu', destination_url: receiver.url(site) }));
  await created(live, newCode({ name: 'Second menu', destination_url: receiver.url(site), tags: ['other'] }));
  await live.post('/v1/webhooks', { url: receiver.url(hooks), events: ['alert.raised', 'alert.cleared'] });
  const to = ['ada@example.com', ' Grace@example.com', 'grace@example.com'];
  await createAlert(live, { kind: 'destination_down', name: 'Websites', qr_ids: [code.id], to });
  await createAlert(live, { kind: 'destination_down', name: 'Others', tags: ['other'] });
  const checks = () => receiver.received(site).length;
  await reaches(1, checks);

  receiver.behave(site, answer(503));
  later(1.2);
  // HEAD, then GET.
  await reaches(3, checks);
  expect(await raisedOf(live), 'after one failure').toEqual([]);
  later(1.2);
  const raised = await untilRaised(live, 2);
  expect(raised.find(({ name }) => name === 'Websites')).toMatchObject({
    kind: 'destination_down',
    qr_id: code.id,
    title: 'The website of “Menu” is down',
    message: expect.stringMatching(/leads to http:.*failed twice .*error of its own \(503\)/),
    url: `https://qr.example.com/console/codes/${code.id}`,
  });
  const [hook] = (await receiver.gets(hooks, 2)).filter(({ body }) => body.includes('Websites'));
  expect(JSON.parse(hook?.body ?? '')).toMatchObject({
    type: 'alert.raised',
    data: { name: 'Websites', qr_id: code.id, qr_name: 'Menu' },
  });

  later(1.2);
  await reaches(7, checks);
  receiver.behave(site, answer(200));
  later(1.2);
  await untilRaised(live, 0);
  const types = (await eventsOf(live)).map(({ type }) => type);
  expect(types.toSorted(), 'each once').toEqual(['alert.cleared', 'alert.cleared', 'alert.raised', 'alert.raised']);
  expect((await receiver.gets(hooks, 4)).map(({ body }) => JSON.parse(body).type).toSorted()).toEqual(types.toSorted());

  const mails = await database.sql<{ recipient: string; subject: string; plain_text: string; headers: object }[]>`
    SELECT recipient, subject, plain_text, headers FROM mails WHERE account = ${account.id} ORDER BY created_at, recipient`;
  const down = 'The website of “Menu” is down';
  expect(mails.map(({ recipient, subject }) => [recipient, subject])).toEqual([
    ['ada@example.com', down],
    ['grace@example.com', down],
    ['ada@example.com', `Over: ${down}`],
    ['grace@example.com', `Over: ${down}`],
  ]);
  expect(mails[0]?.plain_text).toContain(`https://qr.example.com/console/codes/${code.id}`);
  const [, link] = /\nUnsubscribe: (https:\/\/qr\.example\.com\/u\/\w{52})\n/.exec(mails[0]?.plain_text ?? '') ?? [];
  expect(mails[0]?.headers).toEqual({
    'List-Unsubscribe': `<${link}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  });
  const log = await database.sql`SELECT 1 FROM events WHERE data::text ILIKE '%grace@example.com%'`;
  expect(log, 'addresses are not in the log').toHaveLength(0);

  later(0.01);
  const missed = newPath();
  const { body: webhook } = await live.post('/v1/webhooks', { url: receiver.url(missed), qr_ids: [code.id] });
  const replay = await live.post(`/v1/webhooks/${webhook.id}/replay`, { from: '2026-01-01', only: 'missing' });
  expect(replay.status, JSON.stringify(replay.body)).toBe(202);
  const sent = await eventually(() => {
    const bodies = receiver.received(missed).map(({ body }) => JSON.parse(body));
    const ofAlerts = bodies.filter(({ type }) => type.startsWith('alert.'));
    expect(ofAlerts).toHaveLength(2);
    return ofAlerts;
  });
  expect(sent.map(({ type, data }) => `${type} ${data.name}`)).toEqual([
    'alert.raised Websites',
    'alert.cleared Websites',
  ]);
});

describe('the rhythm of a code', () => {
  const weekMs = 168 * hourMs;

  /** A code of some weeks ago, and its scans at these times, as the number of hours before now. */
  async function scannedCode(account: TestAccount, name: string, hoursAgo: number[]): Promise<Json> {
    const real = now;
    now = new Date(real.getTime() - 10 * weekMs);
    const code = await created(account.live, newCode({ name }));
    now = real;
    const scans = hoursAgo
      .toSorted((a, b) => b - a)
      .map((hours) =>
        scanned({ code: code.id, account: account.id, occurred_at: new Date(real.getTime() - hours * hourMs) }),
      );
    await appendScans(database.sql, batchOf(`batch_${code.id.slice(3)}`, 1, scans));
    return code;
  }

  /** Four scans in each of these hours of each of the last five weeks. */
  const weekly = (hours: number[]) =>
    [1, 2, 3, 4, 5].flatMap((week) => hours.flatMap((hour) => [0, 0, 0, 0].map(() => week * 168 + hour)));

  test('that is broken is found, by silence and by a spike, and is over when it is as usual', async () => {
    const account = await service.account();
    const { live } = account;
    // In the middle of an hour, so that the times above are all in the hours that they name.
    now = new Date(Math.floor(now.getTime() / hourMs) * hourMs + hourMs / 2);
    const lastHours = [1, 2, 3, 4, 5, 6, 7, 8];
    const silent = await scannedCode(account, 'Poster', [...weekly(lastHours), 9]);
    const spike = await scannedCode(account, 'Flyer', [
      ...weekly(lastHours),
      ...lastHours.flatMap((hour) => Array.from({ length: 20 }, () => hour)),
    ]);
    const usual = await scannedCode(account, 'Card', [...weekly(lastHours), ...lastHours]);
    await createAlert(live, { kind: 'silent' });
    await createAlert(live, { kind: 'spike' });
    const raised = await untilRaised(live, 2);
    expect(raised.find(({ kind }) => kind === 'silent')).toMatchObject({
      qr_id: silent.id,
      message: expect.stringContaining(
        'no scan for 8 hours. In the same hours of 5 earlier weeks it had 32 on average, and never fewer than 32.',
      ),
    });
    expect(raised.find(({ kind }) => kind === 'spike')).toMatchObject({
      qr_id: spike.id,
      message: expect.stringContaining('60 scans in the last 3 hours. In the same hours of 5 earlier weeks it had 12'),
    });
    expect(raised.map(({ qr_id }) => qr_id)).not.toContain(usual.id);

    const again = scanned({ code: silent.id, account: account.id, occurred_at: now });
    await appendScans(database.sql, batchOf(`batch_again${silent.id.slice(8)}`, 1, [again]));
    later(1.1);
    await untilRaised(live, 1);
    later(72);
    await untilRaised(live, 0);
    expect((await eventsOf(live)).map(({ type, data }) => `${type} ${data.kind}`).toSorted()).toEqual([
      'alert.cleared silent',
      'alert.cleared spike',
      'alert.raised silent',
      'alert.raised spike',
    ]);
  });
});

test('a limit that is nearly used up is reported: of a code, and of the plan', async () => {
  const { live } = await service.account('pro');
  const code = await created(live, newCode({ name: 'Voucher', max_scans: 10 }));
  await database.sql`UPDATE limited_scans SET used = 9 WHERE code = ${code.id}`;
  await createAlert(live, { kind: 'limit_near', percent: 90 });
  const [ofCode] = await untilRaised(live, 1);
  expect(ofCode).toMatchObject({ qr_id: code.id, title: '“Voucher” has nearly used up its scans' });
  await live.post('/v1/qrcodes/bulk', { qrcodes: Array.from({ length: 44 }, () => newCode()) });
  later(0.2);
  const [ofPlan] = await untilRaised(live, 2);
  expect(ofPlan).toMatchObject({ qr_id: null, message: expect.stringContaining('45 of the 50 QR codes of your plan') });
  await live.patch(`/v1/qrcodes/${code.id}`, { max_scans: 100 });
  later(0.2);
  await untilRaised(live, 1);
  await database.sql`UPDATE limited_scans SET used = 0 WHERE code = ${code.id}`;
});

test('what is raised is rebuilt from the log', async () => {
  const { live } = await service.account('pro');
  await live.post('/v1/qrcodes/bulk', { qrcodes: Array.from({ length: 48 }, () => newCode()) });
  const alert = await createAlert(live, { kind: 'limit_near' });
  const before = await untilRaised(live);
  await database.sql`DELETE FROM raised_alerts WHERE alert = ${alert.id}`;
  await database.sql`DELETE FROM alerts WHERE id = ${alert.id}`;
  await replayState(database.sql);
  expect(await raisedOf(live)).toEqual(before);
  await live.patch(`/v1/alerts/${alert.id}`, { active: false });
  await untilRaised(live, 0);
});
