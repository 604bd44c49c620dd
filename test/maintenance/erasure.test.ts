import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { counters } from '../../projections/counters.ts';
import { ledger } from '../../projections/warehouse-ledger.ts';
import { createAccount, listAccounts } from '../../src/accounts/accounts.ts';
import { deleteAccount } from '../../src/accounts/delete.ts';
import { countRowsByCode } from '../../src/analytics/row-counts.ts';
import { createCodes } from '../../src/codes/create.ts';
import { addLogo } from '../../src/codes/logos.ts';
import { createBans } from '../../src/edge/bans.ts';
import { newId } from '../../src/lib/ids.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { floorOfLog } from '../../src/log/floor.ts';
import { headOfLog, readEvents, readStream } from '../../src/log/read.ts';
import { eraseNext, pendingErasures } from '../../src/maintenance/erasure.ts';
import { replayAnalytics } from '../../src/maintenance/replay-analytics.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { removeAllVisitors } from '../../src/maintenance/visitor-removal.ts';
import { connectStream } from '../../src/stream/connect.ts';
import { findLostTail } from '../../src/stream/lost-tail.ts';
import { png } from '../logos/images.ts';
import { created, newCode } from '../support/api.ts';
import { command } from '../support/command.ts';
import { openTab, type Tab } from '../support/console.ts';
import { createDatabase, uniqueName } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { person, signedIn, type TestPerson } from '../support/people.ts';
import { scanned, visitorNamed } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { removeStream } from '../support/streams.ts';
import { dumpAll, dumpTable } from '../support/tables.ts';
import { hang, useReceiver } from '../webhooks/receiver.ts';
import { mayCallTests, scanCode, setHook, untilThereAre } from '../webhooks/webhook-support.ts';

const stream = uniqueName();
const service = useService({ instances: 2, config: { ...mayCallTests, stream } });
const receiver = useReceiver();
afterAll(() => removeStream(stream));

interface Created {
  id: string;
  short_code: string;
}

/** Words that only the deleted account has sent. */
const words = [
  'Zebrafisch',
  'zebra-destination.example',
  'zebra-domain.example',
  'zebrahook',
  'Zebrakey',
  'zebra-idempotent',
  'zebra-guest',
  'zebraclient',
];

/** The columns of an event that stay after its erasure. */
interface Fact {
  position: number;
  id: string;
  stream: string;
  version: number;
  type: string;
  actor: string;
  occurred_at: Date;
}

let gone: TestAccount;
let other: TestAccount;
let otherCode: Created;
let active: Created;
let deletedBefore: Created;
let tab: Tab;
let member: TestPerson;
let membersTab: Tab;
let before: Fact[];
let verifiedMeanwhile: unknown[];
/** Scans of the other account before and after the erasure. */
const otherScans = { before: 0, after: 0 };
let response: { account_id: string; deleted_at: string; erased_at: string };

const sql = () => service.database.sql;
const run = (...args: string[]) => command(args, { DATABASE_URL: service.database.url });
const factsOf = (account: string) => sql()<Fact[]>`
  SELECT position, id, stream, version, type, actor, occurred_at FROM events
  WHERE stream = ${account} OR stream IN (SELECT id FROM codes WHERE account = ${account}) ORDER BY position`;
const countIn = async (table: string, account: string) =>
  (await sql()<[{ count: number }]>`SELECT count(*) FROM ${sql()(table)} WHERE account = ${account}`)[0].count;
const scansOf = (account: string) => countIn('scans', account);
const differences = async () => (await verify({ sql: sql(), warehouse: service.warehouse })).differences;
const isDone = async (account: string) => {
  const [row] = await sql()<{ done_at: Date | null }[]>`SELECT done_at FROM erasures WHERE account = ${account}`;
  expect(row?.done_at, 'erased at').toEqual(expect.any(Date));
};
/** The same image for every account. In both modes of one account it is two logos with one file. */
const addImage = (account: string, mode: 'live' | 'test') => {
  const image = new Uint8Array(png({ width: 4, height: 4 }));
  const art = { kind: 'raster', width: 4, height: 4, png: image } as const;
  const logo = { art, format: 'png', width: 4, height: 4, bytes: image.length } as const;
  return addLogo(sql(), { account, mode }, logo, { actor: 'key_1', now: new Date() }, 9);
};
const late = ({ id }: Created, account: string, visitor = newId('scan', Date.now())) =>
  scanned({ code: id, account, city: 'Zebrastadt', visitor: visitorNamed(visitor) });
