import { renameSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import type { FeedMessage } from '../../bench/event-stream.ts';
import { batchOf } from '../../events/scan-batch.ts';
import { suspend } from '../../src/accounts/accounts.ts';
import { revoke } from '../../src/accounts/keys.ts';
import { Feed } from '../../src/feed/feed.ts';
import { Filter } from '../../src/feed/filter.ts';
import { readPage } from '../../src/feed/read-page.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { blockSize, indexNextBlock } from '../../src/log/account-index.ts';
import { appendScans } from '../../src/log/append-scans.ts';
import { headOfLog } from '../../src/log/read.ts';
import { disableUser } from '../../src/people/disable.ts';
import { addMember, removeMember } from '../../src/people/members.ts';
import { created } from '../support/api.ts';
import { archiveAll, useArchiveFolder } from '../support/archive.ts';
import { eventually, reaches } from '../support/eventually.ts';
import { followFeed } from '../support/feed.ts';
import { blamedFields } from '../support/http.ts';
import { person, signedIn } from '../support/people.ts';
import { scanned } from '../support/scans.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { manualTimers } from '../support/timers.ts';

const archive = useArchiveFolder();
const service = useService({ instances: 2 });
let account: TestAccount;
let writers = 0;

const createCode = (api = account.live, fields = {}) => created(api, fields);

/** Appends scans of a code in one batch, and returns their ids. */
async function appendScansOf(code: string, count: number, fields = {}): Promise<string[]> {
  const scans = Array.from({ length: count }, () => scanned({ code, account: account.id, ...fields }));
  await appendScans(service.database.sql, batchOf(`feed-${writers++}`, 1, scans));
  return scans.map(({ id }) => id);
}

/** All events after a cursor, page by page, as pairs of type and the field or id in the data. */
async function readAll(path: string, after?: string): Promise<{ events: FeedMessage['event'][]; next: string }> {
  const events: FeedMessage['event'][] = [];
  for (let next = after; ; ) {
    const { status, body } = await account.live.get(`${path}${next === undefined ? '' : `&after=${next}`}`);
    expect(status).toBe(200);
    events.push(...body.data);
    next = body.next;
    if (!body.has_more) return { events, next: body.next };
  }
}

/** Collects the messages of a stream in the background. */
function follow(options: { key?: string; query?: string; lastEventId?: string; instance?: number } = {}) {
  const { key = account.keys.live, instance = 0, ...rest } = options;
  return followFeed(service.urls[instance] as string, { key, ...rest });
}

const scanIds = (messages: FeedMessage[]) => messages.map(({ event }) => event.data['id']);

beforeEach(async () => {
  account = await service.account();
});

describe('GET /v1/events', () => {
  test('happy: changes and scans in the order of the log, page by page', async () => {
    const code = await createCode();
    await account.live.patch(`/v1/qrcodes/${code.id}`, { name: 'Second name', active: false });
    const [scan] = await appendScansOf(code.id, 1, { rule: 'r1', variant: 'v1', is_bot: true });
    await account.live.delete(`/v1/qrcodes/${(await createCode()).id}`);
    const { events, next } = await readAll('/v1/events?limit=2');
    expect(events.map(({ type }) => type)).toEqual([
      ...['account.created', 'key.created', 'code.created', 'code.updated', 'code.paused', 'scan.created'],
      ...['code.created', 'code.deleted'],
    ]);
    expect(events[3]).toMatchObject({
      id: expect.stringMatching(/^evt_[0-9A-Za-z]{20,}$/),
      actor: expect.stringMatching(/^key_/),
      qr_id: code.id,
      data: { qr_id: code.id, field: 'name', from: code.name, to: 'Second name' },
    });
    expect(events[5]).toMatchObject({
      id: `evt_${scan?.slice('scan_'.length)}`,
      actor: 'visitor',
      qr_id: code.id,
      data: { id: scan, country: 'DE', is_bot: true, rule: 'r1', variant: 'v1' },
    });
    expect(JSON.stringify(events)).not.toMatch(/"(hash|visitor|secret|revision)":/);
    expect(await readAll('/v1/events?limit=100', next)).toEqual({ events: [], next });
    const again = await service.client(1, account.keys.live).get(`/v1/events?after=${next}`);
    expect(again.body, 'on another instance').toEqual({ data: [], next, has_more: false });
  });

  test('happy: types, qr_id, and after=now', async () => {
    const [one, other] = [await createCode(), await createCode()];
    await appendScansOf(one.id, 2);
    await appendScansOf(other.id, 1);
    const types = (events: FeedMessage['event'][]) => events.map(({ type }) => type);
    expect(types((await readAll(`/v1/events?qr_id=${one.id}`)).events)).toEqual([
      ...['code.created', 'scan.created', 'scan.created'],
    ]);
    expect(types((await readAll(`/v1/events?qr_id=${other.id}&types=scan.created`)).events)).toEqual(['scan.created']);
    const now = await account.live.get('/v1/events?after=now');
    expect(now.body).toEqual({ data: [], next: expect.any(String), has_more: false });
    const changed = (await account.live.patch(`/v1/qrcodes/${one.id}`, { name: 'After now' })).body;
    expect((await readAll('/v1/events?limit=9', now.body.next)).events).toMatchObject([
      { type: 'code.updated', timestamp: changed.updated_at, data: { to: 'After now' } },
    ]);
  });

  test('happy: wait answers as soon as there is an event, on any instance', async () => {
    const code = await createCode();
    const { body: start } = await account.live.get('/v1/events?after=now');
    const waiting = service.client(1, account.keys.live).get(`/v1/events?after=${start.next}&wait=30`);
    const [scan] = await appendScansOf(code.id, 1);
    expect((await waiting).body.data).toMatchObject([{ type: 'scan.created', data: { id: scan } }]);
    const nothing = await account.live.get(`/v1/events?after=now&wait=1`);
    expect(nothing.body).toMatchObject({ data: [], has_more: false });
  });

  test('scans of a deleted code are left out, its changes stay', async () => {
    const code = await createCode();
    await appendScansOf(code.id, 3);
    await account.live.delete(`/v1/qrcodes/${code.id}`);
    const { events } = await readAll(`/v1/events?qr_id=${code.id}`);
    expect(events.map(({ type }) => type)).toEqual(['code.created', 'code.deleted']);
  });

  test('security: each account and mode has its own events and cursors', async () => {
    const code = await createCode(account.test);
    await appendScansOf(code.id, 1, { mode: 'test' });
    const { body: ofTest } = await account.test.get('/v1/events');
    expect(ofTest.data.map(({ type }: { type: string }) => type)).toEqual([
      'key.created',
      'code.created',
      'scan.created',
    ]);
    expect(ofTest.data[0].data.mode).toBe('test');
    const { events: ofLive } = await readAll('/v1/events?limit=1000');
    expect(ofLive.map(({ qr_id }) => qr_id)).not.toContain(code.id);
    const stranger = await service.account();
    for (const path of [`/v1/events?after=${ofTest.next}`, '/v1/events?after=0', '/v1/events?after=AAAA'])
      for (const api of [account.live, stranger.test]) {
        const refused = await api.get(path);
        expect([refused.status, blamedFields(refused)]).toEqual([400, ['after']]);
      }
    expect((await stranger.live.get(`/v1/events?qr_id=${code.id}`)).status).toBe(404);
  });

  test('errors: unknown types, limits and waits', async () => {
    for (const [query, field] of [
      ...[
        ['types=scan.create', 'types'],
        ['types=', 'types'],
        ['limit=1001', 'limit'],
        ['wait=31', 'wait'],
      ],
    ]) {
      const refused = await account.live.get(`/v1/events?${query}`);
      expect([refused.status, blamedFields(refused)], query).toEqual([400, [field]]);
    }
    expect((await account.live.get('/v1/events?types=scan.create')).body.error.message).toContain('scan.created');
  });
});

describe('GET /v1/events as a stream', () => {
  test('every event once, in order, to readers that come, go and resume during concurrent appends', async () => {
    const code = await createCode();
    const { body: start } = await account.live.get('/v1/events?after=now');
    const query = `after=${start.next}&types=scan.created,code.updated`;
    const early = [follow({ query }), follow({ query, instance: 1 })];
    const total = 1_200;
    const appending = Array.from({ length: 6 }, async (_, writer) => {
      for (let i = 0; i < 20; i++) {
        await appendScansOf(code.id, 10);
        if (writer === 0) await account.live.patch(`/v1/qrcodes/${code.id}`, { name: `Name ${i}` });
      }
    });
    await early[0]?.has(100);
    const lost = follow({ query });
    await lost.has(50);
    await lost.stop();
    const resumed = follow({ query, lastEventId: lost.messages.at(-1)?.id as string, instance: 1 });
    await Promise.all(appending);
    const { events: expected } = await readAll(`/v1/events?limit=500&types=scan.created,code.updated`, start.next);
    expect(expected).toHaveLength(total + 20);
    const ids = expected.map(({ id }) => id);
    for (const reader of early) {
      await reader.has(ids.length);
      expect(reader.messages.map(({ event }) => event.id)).toEqual(ids);
    }
    const rest = ids.length - lost.messages.length;
    await resumed.has(rest);
    expect([...lost.messages, ...resumed.messages].map(({ event }) => event.id)).toEqual(ids);
    await Promise.all([...early, resumed].map((reader) => reader.stop()));
  });

  test('ends when its key is revoked, and when the account is suspended', async () => {
    const { sql } = service.database;
    const now = new Date();
    const { body: key } = await account.live.post('/v1/account/keys', { name: 'Reader', mode: 'live' });
    // A cursor, because `after=now` is decided when the connection arrives, which may be after the code is created.
    const { body: start } = await account.live.get('/v1/events?after=now');
    const query = `after=${start.next}`;
    const [ofKey, other] = [follow({ key: key.key, query }), follow({ query, instance: 1 })];
    const code = await createCode();
    await Promise.all([ofKey.has(1), other.has(1)]);
    await revoke(sql, account.id, key.id, { actor: 'operator', now });
    await ofKey.ended;
    const suspendedAccount = await service.account();
    const ofSuspended = follow({ key: suspendedAccount.keys.test });
    await ofSuspended.has(1);
    await suspend(sql, suspendedAccount.id, 'Phishing', now);
    await ofSuspended.ended;
    const [scan] = await appendScansOf(code.id, 1);
    await eventually(() => expect(scanIds(other.messages)).toContain(scan));
    await other.stop();
    await expect(follow({ key: key.key }).ended).rejects.toThrow('401');
  });

  test('ends when its person is removed from the account, and when the person is disabled', async () => {
    const { sql } = service.database;
    const people = [await person(service, { account: account.id, role: 'viewer' }), await person(service)];
    await addMember(sql, account.id, people[1]?.id ?? '', 'owner', { actor: 'operator', now: new Date() });
    const [removed, disabled] = await Promise.all(
      people.map(async (member) => {
        const { cookie = '' } = await signedIn(service, member);
        const headers = { cookie, 'sec-fetch-site': 'same-origin', accept: 'text/event-stream' };
        const response = await fetch(`${service.urls[0]}/console/api/events?after=now`, { headers });
        expect(response.status).toBe(200);
        return response.text();
      }),
    );
    const by = { actor: 'operator', now: new Date() };
    await removeMember(sql, account.id, people[0]?.id ?? '', by);
    await removed;
    await disableUser(sql, people[1]?.id ?? '', by);
    await disabled;
  });

  test('headers: not to be stored, changed or buffered on the way', async () => {
    const response = await fetch(`${service.urls[0]}/v1/events?after=now`, {
      headers: { authorization: `Bearer ${account.keys.live}`, accept: 'text/event-stream' },
    });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    await response.body?.cancel();
  });
});

test('a page ends after 4 MB of changes, and the next one goes on', async () => {
  const code = await createCode();
  const variants = (letter: string) =>
    Array.from({ length: 10 }, () => ({ weight: 1, destination_url: `https://example.com/${letter.repeat(2_000)}` }));
  for (let i = 0; i < 40; i++) {
    const split = variants(i % 2 === 0 ? 'a' : 'b');
    const rules = Array.from({ length: 3 }, () => ({ when: { devices: ['ios'] }, split }));
    expect((await account.live.patch(`/v1/qrcodes/${code.id}`, { rules })).status).toBe(200);
    if (i % 10 === 0) await appendScansOf(code.id, 1);
  }
  const pages: { id: string; type: string }[][] = [];
  for (let after = ''; ; ) {
    const { body } = await account.live.get(`/v1/events?limit=1000${after}`);
    pages.push(body.data);
    expect(JSON.stringify(body.data).length).toBeLessThan(4_500_000);
    if (!body.has_more) break;
    after = `&after=${body.next}`;
  }
  expect(pages.length).toBeGreaterThan(1);
  const { events } = await readAll('/v1/events?limit=20');
  expect(pages.flat().map(({ id }) => id)).toEqual(events.map(({ id }) => id));
  expect(events.filter(({ type }) => type === 'code.updated')).toHaveLength(40);
});

test('a long log is read through the index of accounts, each event once', async () => {
  const { sql } = service.database;
  const owner = { account: account.id, mode: 'live' } as const;
  const code = await createCode();
  const { next: start } = await readAll('/v1/events?limit=1000');
  const ids: string[] = [];
  // As if other accounts had made the positions in between.
  for (let block = 1; block <= 5; block++) {
    ids.push(...(await appendScansOf(code.id, 2)));
    await sql`SELECT setval('log_position', last_value + ${3 * blockSize}) FROM log_position`;
  }
  ids.push(...(await appendScansOf(code.id, 2)));
  const head = await headOfLog(sql);
  // The service adds blocks, too, and may be first.
  const addNext = () => indexNextBlock(sql, head).catch(() => true);
  while (await addNext());
  const { events } = await readAll('/v1/events?limit=3', start);
  expect(events.map(({ data }) => data['id'])).toEqual(ids);
  const page = await readPage(sql, owner, { after: 0, filter: new Filter(), limit: 1_000 });
  expect(page).toMatchObject({ to: head, isAtEnd: true });
  expect(page.entries.map(({ type }) => type)).toContain('code_created');
});

test('archived scans come first, in order and once; 503 while the archive cannot be read, and streams wait', async () => {
  const code = await createCode();
  const { next: start } = await readAll('/v1/events?limit=1000');
  const ids = await appendScansOf(code.id, 150);
  await archiveAll(service.database.sql, archive);
  ids.push(...(await appendScansOf(code.id, 5)));
  const read = async () => (await readAll('/v1/events?limit=40', start)).events.map(({ data }) => data['id']);
  expect(await read()).toEqual(ids);

  renameSync(archive, `${archive}-away`);
  const refused = await account.live.get(`/v1/events?limit=1&after=${start}`);
  expect(refused).toMatchObject({
    status: 503,
    body: { error: { code: 'unavailable', message: expect.stringContaining('archive') } },
  });
  const { sql } = service.database;
  const stopping = new AbortController();
  const timers = manualTimers();
  const log = createLogger('silent', false);
  const feed = new Feed({ sql, stream: () => undefined, stopping: stopping.signal, log, timers, maxStreams: 1 });
  const caller = { account: account.id, mode: 'live', key: account.keys.live } as const;
  const after = await feed.positionOf(caller, start, 'after');
  const options = { after, filter: new Filter(), signal: stopping.signal, isAllowed: async () => true };
  let text = '';
  const streaming = (async () => {
    for await (const chunk of await feed.stream(caller, options)) text += new TextDecoder().decode(chunk);
  })();
  await reaches(1, () => timers.waiting);
  expect(text, 'waits for the archive').toBe(': connected\nretry: 2000\n\n');
  renameSync(`${archive}-away`, archive);
  await timers.next();
  const streamed = () => [...text.matchAll(/"(scan_\w+)"/g)].map(([, id]) => id);
  await eventually(() => expect(streamed()).toEqual(ids));
  stopping.abort();
  await streaming;
});
