import { beforeAll, describe, expect, test } from 'vitest';
import { hashOfKey } from '../../src/accounts/keys.ts';
import { png } from '../logos/images.ts';
import { type Api, created, newCode, type ReceivedResponse } from '../support/api.ts';
import { openTab } from '../support/console.ts';
import { type DocumentedOperation, type OperationObject, operationsOf } from '../support/documented.ts';
import { eventually } from '../support/eventually.ts';
import { blamedFields, unknownKey } from '../support/http.ts';
import { person } from '../support/people.ts';
import { endWindows, holdWindows } from '../support/rate-windows.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { dumpTable } from '../support/tables.ts';
import { retrying } from '../support/warehouse.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { codeOf, mayCallTests, newPath, scanCode, setHook } from '../webhooks/webhook-support.ts';

const service = useService({ config: mayCallTests });
const receiver = useReceiver();

type Mode = 'live' | 'test';
interface Resources {
  /** One resource of each kind, by the prefix of its id. */
  ids: Record<
    'qr_' | 'key_' | 'whd_' | 'logo_' | 'wh_' | 'whr_' | 'shr_' | 'rpt_' | 'alr_' | 'dom_' | 'usr_' | 'inv_',
    string
  >;
  url: string;
}

let owner: TestAccount;
let stranger: TestAccount;
const ofOwner = {} as Record<Mode, Resources>;
let operations: DocumentedOperation[];

type OfBoth = Pick<Resources['ids'], 'dom_' | 'usr_' | 'inv_'>;

/** Creates one of each kind of resources: a scanned code, a webhook with a delivery and a replay, … Domain, member and invitation are of both modes. */
async function createResources(account: TestAccount, mode: Mode, ofBoth: OfBoth): Promise<Resources> {
  const api = account[mode];
  const { url } = await setHook(api, receiver.url(newPath()));
  const code = await codeOf(api);
  await scanCode(service.urls[0] as string, code);
  const { id: key } = (await api.post('/v1/account/keys', { name: 'Website' })).body;
  const delivery = await eventually(async () => {
    const [row] = await service.database.sql<{ id: string }[]>`
      SELECT id FROM deliveries WHERE account = ${account.id} AND webhook = ${mode} AND status = 'delivered'`;
    if (row === undefined) throw new Error('not delivered yet');
    return row.id;
  });
  const image = { method: 'POST', body: new Uint8Array(png()), headers: { 'content-type': 'image/png' } };
  const { id: logo } = (await api.send('/v1/logos', image)).body;
  const [webhook] = (await api.get('/v1/webhooks')).body.data;
  const replay = await api.post(`/v1/webhooks/${webhook.id}/replay`, { from: '2026-01-01', only: 'missing' });
  expect(replay.status).toBe(202);
  const { id: share } = (await api.post('/v1/shares', { name: 'Client', qr_ids: [code.id] })).body;
  const { id: alert } = (await api.post('/v1/alerts', { kind: 'silent', qr_ids: [code.id] })).body;
  const { id: report } = (
    await api.post('/v1/reports', { name: 'Client', every: 'week', qr_ids: [code.id], to: ['ada@example.com'] })
  ).body;
  const ofWebhook = { whd_: delivery, wh_: webhook.id, whr_: replay.body.id };
  const told = { shr_: share, rpt_: report, alr_: alert };
  return { ids: { qr_: code.id, key_: key, logo_: logo, ...ofWebhook, ...told, ...ofBoth }, url };
}

async function createBoth(account: TestAccount, name: string): Promise<[live: Resources, test: Resources]> {
  const { id: dom_ } = (await account.live.post('/v1/domains', { name })).body;
  const invitation = { email: `guest@${name}`, role: 'viewer' };
  const { id: inv_ } = (await account.live.post('/v1/account/invitations', invitation)).body;
  const { id: usr_ } = await person(service, { account: account.id });
  const ofBoth = { dom_, inv_, usr_ };
  // One after the other: of changes of one account at the same time, one that loses twice is a conflict.
  return [await createResources(account, 'live', ofBoth), await createResources(account, 'test', ofBoth)];
}

