import { beforeAll, describe, expect, test } from 'vitest';
import { hashOfKey } from '../../src/accounts/accounts.ts';
import { type Api, type ApiAnswer, newCode } from '../support/api.ts';
import { openTab } from '../support/console.ts';
import { type DocumentedOperation, type OperationObject, operationsOf } from '../support/documented.ts';
import { eventually } from '../support/eventually.ts';
import { blamedFields, unknownKey } from '../support/http.ts';
import { endWindows } from '../support/limits.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { dumpTable } from '../support/tables.ts';
import { patient } from '../support/warehouse.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { codeOf, mayCallTests, newPath, scanCode, setHook } from '../webhooks/webhook-support.ts';

const service = useService({ config: mayCallTests });
const receiver = useReceiver();

type Mode = 'live' | 'test';
interface Belongings {
  /** Of each kind of thing that has an id, one, by what its id begins with. */
  ids: Record<'qr_' | 'key_' | 'whd_', string>;
  url: string;
}

let owner: TestAccount;
let stranger: TestAccount;
const of = {} as Record<Mode, Belongings>;
let operations: DocumentedOperation[];

/** A code that was scanned, a webhook that heard of it, and a key. */
async function settle(account: TestAccount, mode: Mode): Promise<Belongings> {
  const api = account[mode];
  const { url } = await setHook(api, receiver.url(newPath()));
  const code = await codeOf(api);
  await scanCode(service.urls[0] as string, code);
  const { id: key } = (await api.post('/v1/account/keys', { name: 'Website' })).body;
  const delivery = await eventually(async () => {
    const [row] = await service.database.sql<{ id: string }[]>`
      SELECT id FROM webhook_deliveries WHERE account = ${account.id} AND mode = ${mode} AND status = 'delivered'`;
    if (row === undefined) throw new Error('not delivered yet');
    return row.id;
  });
  return { ids: { qr_: code.id, key_: key, whd_: delivery }, url };
}

beforeAll(async () => {
  operations = await operationsOf(service.urls[0] as string);
  [owner, stranger] = [await service.account(), await service.account()];
  [of.live, of.test] = await Promise.all([settle(owner, 'live'), settle(owner, 'test')]);
  // The stranger has everything of the same kind, so that only whose it is can be the reason to refuse.
  await Promise.all([settle(stranger, 'live'), settle(stranger, 'test')]);
});

/** Everything the service keeps for the owner, apart from what counts requests and what still moves by itself. */
async function kept(): Promise<Record<string, string[]>> {
  const { sql } = service.database;
  const tables = ['events', 'codes', 'visitor_keys', 'api_keys', 'webhooks', 'webhook_secrets', 'webhook_deliveries'];
  return Object.fromEntries(await Promise.all(tables.map(async (name) => [name, await dumpTable(sql, name)])));
}

/** Which kind of thing a path's id names, as its description says; a new kind fails the test until it is added above. */
function kindOf({ parameters = [] }: OperationObject): keyof Belongings['ids'] | undefined {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  if (inPath.length === 0) return undefined;
  expect(inPath).toHaveLength(1);
  const [, prefix] = /`(\w+_)…`/.exec(inPath[0]?.description ?? '') ?? [];
  expect(Object.keys(of.live.ids)).toContain(prefix);
  return prefix as keyof Belongings['ids'];
}

const ask = (api: Api, method: string, path: string, operation: OperationObject): Promise<ApiAnswer<unknown>> => {
  const example = operation.requestBody?.content['application/json']?.example;
  const body = example === undefined ? {} : { body: JSON.stringify(example) };
  return api.send(path, { method, headers: { 'content-type': 'application/json' }, ...body });
};

const takingAnId = () =>
  operations.flatMap(([method, path, operation]) => {
    const kind = kindOf(operation);
    return kind === undefined ? [] : [{ method, path, operation, kind }];
  });