const appendLate = (code: Created, account: string) =>
  appendScans(sql(), batchOf(newId('batch', Date.now()), 1, [late(code, account), late(code, account)]));

/** Creates a code as a program does that uses the Model Context Protocol. */
async function createByClient(client: string, fields: object): Promise<void> {
  const params = { name: 'create_code', arguments: { qrcodes: [fields] } };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const accept = 'application/json, text/event-stream';
  const { status, text } = await gone.live.post('/mcp', call, { accept, 'mcp-session-id': `${client}/1` });
  expect([status, text]).toEqual([200, expect.stringContaining('short_url')]);
}

/** Two accounts; the first uses every feature, is deleted, and `verify` runs during its erasure. */
beforeAll(async () => {
  [gone, other] = [await service.account(), await service.account()];
  await setHook(gone.live, receiver.url('zebrahook'));
  await gone.live.post('/v1/account/keys', { name: 'Zebrakey', mode: 'live' });
  await gone.live.post('/v1/account/invitations', { email: 'zebra-guest@example.com', role: 'viewer' });
  member = await person(service, { account: gone.id, name: 'Member' });
  membersTab = await signedIn(service, member);
  const fields = { name: 'Zebrafisch', destination_url: 'https://zebra-destination.example/' };
  const { body: domain } = await gone.live.post('/v1/domains', { name: 'zebra-domain.example' });
  await gone.live.patch(`/v1/domains/${domain.id}`, { root_url: 'https://zebra-destination.example/' });
  for (const mode of ['live', 'test'] as const) await addImage(gone.id, mode);
  await addImage(other.id, 'live');
  active = await created(gone.live, { ...fields, short_code: 'zebra-menu' });
  await sql()`INSERT INTO imports VALUES (${gone.id}, 'bitly', 'bit.ly/zebra-menu', ${active.id})`;
  deletedBefore = await created(gone.test, fields);
  otherCode = await created(other.live);
  await gone.live.post('/v1/qrcodes', newCode(fields), { 'idempotency-key': 'zebra-idempotent' });
  await gone.live.patch(`/v1/qrcodes/${active.id}`, { destination_url: 'https://zebra-destination.example/2' });
  await createByClient('zebraclient', fields);
  await gone.live.post('/v1/qrcodes/bulk', { qrcodes: Array.from({ length: 20 }, () => newCode(fields)) });
  for (const url of service.urls) for (const code of [active, otherCode]) await scanCode(url, code, 5);
  await scanCode(service.urls[0] as string, deletedBefore, 3);
  await service.allStored();
  await untilThereAre(sql(), gone.id, 10, 'delivered');
  tab = openTab(service.urls[0] as string);
  await tab.signIn(gone.keys.live);
  expect((await tab.get('/console/api/qrcodes')).status).toBe(200);
  await eventually(async () => expect(await differences()).toEqual([]));
  otherScans.before = await scansOf(other.id);
  // A replay that is running when the account is deleted.
  receiver.behave('zebrahook-2', hang);
  const settings = { url: receiver.url('zebrahook-2'), events: ['scan.created'], description: 'Zebrafisch' };
  const { body: hook } = await gone.live.post('/v1/webhooks', settings);
  const replay = await gone.live.post(`/v1/webhooks/${hook.id}/replay`, { from: '2026-01-01', only: 'missing' });
  expect([replay.status, replay.body.total]).toEqual([202, 10]);
  await receiver.gets('zebrahook-2', 8);

  await gone.test.delete(`/v1/qrcodes/${deletedBefore.id}`);
  before = await factsOf(gone.id);
  await deleteAccount(sql(), gone.id, new Date());
  const continuing = run('account', 'delete', gone.id, '--json');
  verifiedMeanwhile = await differences();
  const { code, output } = await continuing;
  receiver.dropOpen('zebrahook-2');
  expect(code, output).toBe(0);
  response = JSON.parse(output.trim().split('\n').at(-1) ?? '');
  otherScans.after = await scansOf(other.id);
});

