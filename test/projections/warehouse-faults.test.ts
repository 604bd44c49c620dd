import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  type ClickHouseProxy,
  type ResponseFaultName,
  responseFaultNames,
  type StatementKind,
  startClickHouseProxy,
} from '../../bench/chaos/clickhouse-proxy.ts';
import { Analytics } from '../../projections/analytics.ts';
import { counters } from '../../projections/counters.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { connectWarehouse, type Warehouse } from '../../src/analytics/connect.ts';
import { scanTables } from '../../src/analytics/scan-tables.ts';
import { remove } from '../../src/codes/change.ts';
import { createCodes } from '../../src/codes/create.ts';
import { newId } from '../../src/lib/ids.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { readScanText } from '../../src/log/scan-lines.ts';
import { replayAnalytics } from '../../src/maintenance/replay-analytics.ts';
import { uniqueName, useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';
import { expectAllAgree } from '../support/verified.ts';

const rounds = 4;
const database = useDatabase();
const by = { actor: 'operator', now: new Date() };
const seen = new Map<StatementKind, number>();
let dropped = 0;
let proxy: ClickHouseProxy;
/** Connected through the proxy, like the service. */
let warehouse: Warehouse;
/** Connected without the proxy. */
let direct: Warehouse;

beforeAll(async () => {
  const { clickhouseUrl } = inject('stack');
  const onStatement = (kind: StatementKind, statement: string) => {
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    if (/^DROP TABLE/.test(statement)) dropped++;
  };
  proxy = await startClickHouseProxy(clickhouseUrl, { onStatement });
  const settings = { clickhouseDatabase: uniqueName(), clickhouseCluster: undefined };
  warehouse = connectWarehouse({ ...settings, clickhouseUrl: proxy.url });
  direct = connectWarehouse({ ...settings, clickhouseUrl });
});
afterAll(async () => {
  await warehouse.client.close();
  await proxy.stop();
  await direct.client.command({ query: `DROP DATABASE IF EXISTS ${direct.database}` });
  await direct.client.close();
});

async function newCode() {
  const { id: account } = await createAccount(database.sql, { name: 'Test', plan: 'enterprise', now: by.now });
  const owner = { account, mode: 'live' as const };
  const request = { name: 'Menu', destination_url: 'https://example.com' };
  const [made] = await database.sql.begin((tx) => createCodes(tx, testBox, owner, [request], by));
  return { id: made?.code.id ?? '', owner };
}

const scan = ({ id, owner }: Awaited<ReturnType<typeof newCode>>, count: number) =>
  appendScans(
    database.sql,
    batchOf(
      newId('batch', Date.now()),
      1,
      Array.from({ length: count }, () => scanned({ code: id, ...owner })),
    ),
  );

const tablesInUse = () => database.sql`SELECT version, in_use, removing_to FROM warehouse_tables`;

/** Runs the projection like the service, without its pauses. */
function startProjection() {
  const { sql } = database;
  let rebuilds = 0;
  const projection = new Analytics({
    sql,
    tables: scanTables(warehouse),
    readScans: (piece) => readScanText(sql, piece),
    rebuild: async () => {
      rebuilds++;
      await replayAnalytics({ sql, warehouse });
    },
    onFailure: () => {},
    rebuildAfterMs: 600_000,
    everyMs: { maintain: 0, count: 60_000 },
    removal: { everyMs: 0, maxAhead: 0, maxPollMs: 0, retryFailedMs: 50, retryAcceptedMs: 3_600_000 },
  });

  /** Runs until the log is applied, no removal is running, and every armed response was sent. */
  async function settle(): Promise<void> {
    await eventually(async () => {
      for (let position = await projection.checkpoint(); ; ) {
        await projection.maintain();
        const range = await readRange(sql, position, 1_000);
        if (range.to > position) await projection.apply(range);
        else break;
        position = range.to;
      }
      expect(proxy.isUsedUp(), 'every armed response was sent').toBe(true);
      expect(await tablesInUse()).toEqual([expect.objectContaining({ in_use: true, removing_to: null })]);
    });
  }
  return { settle, rebuilds: () => rebuilds };
}

const arm = (...names: ResponseFaultName[]) => {
  for (const name of names) proxy.arm(name);
};

const given = (...names: ResponseFaultName[]) =>
  names.reduce((sum, name) => sum + (proxy.occurrences.get(name) ?? 0), 0);

test('error responses of a cluster cause no dropped table and no unbounded retries, and leave exact counts', async () => {
  const projection = startProjection();
  await projection.settle();
  const staying = await newCode();
  let removals = 0;
  for (let round = 0; round < rounds; round++) {
    const leaving = [await newCode(), await newCode()] as const;
    await Promise.all([scan(staying, 3), ...leaving.map((code) => scan(code, 2))]);
    arm('too few replicas (285)', 'quorum of the last insert open (286)', 'status of an insert unknown (319)');
    arm('replica not in the quorum (289)', 'a low count', 'no such table (60)', 'a late error as a row');
    await projection.settle();
    // The first statement of each pair is not executed, so it must be repeated.
    const failures: [ResponseFaultName, ResponseFaultName][] = [
      ['field value too long', 'unfinished on a replica (341)'],
      ['a late error', 'cut in the middle'],
    ];
    for (const [i, { owner, id }] of leaving.entries()) {
      await remove(database.sql, owner, id, by);
      arm(...(failures[i] ?? []));
      removals++;
      await projection.settle();
    }
  }
  expect(projection.rebuilds(), 'only the first table was built').toBe(1);
  expect(dropped).toBe(0);
  const ofDeletes = given('field value too long', 'unfinished on a replica (341)', 'a late error', 'cut in the middle');
  expect(seen.get('delete'), 'one statement for each removal, and one for each failure').toBeLessThanOrEqual(
    removals + ofDeletes,
  );

  // A replay whose DDL fails does not change the table in use.
  const inUse = await tablesInUse();
  for (const name of [...Array<ResponseFaultName>(rounds).fill('timeout of hosts (159)'), 'a late error'] as const) {
    arm(name);
    await expect(replayAnalytics({ sql: database.sql, warehouse })).rejects.toThrow(/not finished|failed after/);
    expect(await tablesInUse()).toEqual(expect.arrayContaining([...inUse]));
  }
  await replayAnalytics({ sql: database.sql, warehouse });
  await projection.settle();

  expect(Math.min(...responseFaultNames.map((name) => given(name)))).toBeGreaterThanOrEqual(rounds);
  const stored = await direct.client.query({ query: `SHOW TABLES FROM ${direct.database}`, format: 'JSONEachRow' });
  expect(await stored.json()).toHaveLength(1);
  await counters.rebuild(database.sql);
  await database.sql`UPDATE checkpoints SET position = ${await headOfLog(database.sql)} WHERE projection = 'webhooks'`;
  await expectAllAgree(database.sql, direct);
});