describe('what belongs to somebody else', () => {
  test('is not there, for every operation that takes an id, and nothing of it changes', async () => {
    const taking = takingAnId();
    expect(taking.length).toBeGreaterThanOrEqual(13);
    expect(new Set(taking.map(({ kind }) => kind)).size).toBe(3);
    const before = await kept();

    for (const { method, path, operation, kind } of taking)
      for (const mode of ['live', 'test'] as const) {
        const theirs = path.replace(/\{\w+\}/, of[mode].ids[kind]);
        const others: [string, Api][] = [
          ['another account', stranger[mode]],
          ['another account in the other mode', stranger[mode === 'live' ? 'test' : 'live']],
          // Keys are the account's, in both modes: the interface gives a key full access to its account.
          ...(kind === 'key_' ? [] : [['the other mode', owner[mode === 'live' ? 'test' : 'live']] as [string, Api]]),
        ];
        for (const [who, api] of others) {
          const answer = await ask(api, method, theirs, operation);
          const nobodys = await ask(api, method, path.replace(/\{\w+\}/, `${kind}0000000000000000000000`), operation);
          expect(answer.status, `${method} ${theirs} by ${who}`).toBe(404);
          expect(answer.text, 'as if it did not exist').toBe(nobodys.text);
        }
      }
    await endWindows(service.database.sql);
    expect(await kept()).toEqual(before);
  });

  test('is not there in the console either, for who is signed in to another account or mode', async () => {
    const [strangers, ownersLive] = [openTab(service.urls[0] as string), openTab(service.urls[0] as string)];
    await strangers.signIn(stranger.keys.live);
    await strangers.signIn(stranger.keys.test);
    await ownersLive.signIn(owner.keys.live);
    const before = await kept();
    for (const { method, path, operation, kind } of takingAnId()) {
      const body = operation.requestBody?.content['application/json']?.example;
      const asked = (mode: Mode) => path.replace('/v1', '/console/api').replace(/\{\w+\}/, of[mode].ids[kind]);
      const statuses = [
        await strangers.send(method, `${asked('live')}?mode=live`, body),
        await strangers.send(method, `${asked('test')}?mode=test`, body),
        ...(kind === 'key_' ? [] : [await ownersLive.send(method, asked('test'), body)]),
      ].map(({ status }) => status);
      expect(new Set(statuses), `${method} ${path}`).toEqual(new Set([404]));
      expect((await ownersLive.send(method, `${asked('test')}?mode=test`, body)).status, 'no key, no mode').toBe(401);
    }
    expect(await kept()).toEqual(before);
  });

  test('is in no list, no count and no figure', async () => {
    const fresh = await service.account();
    const secrets = [of.live, of.test].flatMap(({ ids, url }) => [...Object.values(ids), url]);
    for (const [method, path, operation] of operations) {
      if (method !== 'GET' || kindOf(operation) !== undefined) continue;
      for (const mode of ['live', 'test'] as const) {
        const { text } = await patient(fresh[mode]).get(path);
        for (const secret of [...secrets, owner.id, stranger.id]) expect(text, path).not.toContain(secret);
      }
    }
    const { body } = await patient(fresh.live).get('/v1/analytics/aggregate');
    expect(body.summary).toMatchObject({ total_scans: 0, total_qrcodes: 0 });
  });

  test('nor is what belongs to the other mode', async () => {
    const shown = ({ ids, url }: Belongings): [path: string, what: string][] => [
      ['/v1/qrcodes', ids.qr_],
      ['/v1/account/webhook', url],
      ['/v1/account/webhook/deliveries', ids.whd_],
    ];
    for (const [path, what] of shown(of.live)) {
      expect((await owner.live.get(path)).text).toContain(what);
      expect((await owner.test.get(path)).text).not.toContain(what);
    }
    for (const [path, what] of shown(of.test)) {
      expect((await owner.test.get(path)).text).toContain(what);
      expect((await owner.live.get(path)).text).not.toContain(what);
    }
  });

  test('an Idempotency-Key repeats nobody else’s answer', async () => {
    const key = { 'idempotency-key': 'order-1' };
    const first = await owner.live.post('/v1/qrcodes', newCode(), key);
    const answers = [
      await stranger.live.post('/v1/qrcodes', newCode(), key),
      await owner.test.post('/v1/qrcodes', newCode(), key),
    ];
    for (const { status, body, headers } of answers) {
      expect(status).toBe(201);
      expect(body.id).not.toBe(first.body.id);
      expect(headers.get('idempotent-replayed')).toBeNull();
    }
  });

  test('a short code of another account or mode cannot be had, and is told apart from none by nothing else', async () => {
    const { body } = await owner.test.post('/v1/qrcodes', newCode());
    const refused = await stranger.live.post('/v1/qrcodes', newCode({ short_code: body.short_code }));
    expect([refused.status, blamedFields(refused)]).toEqual([409, ['short_code']]);
    expect(refused.text).not.toContain(body.id);
  });
});