describe('an account deleted by the operator', () => {
  test('is erased when the command ends, which prints the times', async () => {
    expect(response).toEqual({ account_id: gone.id, deleted_at: expect.any(String), erased_at: expect.any(String) });
    await isDone(gone.id);
  });

  test('has no working keys, sessions and links on any instance, while other accounts have', async () => {
    for (const instance of [0, 1]) {
      for (const key of Object.values(gone.keys))
        expect((await service.client(instance, key).get('/v1/qrcodes')).status).toBe(401);
      const send = (code: Created) => service.client(instance).send(`/${code.short_code}`, {});
      expect((await send(active)).status).toBe(410);
      expect((await send(deletedBefore)).status).toBe(410);
      expect((await send(otherCode)).status).toBe(302);
    }
    expect((await tab.get('/console/api/qrcodes')).status).toBe(401);
  });

  test('has no members and invitations, while the person stays, and is signed out', async () => {
    for (const table of ['members', 'invitations', 'one_time_links'])
      expect(await countIn(table, gone.id), table).toBe(0);
    expect(await sql()`SELECT name FROM users WHERE id = ${member.id}`).toEqual([{ name: 'Member' }]);
    expect((await membersTab.get('/console/api/me')).status).toBe(401);
  });

  test('leaves nothing that it sent in any table', async () => {
    const tables = await dumpAll(sql());
    for (const word of words)
      for (const [name, rows] of Object.entries(tables))
        expect(
          rows.filter((row) => row.toLowerCase().includes(word.toLowerCase())),
          `${word} in ${name}`,
        ).toEqual([]);
  });

  test('has no logos and no images of them, while another account keeps the same image', async () => {
    for (const table of ['logos', 'logo_files']) {
      expect(await countIn(table, gone.id), table).toBe(0);
      expect(await countIn(table, other.id), table).toBe(1);
    }
  });

  test('has no scans in the log or the warehouse, and no counts, visitors, deliveries or secrets', async () => {
    for (const table of ['scans', 'deliveries', 'delivery_counts', 'endpoints', 'api_keys'])
      expect(await countIn(table, gone.id), table).toBe(0);
    for (const table of ['subscriptions', 'endpoint_replays', 'imports'])
      expect(await countIn(table, gone.id), table).toBe(0);
    for (const table of ['endpoint_secrets', 'idempotency_keys', 'console_sessions', 'code_counts'])
      expect(await countIn(table, gone.id), table).toBe(0);
    const codes = sql()`SELECT id FROM codes WHERE account = ${gone.id}`;
    expect(await sql()`SELECT * FROM scan_counts WHERE code IN (${codes})`).toEqual([]);
    for (const table of ['visitor_keys', 'unsealed_visitor_keys'])
      expect(await sql()`SELECT * FROM ${sql()(table)} WHERE code IN (${codes})`, table).toEqual([]);
    expect(
      await sql()`
      SELECT * FROM visitors WHERE code_hash IN (SELECT hashtextextended(id, 0) FROM (${codes}) AS c)`,
    ).toEqual([]);
    expect(await sql()`SELECT * FROM rate_windows WHERE subject LIKE ${`${gone.id}/%`}`).toEqual([]);
    const keys = sql()`SELECT id FROM api_keys`;
    expect(await sql()`SELECT * FROM key_usage WHERE key NOT IN (${keys})`).toEqual([]);
    const table = await ledger.inUse(sql());
    const inWarehouse = await countRowsByCode(service.warehouse, {
      version: table?.version ?? 0,
      account: gone.id,
      position: table?.position ?? 0,
    });
    expect([...inWarehouse]).toEqual([]);
  });

  test('keeps position, id, type, time and actor of every event, without the name of a program, and no data', async () => {
    const after = await factsOf(gone.id);
    expect(before.filter(({ actor }) => actor.endsWith('/zebraclient'))).toHaveLength(1);
    expect(after.slice(0, before.length)).toEqual(
      before.map((fact) => ({ ...fact, actor: fact.actor.replace('/zebraclient', '') })),
    );
    const added = after.slice(before.length).map(({ type, actor }) => `${type} by ${actor}`);
    expect([...new Set(added)].sort()).toEqual([
      ...['account_deleted by operator', 'code_deleted by operator', 'code_erased by operator'],
    ]);
    const stored = await sql()<{ type: string; data: object }[]>`
      SELECT type, data FROM events WHERE id = ANY(${after.map(({ id }) => id)})`;
    for (const { type, data } of stored) if (type !== 'code_erased') expect(data, type).toEqual({});
    const events = (await readEvents(sql(), 0, 10_000)).filter(({ stream: of }) => of === active.id);
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ...['code_created', 'destination_changed', 'code_deleted'].map((type) => ['erased', { type }]),
      ['code_erased', { account: gone.id, mode: 'live', short_code: 'zebra-menu', short_code_given: true }],
    ]);
    const shown = await run('events', '--stream', active.id, '--json');
    const [first] = shown.output.split('\n');
    expect(JSON.parse(first ?? '')).toMatchObject({ type: 'code_created', data: {}, erased: true });
  });

  test('keeps its short codes reserved', async () => {
    const { status, body } = await other.live.post('/v1/qrcodes', newCode({ short_code: 'zebra-menu' }));
    expect([status, body.error?.code]).toEqual([409, 'short_code_taken']);
    const kept = await sql()`SELECT name, destination_url, status, style FROM codes WHERE account = ${gone.id}`;
    expect(kept).toHaveLength(24);
    for (const code of kept) expect(code).toEqual({ name: '', destination_url: '', status: 'deleted', style: {} });
  });

  test('causes no differences in verify, during the erasure and after', async () => {
    expect(verifiedMeanwhile).toEqual([]);
    await eventually(async () => expect(await differences()).toEqual([]));
    expect(otherScans).toEqual({ before: 10, after: 10 });
  });

  test('is not restored by a replay, which finds every row correct', async () => {
    const tables = ['accounts', 'api_keys', 'subscriptions', 'codes', 'code_counts', 'scan_counts', 'visitors'];
    const dump = async () => Promise.all(tables.map((table) => dumpTable(sql(), table)));
    await eventually(async () => expect(await differences()).toEqual([]));
    const dumped = await dump();
    expect((await replayState(sql())).corrected).toBe(0);
    expect(await dump()).toEqual(dumped);
    await replayAnalytics({ sql: sql(), warehouse: service.warehouse });
    expect(await differences()).toEqual([]);
  });

  test('can be deleted again with the same result', async () => {
    const { output } = await run('account', 'delete', gone.id, '--json');
    expect(JSON.parse(output)).toEqual({ ...response, erased_at: expect.any(String) });
    expect((await listAccounts(sql())).map(({ id }) => id)).not.toContain(gone.id);
  });
});

