import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { useService } from '../support/service.ts';

const lines = captureLog();
const service = useService({ log: lines.log, edgeIntervals: { pollMs: 2_000, snapshotMs: 3_000, otherMs: 500 } });

test('/healthz answers 200 while the process runs', async () => {
  const { status, body } = await service.client(0).get('/healthz');
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'ok' });
});

test('/readyz has an entry for each dependency', async () => {
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
      edge: {
        ...{ status: 'ok', ms: expect.any(Number) },
        spool: { batches: 0, bytes: 0, scans_per_second: null, seconds_left: 0 },
      },
    },
  });
});

test('/readyz reports partitions that cannot be created and stays 200, since scans can still be stored', async () => {
  const { sql } = service.database;
  const edge = async () => (await service.client(0).get('/readyz')).body.parts.edge.status;
  // Blocks a partition that is needed soon.
  await sql`CREATE TABLE in_the_way PARTITION OF scans FOR VALUES FROM (65000000) TO (66000000)`;
  await sql`SELECT setval('log_position', 30000000)`;
  await eventually(async () => expect(await edge()).toBe('degraded'));
  expect((await service.client(0).get('/readyz')).status).toBe(200);
  const warnings = lines.lines().filter(({ level, task }) => level === 'warn' && task === 'partitions');
  expect(warnings, 'logged once').toMatchObject([{ error: expect.stringContaining('would overlap') }]);

  await sql`DROP TABLE in_the_way`;
  await eventually(async () => expect(await edge()).toBe('ok'));
});

test('/ redirects to the console', async () => {
  const { status, headers } = await service.client(0).get('/');
  expect(status).toBe(302);
  expect(headers.get('location')).toBe('/console');
});