beforeAll(async () => {
  operations = await operationsOf(service.urls[0] as string);
  [owner, stranger] = [await service.account(), await service.account()];
  [ofOwner.live, ofOwner.test] = await createBoth(owner, 'go.owner-cafe.com');
  // The stranger has resources of the same kinds, so that only the owner can be the reason for a 404.
  await createBoth(stranger, 'go.stranger-cafe.com');
});

/** All tables with data of accounts, except those that change without a request, such as counters and rate limits. */
async function dumpTables(): Promise<Record<string, string[]>> {
  const { sql } = service.database;
  const tables = [
    'events',
    'codes',
    'visitor_keys',
    'api_keys',
    'logos',
    'endpoint_secrets',
    'deliveries',
    'subscriptions',
    'shares',
    'alerts',
    'reports',
    'mail_recipients',
    'domains',
    'members',
    'invitations',
    'one_time_links',
  ];
  return Object.fromEntries(await Promise.all(tables.map(async (name) => [name, await dumpTable(sql, name)])));
}

type Kind = keyof Resources['ids'];

/** The kinds of ids in a path, from the parameters' descriptions; a new kind fails the test until it is added above. */
const kindsOf = ({ parameters = [] }: OperationObject): Kind[] =>
  parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ description = '' }) => {
      const [, prefix] = /`(\w+_)…`/.exec(description) ?? [];
      expect(Object.keys(ofOwner.live.ids)).toContain(prefix);
      return prefix as Kind;
    });

/** The path with an id for each of its placeholders. */
const filled = (path: string, kinds: Kind[], idOf: (kind: Kind) => string) =>
  kinds.reduce((text, kind) => text.replace(/\{\w+\}/, idOf(kind)), path);

const sendExample = (
  api: Api,
  method: string,
  path: string,
  operation: OperationObject,
): Promise<ReceivedResponse<unknown>> => {
  const example = operation.requestBody?.content['application/json']?.example;
  const body = example === undefined ? {} : { body: JSON.stringify(example) };
  return api.send(path, { method, headers: { 'content-type': 'application/json' }, ...body });
};

/** For live keys only. */
const isLiveOnly = (kind: Kind) => ['dom_', 'usr_', 'inv_'].includes(kind);
/** Keys, domains, members and invitations belong to the account, whatever the mode. */
const isOfBothModes = (kind: Kind) => kind === 'key_' || isLiveOnly(kind);

const operationsWithId = () =>
  operations.flatMap(([method, path, operation]) => {
    const kinds = kindsOf(operation);
    const [kind] = kinds;
    return kind === undefined ? [] : [{ method, path, operation, kind, kinds }];
  });

