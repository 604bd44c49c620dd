import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { connectWarehouse } from '../../src/analytics/connect.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { streamOfLog } from '../../src/log/branch.ts';
import { writeBackup } from '../../src/maintenance/backup.ts';
import { replayAnalytics } from '../../src/maintenance/replay-analytics.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { checkBackup } from '../../src/maintenance/restore.ts';
import { startService } from '../../src/service/start.ts';
import { type Api, apiClient, type Json, newCode } from '../support/api.ts';
import { command } from '../support/command.ts';
import { createDatabase, uniqueName } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { runScanlog } from '../support/scanlog.ts';
import { testSecretKey, useService } from '../support/service.ts';
import { removeStream } from '../support/streams.ts';
import { expectAllAgree } from '../support/verified.ts';
import { retrying } from '../support/warehouse.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { codeOf, mayCallTests, scanCode, setHook, untilThereAre } from '../webhooks/webhook-support.ts';

const stream = uniqueName();
const service = useService({ config: { ...mayCallTests, stream } });
const receiver = useReceiver();
const folder = mkdtempSync(join(tmpdir(), 'scanlog-backup-'));
const file = join(folder, 'scanlog.backup');
const ends: (() => Promise<unknown>)[] = [() => removeStream(stream)];

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
});

const randomBelow = (limit: number) => Math.floor(Math.random() * limit);
const scanSometimes = (url: string, code: { short_code: string }) => scanCode(url, code, 1 + randomBelow(4));

/** Creates, changes, scans and deletes codes in random order. */
async function randomHistory(url: string, api: Api): Promise<string[]> {
  const codes: Json[] = [];
  const steps = [
    async () => codes.push(await codeOf(api)),
    async (code: Json) =>
      api.patch(`/v1/qrcodes/${code.id}`, { destination_url: `https://example.com/${randomBelow(1e6)}` }),
    async (code: Json) => api.patch(`/v1/qrcodes/${code.id}`, { name: `"Ü" \\ ${randomBelow(1e6)}\u2028` }),
    async (code: Json) => api.patch(`/v1/qrcodes/${code.id}`, { active: false }),
    async (code: Json) => api.patch(`/v1/qrcodes/${code.id}`, { active: true }),
    async (code: Json) => api.delete(`/v1/qrcodes/${code.id}`),
  ];
  for (let i = 0; i < 25; i++) {
    const code = codes[randomBelow(codes.length)] ?? (await codeOf(api));
    if (!codes.includes(code)) codes.push(code);
    await steps[randomBelow(steps.length)]?.(code);
    const { body } = await api.get(`/v1/qrcodes/${code.id}`);
    if (body.status === 'active') await scanSometimes(url, code);
  }
  return codes.map(({ id }) => id);
}

