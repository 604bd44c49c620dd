import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../src/chaos/proxy.ts';
import { type ApiAnswer, newCode } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { atOnce } from '../support/http.ts';
import { captureLog } from '../support/log-lines.ts';
import { useService } from '../support/service.ts';

let proxy: TcpProxy;
const service = useService({
  // The way is closed before the service stops.
  verified: false,
  log: captureLog().log,
  reach: async (url) => {
    proxy = await startProxy(url);
    return proxy.url;
  },
});
afterEach(() => proxy.restore());
afterAll(() => proxy.close());

function expectUnavailable(answer: ApiAnswer): void {
  expect(answer.status).toBe(503);
  expect(answer.body).toEqual({
    error: {
      code: 'unavailable',
      message: 'The service cannot reach its database right now: try again in a few seconds.',
    },
  });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(answer.headers.get('x-ratelimit-remaining'), 'rate limit headers are on every answer').toMatch(/^\d+$/);
}

describe('while the database is away', () => {
  test('reads and writes say so: 503, when to try again, and rate limit headers', async () => {
    const { live } = await service.account();
    expect((await live.get('/v1/qrcodes')).status).toBe(200);
    await proxy.cut();
    expectUnavailable(await live.get('/v1/qrcodes'));
    expectUnavailable(await live.post('/v1/qrcodes', newCode()));
    expectUnavailable(await live.get('/v1/none'));
    expectUnavailable(await service.client(0).get('/v1/account'));
  });

  test('the process lives, but is not ready: Postgres is named', async () => {
    await proxy.cut();
    const stranger = service.client(0);
    expect((await stranger.get('/healthz')).status).toBe(200);
    const ready = await stranger.get('/readyz');
    expect(ready.status).toBe(503);
    expect(ready.body).toMatchObject({ status: 'not_ready', parts: { postgres: { status: 'down' } } });
    expect(ready.text, 'why is for the log').not.toMatch(/ECONN|127\.0\.0\.1/);
  });

  test('when it is back, everything works again by itself', async () => {
    const { live } = await service.account();
    await live.get('/v1/qrcodes');
    await proxy.cut();
    expectUnavailable(await live.get('/v1/qrcodes'));
    await proxy.restore();
    await eventually(async () => expect((await live.post('/v1/qrcodes', newCode())).status).toBe(201));
    await eventually(async () => expect((await service.client(0).get('/readyz')).status).toBe(200));
  });

  test('requests that are under way when it goes are answered, each with 503 or with what it did', async () => {
    const { live } = await service.account();
    const under_way = atOnce(30, () => live.post('/v1/qrcodes', newCode()));
    await proxy.cut();
    const answers = await under_way;
    for (const answer of answers) if (answer.status !== 201) expectUnavailable(answer);
    await proxy.restore();
    await eventually(async () => {
      const { total } = (await live.get('/v1/qrcodes')).body.pagination;
      expect(total, 'whatever was answered with 201 is there').toBeGreaterThanOrEqual(
        answers.filter(({ status }) => status === 201).length,
      );
    });
  });

  test('one that accepts and says nothing is away, too: the answer comes in bounded time', async () => {
    const { live } = await service.account();
    await live.get('/v1/qrcodes');
    proxy.stall();
    expectUnavailable(await live.get('/v1/qrcodes'));
    await proxy.restore();
    await eventually(async () => expect((await live.get('/v1/qrcodes')).status).toBe(200));
  });
});