describe('scans of a deleted account that arrive late, from a spool', () => {
  test('are erased too, and are not mistaken for a lost tail of the log', async () => {
    await eventually(() => isDone(gone.id));
    await appendLate(active, gone.id);
    const head = await headOfLog(sql());
    await eventually(async () => {
      expect(await scansOf(gone.id)).toBe(0);
      await isDone(gone.id);
    });
    expect(await headOfLog(sql())).toBeGreaterThanOrEqual(head);
    expect(JSON.stringify(await dumpAll(sql()))).not.toContain('Zebrastadt');
    const nats = await connectStream(inject('stack').natsUrl, 'test', new AbortController().signal);
    const manager = await nats.jetstreamManager();
    expect(await findLostTail(sql(), manager, stream, new AbortController().signal)).toBeUndefined();
    await nats.close();
    for (const instance of [0, 1]) expect(await service.metrics(instance)).toContain('scanlog_lost_tails_total 0');
    expect(await differences()).toEqual([]);
  });

  test('are no longer in the stream after a purge, and projections continue from the log', async () => {
    const nats = await connectStream(inject('stack').natsUrl, 'test', new AbortController().signal);
    const manager = await nats.jetstreamManager();
    await manager.streams.purge(stream);
    await scanCode(service.urls[1] as string, otherCode, 3);
    await service.allStored();
    expect(await differences()).toEqual([]);
    await eventually(async () => expect((await manager.streams.info(stream)).state.messages).toBeGreaterThan(0));
    await nats.close();
  });

  test('reopen the erasure when a rebuild of the counters finds them', async () => {
    const { sql: own, drop } = await createDatabase();
    const by = { actor: 'operator', now: new Date() };
    const { id } = await createAccount(own, { name: 'Zebrafisch', plan: 'pro', now: by.now });
    const [made] = await own.begin((tx) => createCodes(tx, testBox, { account: id, mode: 'live' }, [newCode()], by));
    await deleteAccount(own, id, by.now);
    expect(await eraseNext(own, id, by.now)).toMatchObject({ state: 'progressed' });
    const head = await headOfLog(own);
    await own`
      INSERT INTO checkpoints VALUES ('counters', ${head}), ('webhooks', ${head})
      ON CONFLICT (projection) DO UPDATE SET position = excluded.position`;
    await own`
      INSERT INTO warehouse_tables (definition, in_use, position, removed_to, rows) VALUES (1, true, ${head}, 0, 0)`;
    expect(await eraseNext(own, id, by.now)).toEqual({ state: 'waiting', for: 'its scans to leave the warehouse' });
    await own`UPDATE warehouse_tables SET removed_to = ${head}`;
    expect(await eraseNext(own, id, by.now)).toEqual({ state: 'done' });

    const scan = scanned({ code: made?.code.id ?? '', account: id });
    await appendScans(own, batchOf(newId('batch', Date.now()), 1, [scan]));
    await counters.rebuild(own);
    expect(await pendingErasures(own)).toEqual([id]);
    expect(await eraseNext(own, id, by.now)).toMatchObject({
      state: 'waiting',
      for: expect.stringContaining('visitors'),
    });
    await removeAllVisitors(own);
    expect(await eraseNext(own, id, by.now)).toEqual({ state: 'done' });
    expect(await dumpTable(own, 'scans')).toEqual([]);
    await counters.rebuild(own);
    expect(await pendingErasures(own)).toEqual([]);
    await drop();
  });

  test('are reported by verify if they stay', async () => {
    await eventually(() => isDone(gone.id));
    expect(await differences(), 'once all projections have reached the end of the log').toEqual([]);
    // An unused position that the counters have passed.
    const position = await floorOfLog(sql());
    await sql()`
      INSERT INTO scans
      SELECT ${position}, 'scan_left', ${active.id}, ${gone.id}, mode, occurred_at, country, region, city, device, browser,
        is_bot, visitor, false, revision
      FROM scans LIMIT 1`;
    const left = await differences();
    await sql().begin(async (tx) => {
      await tx`SELECT set_config('scanlog.erasing', ${gone.id}, true)`;
      await tx`DELETE FROM scans WHERE id = 'scan_left'`;
    });
    expect(left).toEqual([{ what: 'erasure', code: active.id, log: '1 scans', found: 'erased' }]);
  });
});