describe('resources of another account or mode', () => {
  test('answer 404 for every operation that takes an id, and do not change', async () => {
    const withId = operationsWithId();
    expect(withId.length).toBeGreaterThanOrEqual(13);
    expect(new Set(withId.flatMap(({ kinds }) => kinds))).toEqual(new Set(Object.keys(ofOwner.live.ids)));
    const before = await dumpTables();

    for (const { method, path, operation, kind, kinds } of withId)
      for (const mode of ['live', 'test'] as const) {
        const existing = filled(path, kinds, (one) => ofOwner[mode].ids[one]);
        const others: [string, Api][] = [
          ['another account', stranger[mode]],
          ['another account in the other mode', stranger[mode === 'live' ? 'test' : 'live']],
          ...(isOfBothModes(kind)
            ? []
            : [['the other mode', owner[mode === 'live' ? 'test' : 'live']] as [string, Api]]),
        ].filter(([, api]) => !isLiveOnly(kind) || api === stranger.live) as [string, Api][];
        for (const [who, api] of others) {
          const response = await sendExample(api, method, existing, operation);
          const unknown = filled(path, kinds, (one) => `${one}0000000000000000000000`);
          expect(response.status, `${method} ${existing} by ${who}`).toBe(404);
          // Only the account itself learns that it has the code in its other mode.
          if (kind === 'qr_' && who === 'the other mode') {
            expect(response.text).toContain(`This is a ${mode} code`);
            continue;
          }
          expect(response.text, 'the same response as for an id that does not exist').toBe(
            (await sendExample(api, method, unknown, operation)).text,
          );
        }
      }
    await endWindows(service.database.sql);
    expect(await dumpTables()).toEqual(before);
  });

  test('answer 404 in the console, too', async () => {
    const [strangers, ownersLive] = [openTab(service.urls[0] as string), openTab(service.urls[0] as string)];
    // Requests of other tests count for the same address, which sign-ins do, too.
    await endWindows(service.database.sql);
    await strangers.signIn(stranger.keys.live);
    await strangers.signIn(stranger.keys.test);
    await ownersLive.signIn(owner.keys.live);
    const before = await dumpTables();
    for (const { method, path, operation, kind, kinds } of operationsWithId()) {
      await endWindows(service.database.sql);
      const body = operation.requestBody?.content['application/json']?.example;
      const pathIn = (mode: Mode) =>
        filled(path.replace('/v1', '/console/api'), kinds, (one) => ofOwner[mode].ids[one]);
      const statuses = [
        await strangers.send(method, `${pathIn('live')}?mode=live`, body),
        ...(isLiveOnly(kind) ? [] : [await strangers.send(method, `${pathIn('test')}?mode=test`, body)]),
        ...(isOfBothModes(kind) ? [] : [await ownersLive.send(method, pathIn('test'), body)]),
      ].map(({ status }) => status);
      expect(new Set(statuses), `${method} ${path}`).toEqual(new Set([404]));
      expect((await ownersLive.send(method, `${pathIn('test')}?mode=test`, body)).status, 'not signed in').toBe(401);
    }
    expect(await dumpTables()).toEqual(before);
  });

  test('are in no list and no count of another account', async () => {
    const fresh = await service.account();
    const secrets = [ofOwner.live, ofOwner.test].flatMap(({ ids, url }) => [...Object.values(ids), url]);
    for (const [method, path, operation] of operations) {
      if (method !== 'GET' || kindsOf(operation).length > 0) continue;
      for (const mode of ['live', 'test'] as const) {
        const { text } = await retrying(fresh[mode]).get(path);
        for (const secret of [...secrets, owner.id, stranger.id]) expect(text, path).not.toContain(secret);
      }
    }
    const { body } = await retrying(fresh.live).get('/v1/analytics/aggregate');
    expect(body.summary).toMatchObject({ total_scans: 0, total_qrcodes: 0 });
  });

  test('are in no list of the other mode', async () => {
    const shown = ({ ids, url }: Resources): [path: string, what: string][] => [
      ['/v1/qrcodes', ids.qr_],
      ['/v1/account/webhook', url],
      ['/v1/account/webhook/deliveries', ids.whd_],
      ['/v1/webhooks', ids.wh_],
    ];
    for (const [path, what] of shown(ofOwner.live)) {
      expect((await owner.live.get(path)).text).toContain(what);
      expect((await owner.test.get(path)).text).not.toContain(what);
    }
    for (const [path, what] of shown(ofOwner.test)) {
      expect((await owner.test.get(path)).text).toContain(what);
      expect((await owner.live.get(path)).text).not.toContain(what);
    }
  });

  test('are not returned for the same Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'order-1' };
    const first = await owner.live.post('/v1/qrcodes', newCode(), key);
    const responses = [
      await stranger.live.post('/v1/qrcodes', newCode(), key),
      await owner.test.post('/v1/qrcodes', newCode(), key),
    ];
    for (const { status, body, headers } of responses) {
      expect(status).toBe(201);
      expect(body.id).not.toBe(first.body.id);
      expect(headers.get('idempotent-replayed')).toBeNull();
    }
  });

  test('keep their short codes, and the 409 does not reveal their ids', async () => {
    const body = await created(owner.test);
    const refused = await stranger.live.post('/v1/qrcodes', newCode({ short_code: body.short_code }));
    expect([refused.status, blamedFields(refused)]).toEqual([409, ['short_code']]);
    expect(refused.text).not.toContain(body.id);
  });
});

