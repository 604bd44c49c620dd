import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../bench/chaos/proxy.ts';
import { setTimeouts } from '../../src/lib/timeouts.ts';
import { newCode, type ReceivedResponse } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { followFeed } from '../support/feed.ts';
import { atOnce } from '../support/http.ts';
import { timeoutScale } from '../support/limits.ts';
import { captureLog } from '../support/log-lines.ts';
import { useService } from '../support/service.ts';

let proxy: TcpProxy;
// Hooks after the tests run in reverse order: the service stops before its proxy.
afterAll(() => proxy?.close());
const service = useService({
  log: captureLog().log,
  reach: async (url) => {
    proxy = await startProxy(url);
    return proxy.url;
  },
});
afterEach(async () => {
  setTimeouts(timeoutScale);
  await proxy.restore();
});

function expectUnavailable(response: ReceivedResponse): void {
  expect(response.status).toBe(503);
  expect(response.body).toEqual({
    error: {
      code: 'unavailable',
      message: 'The service cannot reach its database right now: try again in a few seconds.',
    },
  });
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(response.headers.get('x-ratelimit-remaining'), 'every response has rate limit headers').toMatch(/^\d+$/);
}

describe('while Postgres is unavailable', () => {
  test('reads and writes answer 503 with Retry-After and rate limit headers', async () => {
    const { live } = await service.account();
    expect((await live.get('/v1/qrcodes')).status).toBe(200);
    await proxy.cut();
    expectUnavailable(await live.get('/v1/qrcodes'));
    expectUnavailable(await live.post('/v1/qrcodes', newCode()));
    expectUnavailable(await live.get('/v1/none'));
    expectUnavailable(await service.client(0).get('/v1/account'));
  });

  test('an event stream stays open, and goes on afterwards', async () => {
    const { live, keys } = await service.account();
    const stream = followFeed(service.urls[0] as string, { key: keys.live });
    await stream.has(2);
    await proxy.cut();
    expectUnavailable(await live.get('/v1/events'));
    await proxy.restore();
    const { id } = await eventually(async () => {
      const created = await live.post('/v1/qrcodes', newCode());
      expect(created.status).toBe(201);
      return created.body;
    });
    await stream.has(3);
    expect(stream.messages.map(({ event }) => event.type)).toEqual(['account.created', 'key.created', 'code.created']);
    expect(stream.messages[2]?.event.qr_id).toBe(id);
    await stream.stop();
  });

  test('/healthz answers 200, and /readyz 503 that names Postgres', async () => {
    await proxy.cut();
    const anonymous = service.client(0);
    expect((await anonymous.get('/healthz')).status).toBe(200);
    const ready = await anonymous.get('/readyz');
    expect(ready.status).toBe(503);
    expect(ready.body).toMatchObject({ status: 'not_ready', parts: { postgres: { status: 'down' } } });
    expect(ready.text, 'the cause is only in the log').not.toMatch(/ECONN|127\.0\.0\.1/);
  });

  test('requests succeed again once Postgres is back', async () => {
    const { live } = await service.account();
    await live.get('/v1/qrcodes');
    await proxy.cut();
    expectUnavailable(await live.get('/v1/qrcodes'));
    await proxy.restore();
    await eventually(async () => expect((await live.post('/v1/qrcodes', newCode())).status).toBe(201));
    await eventually(async () => expect((await service.client(0).get('/readyz')).status).toBe(200));
  });

  test('requests in flight when Postgres fails get 503 or their result', async () => {
    const { live } = await service.account();
    const under_way = atOnce(30, () => live.post('/v1/qrcodes', newCode()));
    await proxy.cut();
    const responses = await under_way;
    for (const response of responses) if (response.status !== 201) expectUnavailable(response);
    await proxy.restore();
    await eventually(async () => {
      const { total } = (await live.get('/v1/qrcodes')).body.pagination;
      expect(total, 'every code answered with 201 exists').toBeGreaterThanOrEqual(
        responses.filter(({ status }) => status === 201).length,
      );
    });
  });

  test('a Postgres that accepts connections and never answers leads to 503', async () => {
    const { live } = await service.account();
    await live.get('/v1/qrcodes');
    setTimeouts(timeoutScale, { apiMs: 200 });
    proxy.stall();
    expectUnavailable(await live.get('/v1/qrcodes'));
    setTimeouts(timeoutScale);
    await proxy.restore();
    await eventually(async () => expect((await live.get('/v1/qrcodes')).status).toBe(200));
  });
});