describe('the triggers on the log', () => {
  const refusal = 'the log is only ever appended to';
  const erasing = (account: string, statement: string) =>
    sql().begin(async (tx) => {
      await tx`SELECT set_config('scanlog.erasing', ${account}, true)`;
      await tx.unsafe(statement);
    });

  test.each([
    ['data of an event of an account that exists', () => other.id, "UPDATE events SET data = '{}', schema = 0"],
    ['scans of an account that exists', () => other.id, 'DELETE FROM scans'],
    ['scans of others', () => gone.id, 'DELETE FROM scans'],
    ['scans of others in a partition', () => gone.id, 'DELETE FROM scans_0'],
    ['events', () => gone.id, 'DELETE FROM events'],
    ['the type of an event', () => gone.id, "UPDATE events SET type = 'x', data = '{}', schema = 0"],
    ['an event by adding data', () => gone.id, `UPDATE events SET data = '{"a": 1}'`],
    ['all scans', () => gone.id, 'TRUNCATE scans'],
  ])('refuse to change %s during an erasure', async (_, account, statement) => {
    await expect(erasing(account(), statement)).rejects.toThrow(refusal);
  });

  test('refuse scans of an account that exists after scans of a deleted one in the same transaction', async () => {
    const both = sql().begin(async (tx) => {
      for (const account of [gone.id, other.id]) {
        await tx`SELECT set_config('scanlog.erasing', ${account}, true)`;
        await tx`DELETE FROM scans WHERE account = ${account}`;
      }
    });
    await expect(both).rejects.toThrow(refusal);
  });

  test('refuse every change outside an erasure', async () => {
    await expect(sql()`UPDATE events SET data = '{}', schema = 0 WHERE stream = ${gone.id}`).rejects.toThrow(refusal);
    await expect(sql()`DELETE FROM scans WHERE account = ${gone.id}`).rejects.toThrow(refusal);
    await expect(sql().unsafe('DELETE FROM scans_0')).rejects.toThrow(refusal);
  });
});

