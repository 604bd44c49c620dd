import { expect, inject, test } from 'vitest';
import type { Json } from '../support/api.ts';
import { runScanlog } from '../support/scanlog.ts';
import { testSecretKey, useService } from '../support/service.ts';

const service = useService();

async function demo(...args: string[]): Promise<string> {
  const { natsUrl, clickhouseUrl } = inject('stack');
  const running = runScanlog(['demo', ...args], {
    ...{ DATABASE_URL: service.database.url, NATS_URL: natsUrl, CLICKHOUSE_URL: clickhouseUrl },
    SECRET_KEY: testSecretKey,
    PUBLIC_URL: 'https://qr.example.com',
  });
  await running.exitCode();
  return running.output();
}

test('./scanlog demo fills an account with a year, once, and says how to look at it', async () => {
  const first = await demo('--scans', '600');
  expect(first).toContain('https://qr.example.com/console');
  const client = (output: string) => service.client(0, /sk_live_\w+/.exec(output)?.[0]);

  const { data } = (await client(first).get('/v1/qrcodes?sort=-total_scans')).body;
  expect(data).toHaveLength(12);
  expect(new Set(data.map(({ status }: Json) => status))).toEqual(new Set(['active', 'paused', 'draft']));
  const total = data.reduce((sum: number, { total_scans }: Json) => sum + total_scans, 0);
  expect(total, 'all of them are counted already').toBeGreaterThan(500);

  const history = (await client(first).get(`/v1/qrcodes/${data[0].id}/history`)).body.data;
  expect(history.map(({ event }: Json) => event)).toEqual([
    ...Array.from({ length: 3 }, () => 'destination_changed'),
    'code_created',
  ]);
  const { sql } = service.database;
  const [span] = await sql<[{ days: number; strays: number }]>`
    SELECT extract(day FROM max(s.occurred_at) - min(s.occurred_at))::int AS days,
      count(*) FILTER (WHERE s.occurred_at < c.created_at OR s.occurred_at > now())::int AS strays
    FROM scans s JOIN codes c ON c.id = s.code`;
  expect(span.days).toBeGreaterThan(300);
  expect(span.strays, 'nothing was scanned before it was made, or is scanned tomorrow').toBe(0);

  const second = await demo('--scans', '600');
  expect(second).toContain('already exists');
  const again = (await client(second).get('/v1/qrcodes?sort=-total_scans')).body.data;
  expect(again, 'nothing was added').toEqual(data);
}, 60_000);

test('a number of scans that cannot be is refused', async () => {
  expect(await demo('--scans', 'many')).toContain('--scans must be an integer from 1 to 1000000.');
});
