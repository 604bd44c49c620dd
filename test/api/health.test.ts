import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { useService } from '../support/service.ts';

const service = useService();

test('/healthz says that the process lives', async () => {
  const { status, body } = await service.client(0).get('/healthz');
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'ok' });
});

test('/readyz has an entry for each part that the service needs', async () => {
  const { headers, body } = await eventually(async () => {
    const answer = await service.client(0).get('/readyz');
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer;
  });
  expect(headers.get('cache-control')).toBe('no-store');
  expect(body).toEqual({
    status: 'ready',
    parts: {
      postgres: { status: 'ok', ms: expect.any(Number) },
      nats: { status: 'ok', ms: expect.any(Number) },
      clickhouse: { status: 'ok', ms: expect.any(Number) },
    },
  });
});

test('the front door leads to the console', async () => {
  const { status, headers } = await service.client(0).get('/');
  expect(status).toBe(302);
  expect(headers.get('location')).toBe('/console');
});