describe('keys', () => {
  let last = 0;
  /** Each request comes from another address, so that the rate limit without a key does not apply. */
  const getAccount = (authorization: string) =>
    service.client(0).get('/v1/account', { authorization, 'x-forwarded-for': `2001:db8:${(++last).toString(16)}::1` });

  test('every operation refuses an unknown key', async () => {
    const before = await dumpTables();
    const unknown = service.client(0, unknownKey());
    for (const [method, path, operation] of operations) {
      const response = await sendExample(unknown, method, path.replace(/\{\w+\}/, ofOwner.live.ids.qr_), operation);
      expect([401, 429], `${method} ${path}`).toContain(response.status);
    }
    expect(await dumpTables()).toEqual(before);
  });

  test('wrong keys all get the same response, however similar they are to an existing or a revoked key', async () => {
    const { live } = owner.keys;
    const flip = (at: number, key = live) => `${key.slice(0, at)}${key[at] === 'x' ? 'y' : 'x'}${key.slice(at + 1)}`;
    const revoked = (await owner.live.post('/v1/account/keys', { name: 'Gone' })).body;
    await owner.live.delete(`/v1/account/keys/${revoked.id}`);
    const end = live.length - 1;
    const wellFormed = [unknownKey(), flip(8), flip(30), flip(end), flip(8, revoked.key), flip(end, revoked.key)];
    const malformed = [hashOfKey(live), owner.id, live.slice(0, -1), revoked.key.slice(0, -1)];
    for (const guesses of [wellFormed, malformed]) {
      const responses = await Promise.all(guesses.map((guess) => getAccount(`Bearer ${guess}`)));
      for (const { status, text } of responses) {
        expect(status).toBe(401);
        expect(text).toBe(responses[0]?.text);
      }
    }
  });

  test('are looked up by their hash only, so timing does not reveal how similar a guess is', async () => {
    const { sql } = service.database;
    const rows = await sql<{ hash: string; last4: string }[]>`SELECT hash, last4 FROM api_keys`;
    const secrets = [owner, stranger].flatMap(({ keys }) => Object.values(keys));
    expect(rows.filter(({ hash }) => secrets.map(hashOfKey).includes(hash))).toHaveLength(4);
    const everything = JSON.stringify(await dumpTables());
    // A secret that is not stored cannot be compared character by character.
    for (const secret of secrets) expect(everything).not.toContain(secret.slice(8, -4));
    const [unique] = await sql`
      SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE i.indrelid = 'api_keys'::regclass AND a.attname = 'hash' AND i.indisunique AND i.indnatts = 1`;
    expect(unique, 'there is a unique index on the hash').toBeDefined();
  });

  test('guessing keys is rate-limited by client address, and does not affect valid keys', async () => {
    const from = { 'x-forwarded-for': '198.51.100.77' };
    // Not by the client, which expects the window to end within a minute.
    const statusFor = async (key: string) => {
      const headers = { ...from, authorization: `Bearer ${key}` };
      return (await fetch(`${service.urls[0]}/v1/account`, { headers })).status;
    };
    const guess = () => statusFor(unknownKey());
    expect(await guess()).toBe(401);
    await holdWindows(service.database.sql);
    const statuses = await Promise.all(Array.from({ length: 61 }, guess));
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    expect(await statusFor(owner.keys.live), 'a valid key from the same address').toBe(200);
    await endWindows(service.database.sql);
  });
});
