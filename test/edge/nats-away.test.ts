import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../bench/chaos/proxy.ts';
import { created } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { followFeed } from '../support/feed.ts';
import { useService } from '../support/service.ts';

const config: { natsUrl?: string } = {};
let proxy: TcpProxy;
// Before useService, because hooks run in the order of their definition.
beforeAll(async () => {
  proxy = await startProxy(inject('stack').natsUrl);
  config.natsUrl = proxy.url;
});
const service = useService({ instances: 2, config, edgeIntervals: { pollMs: 100, snapshotMs: 3_000, otherMs: 5_000 } });
afterAll(() => proxy.close());

const opened = async (instance: number, shortCode: string) => {
  const { status, headers } = await service.client(instance).get(`/${shortCode}`);
  return status === 302 ? headers.get('location') : String(status);
};

test('while NATS is unavailable, redirects work, changes reach the other instance, and scans are counted', async () => {
  const { live, keys } = await service.account();
  const stream = followFeed(service.urls[1] as string, { key: keys.live });
  const { id, short_code } = await created(live);
  await opened(1, short_code);
  await proxy.cut();
  for (const path of ['a', 'b', 'c']) {
    const destination_url = `https://example.com/${path}`;
    expect((await live.patch(`/v1/qrcodes/${id}`, { destination_url })).status).toBe(200);
    expect(await opened(0, short_code), 'immediately on the instance that changed it').toBe(destination_url);
    await eventually(async () => expect(await opened(1, short_code)).toBe(destination_url));
  }

  const scans = async () => {
    const [row] = await service.database.sql<[{ count: number }]>`SELECT count(*) FROM scans WHERE code = ${id}`;
    return row.count;
  };
  const total = async () => (await live.get(`/v1/qrcodes/${id}`)).body.total_scans;
  await eventually(async () => expect(await total(), 'counted from the log').toBe(await scans()));

  await proxy.restore();
  await live.patch(`/v1/qrcodes/${id}`, { destination_url: 'https://example.com/back' });
  await eventually(async () => expect(await opened(1, short_code)).toBe('https://example.com/back'));
  await eventually(async () => expect(await total()).toBe(await scans()));

  const { body: feed } = await live.get('/v1/events?limit=1000');
  await stream.has(feed.data.length);
  expect(
    stream.messages.map(({ event }) => event),
    'streamed from NATS and from the log',
  ).toEqual(feed.data);
  await stream.stop();
});
