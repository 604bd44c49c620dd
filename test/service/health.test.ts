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
  await eventually(async () => {
    const { status, headers, body } = await service.client(0).get('/readyz');
    expect(status, JSON.stringify(body)).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      status: 'ready',
      parts: {
        postgres: { status: 'ok', ms: expect.any(Number) },
        nats: { status: 'ok', ms: expect.any(Number) },
        clickhouse: { status: 'ok', ms: expect.any(Number) },
        edge: {
          status: 'ok',
          ms: expect.any(Number),
          spool: { batches: 0, bytes: 0, scans_per_second: null, seconds_left: 0 },
        },
      },
    });
  });
});

test('/readyz reports partitions that cannot be created and stays 200, since scans can still be stored', async () => {
  const { sql } = service.database;
  const untilReady = (edge: string) =>
    eventually(async () => {
      const { status, body } = await service.client(0).get('/readyz');
      expect([status, body.parts.edge.status], JSON.stringify(body)).toEqual([200, edge]);
    });
  // Blocks a partition that is needed soon.
  await sql`CREATE TABLE in_the_way PARTITION OF scans FOR VALUES FROM (65000000) TO (66000000)`;
  try {
    await sql`SELECT setval('log_position', 30000000)`;
    await untilReady('degraded');
    const [warning] = lines.lines().filter(({ level, task }) => level === 'warn' && task === 'partitions');
    expect(warning).toMatchObject({ error: expect.stringContaining('would overlap') });
  } finally {
    await sql`DROP TABLE in_the_way`;
  }
  await untilReady('ok');
});

test('/ redirects to the console', async () => {
  const { status, headers } = await service.client(0).get('/');
  expect(status).toBe(302);
  expect(headers.get('location')).toBe('/console');
});
