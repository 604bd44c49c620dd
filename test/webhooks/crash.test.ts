import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { uniqueName } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Running, runScanlog } from '../support/scanlog.ts';
import { testSecretKey, useService } from '../support/service.ts';
import { answer, hang, useReceiver } from './receiver.ts';
import { codeOf, mayCallTests, newPath, scanCode, setHook, untilThereAre } from './webhook-support.ts';

const stream = uniqueName();
const clickhouseDatabase = uniqueName();
// This service records and relays scans; separate processes create and send deliveries.
const service = useService({
  config: { ...mayCallTests, roles: ['api', 'edge', 'relay'], stream, clickhouseDatabase },
  verified: false,
});
const receiver = useReceiver();
const folder = mkdtempSync(join(tmpdir(), 'scanlog-workers-'));
const started: Running[] = [];
afterAll(async () => {
  await Promise.all(started.map((worker) => worker.stop()));
  rmSync(folder, { recursive: true, force: true });
});

function startWorker(settings: Record<string, string> = {}): Running {
  const { natsUrl, clickhouseUrl } = inject('stack');
  const worker = runScanlog(['serve', '--role', 'projections', '--port', '0'], {
    DATABASE_URL: service.database.url,
    NATS_URL: natsUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    CLICKHOUSE_DATABASE: clickhouseDatabase,
    NATS_STREAM: stream,
    SECRET_KEY: testSecretKey,
    EDGE_DIR: folder,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    ...settings,
  });
  started.push(worker);
  return worker;
}

describe('a worker killed with SIGKILL while it sends', () => {
  test('loses no delivery and no replay: another worker takes over, and each scan keeps its webhook-id', async () => {
    const account = await service.account();
    const path = newPath();
    await setHook(account.live, receiver.url(path));
    const code = await codeOf(account.live);
    receiver.behave(path, hang);
    const doomed = startWorker();
    await scanCode(service.urls[0] as string, code, 20);
    await receiver.gets(path, 8);
    // A second webhook, to which a replay sends the same scans.
    const replayPath = newPath();
    receiver.behave(replayPath, hang);
    const settings = { url: receiver.url(replayPath), events: ['scan.created'] };
    const { body: hook } = await account.live.post('/v1/webhooks', settings);
    const started = await account.live.post(`/v1/webhooks/${hook.id}/replay`, { from: '2026-01-01', only: 'missing' });
    expect([started.status, started.body.total]).toEqual([202, 20]);
    await receiver.gets(replayPath, 8);
    doomed.signal('SIGKILL');
    await doomed.exitCode();
    const unanswered = { live: receiver.received(path).length, replay: receiver.received(replayPath).length };
    const replay = `/v1/webhooks/${hook.id}/replays/${started.body.id}`;
    expect((await account.live.get(replay)).body).toMatchObject({ status: 'running', delivered: 0 });
    receiver.behave(path, answer(200));
    receiver.behave(replayPath, answer(200));
    startWorker();
    // The leases of the killed worker end 20 s after it renewed them: here at once.
    const { count } = await service.database.sql`
      UPDATE endpoints SET lease_until = now() WHERE account = ${account.id} AND lease_until > now()`;
    expect(count, 'leases of the killed worker').toBe(2);
    await untilThereAre(service.database.sql, account.id, 20, 'delivered');
    const scans = new Map<string, Set<string>>();
    for (const { id, body } of receiver.received(path)) {
      const { scan_id } = JSON.parse(body).data;
      scans.set(scan_id, (scans.get(scan_id) ?? new Set()).add(id));
    }
    expect(scans.size, 'every scan is delivered').toBe(20);
    for (const ids of scans.values()) expect(ids.size).toBe(1);
    expect(receiver.received(path), 'only requests in flight are repeated').toHaveLength(20 + unanswered.live);
    expect(receiver.maxConcurrent(path)).toBeLessThanOrEqual(8);

    await eventually(async () => {
      const [row] = await service.database.sql`SELECT status FROM endpoint_replays WHERE id = ${started.body.id}`;
      expect(row?.['status']).toBe('done');
    });
    expect((await account.live.get(replay)).body).toMatchObject({ total: 20, sent: 20, delivered: 20, failed: 0 });
    const idsOf = (to: string) => [...new Set(receiver.received(to).map(({ id }) => id))].toSorted();
    expect(idsOf(replayPath)).toEqual(idsOf(path));
    expect(receiver.received(replayPath), 'only requests in flight are repeated').toHaveLength(20 + unanswered.replay);
  });
});

test('a process with another SECRET_KEY exits with an error that names it', async () => {
  const stranger = startWorker({ SECRET_KEY: 'another-key-than-that-of-the-others' });
  expect(await stranger.exitCode()).toBe(1);
  expect(stranger.output()).toContain('scanlog: SECRET_KEY is not the key of this database');
});