test('an edge closes the links of a deleted account on its first event, and from Postgres when it starts', async () => {
  const route = { account: gone.id, destination_url: 'https://example.com', disabled: false };
  const started = createBans(sql());
  await started.refresh();
  expect(started.covers(route)).toBe(true);
  const following = createBans(sql());
  const deletion = (await readStream(sql(), gone.id)).filter(({ type }) => type === 'account_deleted');
  expect(following.covers(route)).toBe(false);
  following.apply(deletion);
  expect(following.covers(route)).toBe(true);
  expect(following.covers({ ...route, account: other.id })).toBe(false);
});

test('the command deletes an empty account immediately', async () => {
  const { id } = await service.account();
  const { code, output } = await run('account', 'delete', id, '--yes', '--json');
  expect([code, JSON.parse(output)]).toEqual([
    0,
    { account_id: id, deleted_at: expect.any(String), erased_at: expect.any(String) },
  ]);
  const [event] = await sql()`SELECT type, actor, data FROM events WHERE stream = ${id} ORDER BY version DESC LIMIT 1`;
  expect(event).toEqual({ type: 'account_deleted', actor: 'operator', data: {} });
});

test('codes are erased in chunks, and after each chunk a replay finds every row correct', async () => {
  const { sql: own, drop } = await createDatabase();
  const by = { actor: 'operator', now: new Date() };
  const { id } = await createAccount(own, { name: 'Zebrafisch', plan: 'enterprise', now: by.now });
  const requests = Array.from({ length: 250 }, () => newCode());
  await own.begin((tx) => createCodes(tx, testBox, { account: id, mode: 'live' }, requests, by));
  await deleteAccount(own, id, by.now);
  for (const left of [50, 0]) {
    expect(await eraseNext(own, id, by.now)).toMatchObject({ state: 'progressed' });
    const [row] = await own<[{ count: number }]>`SELECT count(*) FROM codes WHERE name <> '' AND status <> 'deleted'`;
    expect(row.count).toBe(left);
    expect((await replayState(own)).corrected).toBe(0);
  }
  const waiting = {
    state: 'waiting',
    for: expect.stringMatching(/^the (counters|webhooks|warehouse) to reach position/),
  };
  expect(await eraseNext(own, id, by.now)).toEqual(waiting);
  await drop();
});

test('codes cannot be created for an account that was deleted after the request was authorized', async () => {
  const account = await service.account();
  await deleteAccount(sql(), account.id, new Date());
  const by = { actor: 'key_1', now: new Date() };
  for (const mode of ['live', 'test'] as const)
    await expect(
      sql().begin((tx) => createCodes(tx, testBox, { account: account.id, mode }, [newCode()], by)),
    ).rejects.toMatchObject({ code: 'not_found' });
  // The account has no scans in the warehouse, so its erasure waits for nothing there.
  await eventually(async () => expect(await eraseNext(sql(), account.id, new Date())).toEqual({ state: 'done' }));
});

test.each([
  [['account', 'delete', 'acct_none', '--yes'], 'There is no account acct_none'],
  [['account', 'delete', '<other>'], 'cannot be undone: repeat the command with --yes'],
])('%j fails with one line', async (args, message) => {
  const { code, output } = await run(...args.map((arg) => (arg === '<other>' ? other.id : arg)));
  expect(code).toBe(1);
  expect(output).toContain(message);
  expect(output.trim().split('\n')).toHaveLength(1);
});
