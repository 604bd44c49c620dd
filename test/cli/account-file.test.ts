import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecretBox } from '../../src/lib/secret-box.ts';
import { type FileKey, fileKeyOf } from '../../src/maintenance/portable/file-key.ts';
import { type ImportStep, importAccount } from '../../src/maintenance/portable/import.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { type Api, apiClient, type Json, newCode } from '../support/api.ts';
import { archiveAll, useArchiveFolder } from '../support/archive.ts';
import { command } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { type TestService, testSecretKey, useService } from '../support/service.ts';
import { expectAllAgree } from '../support/verified.ts';
import { retrying } from '../support/warehouse.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { allApplied, mayCallTests, scanCode, setHook, untilThereAre } from '../webhooks/webhook-support.ts';

const otherSecretKey = 'the-secret-key-of-the-other-instance';
const archive = useArchiveFolder();
const home = useService({ config: mayCallTests });
const away = useService({ config: { ...mayCallTests, secretKey: otherSecretKey } });
const receiver = useReceiver();
const folder = mkdtempSync(join(tmpdir(), 'scanlog-account-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// All databases of the tests are copies of one, and so have the same key of cursors.
beforeAll(() => away.database.sql`UPDATE secrets SET value = uuid_send(gen_random_uuid()) WHERE name = 'event_cursor'`);

const environmentOf = ({ database }: TestService) => ({
  DATABASE_URL: database.url,
  SECRET_KEY: database === home.database ? testSecretKey : otherSecretKey,
});

/** Runs a command on a service, and returns its response. */
async function scanlog(service: TestService, ...args: string[]): Promise<Json> {
  const { code, output } = await command([...args, '--json'], environmentOf(service));
  expect(code, output).toBe(0);
  return JSON.parse(output.slice(output.indexOf('{')));
}

/** Exports an account of one service and imports it into another. */
async function move(account: string, from: TestService, to: TestService): Promise<Json> {
  const file = join(folder, `${account}-${from.urls[0]?.slice(-5)}.account`);
  const { key } = await scanlog(from, 'account', 'export', account, file);
  return scanlog(to, 'account', 'import', file, '--key', key);
}

/** Cuts an import off, and removes what it has left. */
async function importInVain(account: string): Promise<void> {
  const file = join(folder, 'cut.account');
  const { key } = await scanlog(home, 'account', 'export', account, file);
  const onStep = ({ step }: ImportStep) => {
    if (step === 'show') throw new Error('cut off');
  };
  const options = { sql: away.database.sql, box: createSecretBox(otherSecretKey), key: fileKeyOf(key) as FileKey };
  await expect(importAccount(file, { ...options, now: new Date(), onStep })).rejects.toThrow('cut off');
  await expectAllAgree(away.database.sql, away.warehouse);
  await scanlog(away, 'account', 'delete', account);
}

/** An account with everything that a file carries, and its codes. */
async function furnish(api: Api, test: Api): Promise<string[]> {
  const create = async (client: Api, body: Json = {}) => {
    const { status, body: code, text } = await client.post('/v1/qrcodes', newCode(body));
    expect(status, text).toBe(201);
    return code;
  };
  const codes = [
    await create(api, { name: 'Plain', tags: ['Menu', 'Wien'] }),
    await create(api, { name: 'Given', short_code: 'Table-1' }),
    await create(api, { name: 'Limited', max_scans: 50 }),
    await create(api, { name: 'Deleted' }),
    await create(test, { name: 'Test' }),
  ];
  const url = home.urls[0] as string;
  await scanCode(url, codes[0], 12);
  await api.patch(`/v1/qrcodes/${codes[0].id}`, { destination_url: 'https://example.com/later', name: 'Ü "\\' });
  await scanCode(url, codes[0], 3);
  await scanCode(url, codes[2], 4);
  await scanCode(url, codes[3], 2);
  await scanCode(url, codes[4], 2);
  await api.delete(`/v1/qrcodes/${codes[3].id}`);
  await create(api, { name: 'Locked', password: 'open sesame' });
  const shared = await api.post('/v1/shares', { name: 'For the client', qr_ids: [codes[0].id] });
  expect(shared.status, shared.text).toBe(201);
  return codes.slice(0, 3).map(({ id }) => id);
}

/** Responses about an account that must be the same on both instances. */
async function responsesOf(service: TestService, key: string, codes: string[]): Promise<string[]> {
  const url = service.urls[0] as string;
  const api = retrying(apiClient(url, key));
  const period = 'start_date=2026-01-01&end_date=2099-12-31';
  const paths = [
    ...[
      '/v1/qrcodes?limit=100',
      '/v1/account',
      '/v1/account/keys',
      '/v1/account/webhook',
      '/v1/shares',
      '/v1/account/audit',
    ],
    ...['/v1/events?limit=1000', `/v1/analytics/aggregate?${period}`],
    ...codes.flatMap((id) => [
      ...[`/v1/qrcodes/${id}`, `/v1/qrcodes/${id}/history`, `/v1/analytics/qrcodes/${id}?${period}`],
      `/v1/analytics/qrcodes/${id}/scans?${period}&limit=100`,
    ]),
  ];
  const own = /"(last_used_at|next|requests)":("[^"]*"|null|\d+)/g;
  return Promise.all(
    paths.map(async (path) => {
      const { status, text } = await api.get(path);
      return `${path} ${status} ${text.replaceAll(url, '').replaceAll(own, '')}`;
    }),
  );
}

/** A scan by a visitor who has an address and a user agent. */
async function scanAs(service: TestService, { short_code }: Json, visitor: number): Promise<void> {
  const headers = { 'x-forwarded-for': `81.2.69.${visitor}`, 'user-agent': 'Mozilla/5.0 (iPhone) Safari' };
  const response = await fetch(`${service.urls[0]}/${short_code}`, { redirect: 'manual', headers });
  expect(response.status).toBe(302);
}

const codeAt = async (service: TestService, key: string, id: string) =>
  (await apiClient(service.urls[0] as string, key).get(`/v1/qrcodes/${id}`)).body;

const eventsAfter = async (service: TestService, key: string, cursor: string): Promise<string[]> => {
  const { status, body, text } = await apiClient(service.urls[0] as string, key).get(
    `/v1/events?limit=1000&after=${cursor}`,
  );
  expect(status, text).toBe(200);
  return body.data.map(({ id }: Json) => id);
};

test('an account moves to another instance and back with the same ids, numbers and cursors', async () => {
  const { id: account, keys, live, test: testMode } = await home.account();
  const { secret } = await setHook(live, receiver.url('moved'));
  const codes = await furnish(live, testMode);
  const [code] = codes as [string];
  const { short_code } = await codeAt(home, keys.live, code);
  await scanAs(home, { short_code }, 7);
  await allApplied(home);
  const { next } = (await live.get('/v1/events?limit=5')).body;
  const rest = await eventsAfter(home, keys.live, next);
  await expectAllAgree(home.database.sql, home.warehouse);
  const before = await responsesOf(home, keys.live, codes);
  await archiveAll(home.database.sql, archive);
  const sent = receiver.received('moved').length;

  await importInVain(account);
  expect((await fetch(`${away.urls[0]}/${short_code}`, { redirect: 'manual' })).status).toBe(410);
  await move(account, home, away);
  await expectAllAgree(away.database.sql, away.warehouse);
  expect(await responsesOf(away, keys.live, codes)).toEqual(before);
  expect(await eventsAfter(away, keys.live, next), 'a cursor of the other instance').toEqual(rest);
  expect((await replayState(away.database.sql)).corrected).toBe(0);

  // The visitor is known there, and the webhook gets what happens there, signed with its secret.
  await scanAs(away, { short_code }, 7);
  await untilThereAre(away.database.sql, account, 1, 'delivered');
  expect(receiver.received('moved').length, 'nothing is sent twice').toBe(sent + 1);
  expect((await apiClient(away.urls[0] as string, keys.live).get('/v1/account/webhook')).body.secret).toBe(secret);
  await eventually(async () =>
    expect(await codeAt(away, keys.live, code)).toMatchObject({ total_scans: 17, unique_scans: 16 }),
  );
  const there = await apiClient(away.urls[0] as string, keys.live).get('/v1/events?limit=5');

  await scanlog(home, 'account', 'delete', account, '--yes');
  expect((await fetch(`${home.urls[0]}/${short_code}`, { redirect: 'manual' })).status).toBe(410);
  const changed = await responsesOf(away, keys.live, codes);
  await move(account, away, home);
  await expectAllAgree(home.database.sql, home.warehouse);
  expect(await responsesOf(home, keys.live, codes)).toEqual(changed);
  const all = await eventsAfter(home, keys.live, next);
  expect(all.slice(0, rest.length), 'a cursor from before it left').toEqual(rest);
  expect(all).toHaveLength(rest.length + 1);
  expect(await eventsAfter(home, keys.live, there.body.next)).toEqual(all);
  await eventually(() => scanAs(home, { short_code }, 8));
  expect((await replayState(home.database.sql)).corrected).toBe(0);
});
