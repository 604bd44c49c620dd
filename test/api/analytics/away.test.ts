import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../../bench/chaos/proxy.ts';
import { readFigures } from '../../../src/analytics/figures.ts';
import type { Reading } from '../../../src/analytics/reading.ts';
import { dropTable } from '../../../src/analytics/tables.ts';
import { readWarehouse } from '../../../src/api/analytics/reading.ts';
import type { Service } from '../../../src/api/service.ts';
import { addressesOf, readConfig } from '../../../src/config/config.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { created, newCode, type ReceivedResponse } from '../../support/api.ts';
import { idleFeed } from '../../support/feed.ts';
import { captureLog } from '../../support/log-lines.ts';
import { scanned } from '../../support/scans.ts';
import type { TestAccount } from '../../support/service.ts';
import { retrying, useFilledWarehouse } from '../../support/warehouse.ts';
import { webhookParts } from '../../support/webhook-parts.ts';
import { withTimeouts } from '../../support/with-timeouts.ts';

let proxy: TcpProxy;
const log = captureLog();
const filled = useFilledWarehouse({
  log: log.log,
  reachWarehouse: async (url) => {
    proxy = await startProxy(url);
    return proxy.url;
  },
});
const { service, store } = filled;
afterEach(() => proxy.restore());
afterAll(() => proxy.close());

let account: TestAccount;
let id: string;
let position = 0;
const scan = () => ({ ...scanned({ account: account.id, code: id }), position: ++position, is_unique: true });
const reads = () => [
  ...['', '/scans', '/timeseries', '/destinations', '/export'].map((read) => `/v1/qrcodes/${id}/analytics${read}`),
  ...[`/v1/analytics/qrcodes/${id}`, '/v1/analytics/aggregate'],
];

beforeAll(async () => {
  account = await service.account();
  id = (await created(account.live)).id;
});

function expectUnavailable(response: ReceivedResponse, read = ''): void {
  expect(response.status, read).toBe(503);
  expect(response.body, read).toMatchObject({
    error: { code: 'unavailable', message: expect.stringContaining('nalytics') },
  });
  expect(Number(response.headers.get('retry-after')), read).toBeGreaterThan(0);
}

describe('while ClickHouse is unavailable', () => {
  test('analytics answer 503 and everything else works', async () => {
    await proxy.cut();
    const { live } = account;
    for (const read of reads()) expectUnavailable(await live.get(read), read);
    expect((await live.get(`/v1/qrcodes/${id}`)).status).toBe(200);
    expect((await live.post('/v1/qrcodes', newCode())).status).toBe(201);
    expect(log.text(), 'the cause is logged').toContain('ClickHouse is unavailable');
  });

  test('analytics of an unknown code still answer 404', async () => {
    await proxy.cut();
    expect((await account.live.get('/v1/qrcodes/qr_0000000000000000000000/analytics')).status).toBe(404);
  });

  test('a ClickHouse that accepts connections and never answers leads to 503', async () => {
    proxy.stall();
    await withTimeouts({ analyticsReadMs: 100 }, () =>
      Promise.all(reads().map(async (read) => expectUnavailable(await account.live.get(read), read))),
    );
  });

  test('analytics work again once ClickHouse is back', async () => {
    await proxy.cut();
    expectUnavailable(await account.live.get('/v1/analytics/aggregate'));
    await proxy.restore();
    expect((await retrying(account.live).get(`/v1/qrcodes/${id}/analytics/timeseries`)).status).toBe(200);
  });
});

describe('while the warehouse is rebuilt', () => {
  test('analytics answer 503 while no table is in use', async () => {
    const { sql } = service.database;
    await sql`UPDATE warehouse_tables SET in_use = false`;
    for (const read of reads()) expectUnavailable(await account.live.get(read), read);
    await sql`UPDATE warehouse_tables SET in_use = true WHERE version = (SELECT max(version) FROM warehouse_tables)`;
  });

  test('a read retries on the new table when a replay replaces the old one', async () => {
    const { database, warehouse } = service;
    const addresses = addressesOf(readConfig({}), 3000);
    const parts: Service = {
      sql: database.sql,
      warehouse,
      clock: systemClock,
      addresses,
      limits: { testCodes: 10, givenShortCodes: 10 },
      maxLogos: 10,
      signup: 'invite',
      signupPlan: 'free',
      webhooks: webhookParts,
      domains: { check: async () => {} },
      feed: idleFeed(database.sql),
      onChange: async () => {},
    };
    const codes = { only: id };
    const [start, end] = [new Date(0), new Date(Date.now() + 86_400_000)];
    await filled.makeTable(2);
    let attempts = 0;
    const read = async (reading: Reading, { version }: { version: number }) => {
      attempts++;
      if (version === 1) {
        await filled.putInUse(2);
        await dropTable(warehouse, 1);
        await store([{ ...scan(), city: 'Vienna' }]);
      }
      return readFigures(reading, { account: account.id, mode: 'live', codes, start, end, bots: 'include' });
    };
    const { table, found } = await readWarehouse(parts, { account: account.id }, read, new AbortController().signal);
    expect(attempts).toBe(2);
    expect(table.version).toBe(2);
    expect(found.cities).toEqual([{ city: 'Vienna', country: 'DE', scans: 1 }]);
  });
});
