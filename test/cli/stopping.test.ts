import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../src/chaos/proxy.ts';
import { uniqueName, useDatabase } from '../support/database.ts';
import { runScanlog } from '../support/scanlog.ts';
import { testSecretKey } from '../support/service.ts';
import { removeStream } from '../support/streams.ts';

const database = useDatabase();
const stream = uniqueName();
const folder = mkdtempSync(join(tmpdir(), 'scanlog-stopping-'));
const ways: TcpProxy[] = [];

afterAll(async () => {
  for (const way of ways) await way.close();
  await removeStream(stream);
  rmSync(folder, { recursive: true, force: true });
});

describe('a service', () => {
  test('ends when it is asked to, also when none of its servers says a word any more', async () => {
    const { natsUrl, clickhouseUrl } = inject('stack');
    for (const url of [database.url, natsUrl, clickhouseUrl]) ways.push(await startProxy(url));
    const [databaseWay, natsWay, clickhouseWay] = ways.map(({ url }) => url) as [string, string, string];
    const service = runScanlog(['serve', '--port', '0'], {
      DATABASE_URL: databaseWay,
      NATS_URL: natsWay,
      CLICKHOUSE_URL: clickhouseWay,
      CLICKHOUSE_DATABASE: uniqueName(),
      NATS_STREAM: stream,
      SECRET_KEY: testSecretKey,
      EDGE_DIR: folder,
    });
    await service.prints('"projection":"webhooks","position"');
    for (const way of ways) way.stall();
    service.signal('SIGTERM');
    expect(await service.exitCode(), service.output()).toBe(0);
  }, 60_000);
});
