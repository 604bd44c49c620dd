import { expect, inject, test } from 'vitest';
import type { Json } from '../support/api.ts';
import { command } from '../support/command.ts';
import { testSecretKey, useService } from '../support/service.ts';

const service = useService();

async function demo(...args: string[]): Promise<string> {
  const { natsUrl, clickhouseUrl } = inject('stack');
  const { output } = await command(['demo', ...args], {
    DATABASE_URL: service.database.url,
    NATS_URL: natsUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    SECRET_KEY: testSecretKey,
    PUBLIC_URL: 'https://qr.example.com',
  });
  return output;
}

test('./scanlog demo creates an account with a year of scans once, and prints the console URL and a key', async () => {
  const first = await demo('--scans', '600');
  expect(first).toContain('https://qr.example.com/console');
  const client = (output: string) => service.client(0, /sk_live_\w+/.exec(output)?.[0]);

  const { data } = (await client(first).get('/v1/qrcodes?sort=-total_scans')).body;
  expect(data).toHaveLength(12);
  expect(new Set(data.map(({ status }: Json) => status))).toEqual(new Set(['active', 'paused', 'draft']));
  const total = data.reduce((sum: number, { total_scans }: Json) => sum + total_scans, 0);
  expect(total, 'counters include the scans when the command ends').toBeGreaterThan(500);

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
  expect(span.strays, 'no scan is older than its code or in the future').toBe(0);

  const second = await demo('--scans', '600');
  expect(second).toContain('already exists');
  const again = (await client(second).get('/v1/qrcodes?sort=-total_scans')).body.data;
  expect(again, 'the second run added nothing').toEqual(data);
});

test('./scanlog demo rejects an invalid number of scans', async () => {
  expect(await demo('--scans', 'many')).toContain('--scans must be an integer from 1 to 1000000.');
});
