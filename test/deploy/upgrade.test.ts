import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../bench/chaos/proxy.ts';
import { inspectSpools } from '../../src/cli/spool.ts';
import { freePort } from '../../src/stack/processes.ts';
import { connectStream } from '../../src/stream/connect.ts';
import type { Json } from '../support/api.ts';
import { createDatabase, uniqueName } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { environmentOf, processTreeOf } from '../support/listeners.ts';
import { releases, unpackRelease } from '../support/releases.ts';
import { type Running, runScanlog } from '../support/scanlog.ts';
import { testSecretKey } from '../support/secret-box.ts';
import { removeStream } from '../support/streams.ts';
import { useReceiver } from '../webhooks/receiver.ts';

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

const receiver = useReceiver();

/** Everything that an old and a new version share: databases, stream, edge folder. */
async function givenServers() {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-upgrade-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const database = await createDatabase('template1');
  cleanups.push(() => database.drop());
  const { natsUrl, clickhouseUrl } = inject('stack');
  const stream = uniqueName();
  cleanups.push(() => removeStream(stream));
  const shared = {
    NATS_STREAM: stream,
    CLICKHOUSE_DATABASE: uniqueName(),
    EDGE_DIR: join(folder, 'edges'),
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
  };
  const secrets = {
    DATABASE_URL: database.url,
    NATS_URL: natsUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    SECRET_KEY: testSecretKey,
  };
  const files = Object.entries(secrets).map(([name, value]) => {
    const file = join(folder, name);
    writeFileSync(file, `${value}\n`, { mode: 0o600 });
    return [`${name}_FILE`, file];
  });
  return {
    folder,
    database,
    stream,
    byValue: { ...shared, ...secrets },
    byFile: { ...shared, ...Object.fromEntries(files) },
  };
}

interface Instance {
  running: Running;
  url: string;
}

async function serve(environment: Record<string, string>, roles: string, checkout?: string): Promise<Instance> {
  const port = await freePort();
  const running = runScanlog(['serve', '--port', String(port), '--role', roles], environment, checkout);
  cleanups.push(() => running.stop());
  return { running, url: `http://127.0.0.1:${port}` };
}

async function isReady({ url, running }: Instance): Promise<void> {
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status, running.output()).toBe(200));
}

const client =
  ({ url }: Instance, key: string) =>
  async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
    const json = (await response.json()) as Json;
    expect(response.ok, JSON.stringify(json)).toBe(true);
    return json;
  };

/** Scans each code `times` times at once; every scan must be redirected. */
async function scan({ url }: Instance, shortCodes: string[], times: number): Promise<number> {
  // A release that reads no TIMEOUT_SCALE answers 503 when a lookup takes 2 s. HEAD caches the route, and is not recorded.
  for (const code of shortCodes)
    await eventually(async () => {
      const response = await fetch(`${url}/${code}`, { method: 'HEAD', redirect: 'manual' });
      expect(response.status).toBe(302);
    });
  const paths = shortCodes.flatMap((code) => Array.from({ length: times }, () => code));
  const responses = await Promise.all(paths.map((path) => fetch(`${url}/${path}`, { redirect: 'manual' })));
  expect(responses.map(({ status }) => status)).toEqual(paths.map(() => 302));
  return paths.length;
}

async function messagesIn(stream: string): Promise<number> {
  const nats = await connectStream(inject('stack').natsUrl, 'test', new AbortController().signal);
  const { state } = await (await nats.jetstreamManager()).streams.info(stream);
  await nats.close();
  return state.messages;
}

async function json(running: Running): Promise<Json> {
  expect(await running.exitCode(), running.output()).toBe(0);
  return JSON.parse(running.output());
}

