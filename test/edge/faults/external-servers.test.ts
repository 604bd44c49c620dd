import { expect, inject, test } from 'vitest';
import { runChaos } from '../../../bench/chaos/run.ts';
import { connectWarehouse } from '../../../src/analytics/connect.ts';
import { connect } from '../../../src/log/connect.ts';
import { connectOnce } from '../../../src/stream/connect.ts';

const kinds = 3;
const redirects = 100;

/** Databases and streams whose name has the prefix that a run on external servers uses. */
async function leftBehind(): Promise<string[]> {
  const { databaseUrl, natsUrl, clickhouseUrl } = inject('stack');
  const sql = connect(databaseUrl, { max: 1 });
  const databases = await sql<{ name: string }[]>`SELECT datname AS name FROM pg_database`;
  await sql.end();
  const nats = await connectOnce(natsUrl, 'test');
  const manager = await nats.jetstreamManager();
  const streams: string[] = [];
  for await (const name of manager.streams.names()) streams.push(name);
  await nats.close();
  const { client } = connectWarehouse({ clickhouseUrl, clickhouseDatabase: 'x', clickhouseCluster: undefined });
  const found = await client.query({ query: 'SELECT name FROM system.databases', format: 'JSONEachRow' });
  const warehouses = await found.json<{ name: string }>();
  await client.close();
  return [...[...databases, ...warehouses].map(({ name }) => name), ...streams].filter((name) =>
    name.startsWith('scanlog_check_'),
  );
}

test('chaos on external servers: every redirect is one scan, an emptied month can be refilled, nothing is left behind', async () => {
  const { adminDatabaseUrl: databaseUrl, natsUrl, clickhouseUrl } = inject('stack');
  const { isClean, ...result } = await runChaos({
    servers: { databaseUrl, natsUrl, clickhouseUrl, clickhouseCluster: undefined },
    isOver: ({ faults, redirected }) => faults >= kinds && redirected > redirects,
    pace: 0.2,
    clients: 4,
    scanPauseMs: 50,
  });
  expect(isClean, JSON.stringify(result, null, 2)).toBe(true);
  expect(result.month).toEqual({ filled: true, emptied: true, refilled: true });
  expect(result.total.redirected).toBeGreaterThan(redirects);
  expect(await leftBehind()).toEqual([]);
});
