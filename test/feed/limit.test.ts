import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { useService } from '../support/service.ts';

const maxEventStreams = 4;
const service = useService({ projections: false, config: { maxEventStreams } });

test('error: 429 beyond the limit of an account, which frees what it closes; other accounts are not refused', async () => {
  const account = await service.account();
  const closing = new AbortController();
  const open = (key: string, method = 'GET', signal = closing.signal) =>
    fetch(`${service.urls[0]}/v1/events?after=now`, {
      method,
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
      signal,
    });
  const keys = [account.keys.live, account.keys.test];
  for (let i = 0; i <= maxEventStreams; i++) expect((await open(account.keys.live, 'HEAD')).status).toBe(200);
  // At once: each takes its slot before it waits for anything.
  const one = new AbortController();
  const first = await open(account.keys.live, 'GET', one.signal);
  const others = await Promise.all(Array.from({ length: maxEventStreams + 2 }, (_, i) => open(keys[i % 2] as string)));
  expect(first.status).toBe(200);
  expect(others.map(({ status }) => status).sort()).toEqual([...Array(maxEventStreams - 1).fill(200), 429, 429, 429]);
  const waiting = await account.test.get('/v1/events?after=now&wait=30');
  expect(waiting).toMatchObject({
    status: 429,
    body: { error: { code: 'rate_limited', message: expect.stringContaining(`has ${maxEventStreams} open`) } },
  });
  expect((await open((await service.account()).keys.live)).status).toBe(200);
  one.abort();
  await eventually(async () => expect((await open(account.keys.live)).status).toBe(200));
  closing.abort();
});