describe('keys', () => {
  let last = 0;
  /** From an address of its own each, so that the limit for strangers does not interfere. */
  const knock = (authorization: string) =>
    service.client(0).get('/v1/account', { authorization, 'x-forwarded-for': `2001:db8:${(++last).toString(16)}::1` });

  test('a stranger is refused by every operation, and by every path that is none', async () => {
    const before = await kept();
    const nobody = service.client(0, unknownKey());
    for (const [method, path, operation] of operations) {
      const answer = await ask(nobody, method, path.replace(/\{\w+\}/, of.live.ids.qr_), operation);
      expect([401, 429], `${method} ${path}`).toContain(answer.status);
    }
    expect(await kept()).toEqual(before);
  });

  test('guesses at a key that exists are refused all alike: nothing tells how near they were', async () => {
    const { live } = owner.keys;
    const flip = (at: number) => `${live.slice(0, at)}${live[at] === 'x' ? 'y' : 'x'}${live.slice(at + 1)}`;
    const revoked = (await owner.live.post('/v1/account/keys', { name: 'Gone' })).body;
    await owner.live.delete(`/v1/account/keys/${revoked.id}`);
    const guesses = [unknownKey(), flip(8), flip(30), flip(live.length - 1), revoked.key, hashOfKey(live), owner.id];
    const answers = await Promise.all(guesses.map((guess) => knock(`Bearer ${guess}`)));
    for (const { status, text } of answers) {
      expect(status).toBe(401);
      expect(text).toBe(answers[0]?.text);
    }
  });

  test('are looked up by their hash alone: the work is the same for a guess that shares all but one letter', async () => {
    const { sql } = service.database;
    const rows = await sql<{ hash: string; last4: string }[]>`SELECT hash, last4 FROM api_keys`;
    const secrets = [owner, stranger].flatMap(({ keys }) => Object.values(keys));
    expect(rows.filter(({ hash }) => secrets.map(hashOfKey).includes(hash))).toHaveLength(4);
    const everything = JSON.stringify(await kept());
    // What is not stored cannot be compared with, letter by letter or otherwise.
    for (const secret of secrets) expect(everything).not.toContain(secret.slice(8, -4));
    const [unique] = await sql`
      SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE i.indrelid = 'api_keys'::regclass AND a.attname = 'hash' AND i.indisunique AND i.indnatts = 1`;
    expect(unique, 'found through an index over the hash').toBeDefined();
  });

  test('guessing is slowed down for who does it, and for nobody else', async () => {
    const from = { 'x-forwarded-for': '198.51.100.77' };
    const guesses = Array.from({ length: 62 }, () =>
      service.client(0).get('/v1/account', { ...from, authorization: `Bearer ${unknownKey()}` }),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort();
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    expect((await owner.live.get('/v1/account', from)).status, 'who has a key is not concerned').toBe(200);
  });
});
