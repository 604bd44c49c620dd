import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../bench/chaos/proxy.ts';
import { uniqueName, useDatabase } from '../support/database.ts';
import { runScanlog } from '../support/scanlog.ts';
import { testSecretKey } from '../support/service.ts';
import { removeStream } from '../support/streams.ts';

const database = useDatabase();
const stream = uniqueName();
const folder = mkdtempSync(join(tmpdir(), 'scanlog-stopping-'));
const proxies: TcpProxy[] = [];

afterAll(async () => {
  for (const proxy of proxies) await proxy.close();
  await removeStream(stream);
  rmSync(folder, { recursive: true, force: true });
});

describe('the service', () => {
  test('stops on SIGTERM while none of its servers answers', async () => {
    const { natsUrl, clickhouseUrl } = inject('stack');
    for (const url of [database.url, natsUrl, clickhouseUrl]) proxies.push(await startProxy(url));
    const [databaseProxy, natsProxy, clickhouseProxy] = proxies.map(({ url }) => url) as [string, string, string];
    const service = runScanlog(['serve', '--port', '0'], {
      DATABASE_URL: databaseProxy,
      NATS_URL: natsProxy,
      CLICKHOUSE_URL: clickhouseProxy,
      CLICKHOUSE_DATABASE: uniqueName(),
      NATS_STREAM: stream,
      SECRET_KEY: testSecretKey,
      EDGE_DIR: folder,
    });
    await service.prints('"projection":"webhooks","position"');
    for (const proxy of proxies) proxy.stall();
    service.signal('SIGTERM');
    expect(await service.exitCode(), service.output()).toBe(0);
  });
});