/** The API's responses about an account, without URLs of the service and times of use. */
async function responsesOf(url: string, key: string, codes: string[]): Promise<string[]> {
  const api = retrying(apiClient(url, key));
  const period = 'start_date=2026-01-01&end_date=2099-12-31';
  const paths = [
    ...['/v1/qrcodes?limit=100', '/v1/account/keys', '/v1/account/webhook'],
    ...['/v1/account/webhook/deliveries?limit=100', `/v1/analytics/aggregate?${period}`],
    ...codes.flatMap((id) => [`/v1/qrcodes/${id}`, `/v1/qrcodes/${id}/history`]),
    ...codes
      .slice(0, 3)
      .flatMap((id) => [
        `/v1/analytics/qrcodes/${id}?${period}`,
        `/v1/analytics/qrcodes/${id}/scans?${period}&limit=100`,
      ]),
  ];
  return Promise.all(
    paths.map(async (path) => {
      const { status, text } = await api.get(path);
      const body = text.replaceAll(url, '').replaceAll(/"last_used_at":("[^"]*"|null)/g, '');
      return `${path} ${status} ${body}`;
    }),
  );
}

/** Runs a command, expects its exit code, and returns its output. */
async function scanlog(args: string[], environment: Record<string, string>, exitCode = 0): Promise<string> {
  const { code, output } = await command(args, environment);
  expect(code, output).toBe(exitCode);
  return output;
}

const ofService = () => ({ DATABASE_URL: service.database.url, SECRET_KEY: testSecretKey });

test('a backup taken under load restores to a service with the same responses', async () => {
  const url = service.urls[0] as string;
  const { id: account, keys, live } = await service.account();
  const webhook = await setHook(live, receiver.url('backup'));
  const codes = await randomHistory(url, live);
  const revoked = (await live.post('/v1/account/keys', { name: 'Old', mode: 'live' })).body;
  await live.delete(`/v1/account/keys/${revoked.id}`);
  const once = { 'idempotency-key': 'created once' };
  const made = await live.post('/v1/qrcodes', newCode({ name: 'Once' }), once);
  expect(made.status, made.text).toBe(201);
  codes.push(made.body.id);
  await service.allStored();
  const [{ scans }] = await service.database.sql<[{ scans: number }]>`
    SELECT count(*) AS scans FROM scans WHERE account = ${account}`;
  await untilThereAre(service.database.sql, account, scans, 'delivered');
  await expectAllAgree(service.database.sql, service.warehouse);
  const before = await responsesOf(url, keys.live, codes);

  // A code of another account is scanned during the backup.
  const busy = await codeOf((await service.account()).live);
  let isOver = false;
  const load = (async () => {
    while (!isOver) await scanCode(url, busy, 5);
  })();
  const backup = runScanlog(['backup', file], ofService());
  expect(await backup.exitCode(), backup.output()).toBe(0);
  isOver = true;
  await load;
  // Changes after the backup, which the stream has and the backup has not.
  const lost = await codeOf(live);
  await scanCode(url, lost, 5);
  await live.patch(`/v1/qrcodes/${made.body.id}`, { name: 'Renamed since' });

  const database = await createDatabase();
  ends.push(database.drop);
  const DATABASE_URL = database.url;
  const otherKey = { DATABASE_URL, SECRET_KEY: 'another-key-than-that-of-the-backup' };
  const wrongKey = await scanlog(['restore', file], otherKey, 1);
  const notEmpty = await scanlog(['restore', file], ofService(), 1);
  await scanlog(['restore', file], { ...ofService(), DATABASE_URL });
  expect(wrongKey).toMatch(/^scanlog: SECRET_KEY is not the key of the backup: .+\n$/);
  expect(notEmpty).toContain('scanlog: This database has a log already');

  const { clickhouseUrl } = inject('stack');
  const clickhouseDatabase = uniqueName();
  const restored = await startService(
    {
      ...readConfig({}),
      ...inject('stack'),
      ...mayCallTests,
      stream,
      clickhouseDatabase,
      databaseUrl: database.url,
      port: 0,
      metricsPort: 0,
      secretKey: testSecretKey,
      edgeFolder: folder,
    },
    { log: createLogger('error', false) },
  );
  const warehouse = connectWarehouse({ clickhouseUrl, clickhouseDatabase, clickhouseCluster: undefined });
  ends.push(
    async () => removeStream(await streamOfLog(database.sql, stream)),
    () => warehouse.client.close(),
    () => warehouse.client.command({ query: `DROP DATABASE IF EXISTS ${clickhouseDatabase}` }),
    restored.stop,
  );
  await restored.ready;
  const there = `http://localhost:${restored.port}`;
  const client = apiClient(there, keys.live);
  await eventually(() => expectAllAgree(database.sql, warehouse));
  expect(await responsesOf(there, keys.live, codes)).toEqual(before);
  expect((await client.get('/v1/account/webhook')).body.secret).toBe(webhook.secret);
  expect((await apiClient(there, revoked.key).get('/v1/account')).status).toBe(401);
  expect((await client.get(`/v1/qrcodes/${lost.id}`)).status).toBe(404);
  const again = await client.post('/v1/qrcodes', newCode({ name: 'Once' }), once);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.text).toBe(made.text);

  // Both services now assign the same positions to different events, while both relay.
  await Promise.all([scanCode(there, made.body, 20), scanCode(url, made.body, 7)]);
  await eventually(async () =>
    expect((await client.get(`/v1/qrcodes/${made.body.id}`)).body).toMatchObject({ name: 'Once', total_scans: 20 }),
  );
  await untilThereAre(database.sql, account, scans + 20, 'delivered');
  await expectAllAgree(database.sql, warehouse);
  expect((await replayState(database.sql)).corrected).toBe(0);
  await replayAnalytics({ sql: database.sql, warehouse });
  await expectAllAgree(database.sql, warehouse);
});

test('restore and backup work on a data folder without a running service, and restore needs its key', async () => {
  const [data, given, own] = ['data', 'given.backup', 'own.backup'].map((name) => join(folder, name)) as [
    ...[string, string, string],
  ];
  const { position } = await writeBackup(service.database.sql, given, { now: new Date() });
  const withoutKey = await scanlog(['restore', given, '--data', data], {}, 1);
  expect(withoutKey).toMatch(/^scanlog: The key in \S+secrets\.json is not the key of the backup: .+\n$/);

  writeFileSync(join(data, 'secrets.json'), JSON.stringify({ secretKey: testSecretKey }));
  await scanlog(['restore', given, '--data', data], {});
  await scanlog(['backup', own, '--data', data], {});
  expect((await checkBackup(own)).header.position).toBe(position);
});