describe.each(releases())('the upgrade from $version', (release) => {
  test('keeps every code, scan and delivery, those in a spool and in the stream included', async () => {
    const { folder, database, stream, byValue, byFile } = await givenServers();
    const checkout = join(folder, release.version);
    unpackRelease(release, checkout);
    const proxy: TcpProxy = await startProxy(database.url);
    cleanups.push(() => proxy.close());

    // Two old instances whose Postgres can be made unavailable, and one that runs the projections.
    const throughProxy = { ...byValue, DATABASE_URL: proxy.url };
    const old = await serve(throughProxy, 'api,edge,relay', checkout);
    const oldEdge = await serve(throughProxy, 'edge', checkout);
    const oldProjections = await serve(byValue, 'projections', checkout);
    await Promise.all([old, oldEdge].map(isReady));
    const created = runScanlog(
      ['account', 'create', '--name', 'Café', '--plan', 'business', '--json'],
      byValue,
      checkout,
    );
    const { live_key: liveKey, test_key: testKey } = await json(created);
    const live = client(old, liveKey);
    await live('PUT', '/account/webhook', { url: receiver.url(release.version) });
    const create = (body: object) => live('POST', '/qrcodes', { destination_url: 'https://example.com/one', ...body });
    const menu = await create({ name: 'Menu', short_code: 'menu', style: { dotsType: 'rounded' } });
    const poster = await create({ name: 'Poster', short_code: 'poster' });
    const paused = await create({ name: 'Paused', short_code: 'paused' });
    const deleted = await create({ name: 'Deleted', short_code: 'deleted' });
    await client(old, testKey)('POST', '/qrcodes', {
      name: 'Try',
      destination_url: 'https://example.com',
      short_code: 'try',
    });
    await live('PATCH', `/qrcodes/${menu.id}`, { destination_url: 'https://example.com/two' });
    const codes = ['menu', 'poster'];
    let scans = (await scan(old, codes, 5)) + (await scan(oldEdge, codes, 5));
    await scan(old, ['try', 'paused', 'deleted'], 2);
    await live('PATCH', `/qrcodes/${paused.id}`, { active: false });
    await live('DELETE', `/qrcodes/${deleted.id}`);
    // Scans of the two codes, and of the codes that were paused and deleted afterwards.
    await receiver.gets(release.version, scans + 4);

    await oldProjections.running.stop();
    // Deliveries do not need the stream: the relay may not have created it yet.
    const relayed = await eventually(() => messagesIn(stream));
    scans += await scan(old, codes, 5);
    await eventually(async () =>
      expect(await messagesIn(stream), 'messages wait in the stream').toBeGreaterThan(relayed),
    );

    await proxy.cut();
    for (const instance of [old, oldEdge]) scans += await scan(instance, codes, 5);
    await eventually(async () => {
      const spools = await inspectSpools(byValue.EDGE_DIR);
      // Two that start at once may each leave a folder to the other, which stays empty.
      const filled = spools.filter(({ records }) => records > 0);
      expect(filled, 'scans wait in both spools').toHaveLength(2);
    });
    // Its spool is left to the new version. The other old instance sends its own, beside the new version.
    old.running.signal('SIGKILL');

    const current = await serve(byFile, 'api,edge,relay,projections');
    await isReady(current);
    for (const instance of [oldEdge, current]) scans += await scan(instance, codes, 5);
    await proxy.restore();
    scans += await scan(oldEdge, codes, 5);
    for (const pid of processTreeOf(current.running.pid))
      expect(environmentOf(pid).join(), 'secrets that are given by file').not.toContain(testSecretKey);

    const deliveries = await receiver.gets(release.version, scans + 4);
    expect(new Set(deliveries.map(({ id }) => id)).size, 'deliveries').toBe(scans + 4);
    const upgraded = client(current, liveKey);
    const countOf = async (id: string) =>
      (await database.sql`SELECT total_scans FROM scan_counts WHERE code = ${id}`)[0]?.['total_scans'];
    for (const { id } of [menu, poster]) await eventually(async () => expect(await countOf(id)).toBe(scans / 2));
    expect(await upgraded('GET', `/qrcodes/${menu.id}`)).toMatchObject({
      total_scans: scans / 2,
      destination_url: 'https://example.com/two',
      style: { dotsType: 'rounded' },
    });
    const statuses = ['paused', 'deleted', 'try'].map(
      async (code) => (await fetch(`${current.url}/${code}`, { redirect: 'manual' })).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 410, 302]);
    const verified = runScanlog(['verify'], byFile);
    expect(await verified.exitCode(), verified.output()).toBe(0);
    const { summary } = await upgraded('GET', `/qrcodes/${menu.id}/analytics`);
    expect(summary).toMatchObject({ total_scans: scans / 2 });
  });
});
