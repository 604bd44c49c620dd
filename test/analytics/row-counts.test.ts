import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Warehouse } from '../../src/analytics/connect.ts';
import { countRowsByCode, wrongAggregates } from '../../src/analytics/row-counts.ts';
import { createRetentionWorld, type OwnedCode, type RetentionWorld } from '../maintenance/retention-world.ts';

let world: RetentionWorld;
let code: OwnedCode;
let version: number;

beforeAll(async () => {
  world = await createRetentionWorld();
  code = await world.newCode();
  await world.scan(code, 3, { occurred_at: new Date('2025-12-31T23:59:59.999Z') });
  await world.scan(code, 4, { occurred_at: new Date('2026-02-01T00:00:00.000Z') });
  await world.catchUp();
  [{ version }] = await world.sql<[{ version: number }]>`SELECT version FROM warehouse_tables WHERE in_use`;
});
afterAll(() => world.drop());

/** A warehouse whose queries are passed to `run`. */
function withQueries(
  run: (warehouse: Warehouse, query: Parameters<Warehouse['client']['query']>[0]) => unknown,
): Warehouse {
  const { warehouse } = world;
  const client = new Proxy(warehouse.client, {
    get: (target, property) =>
      property === 'query'
        ? (query: Parameters<typeof target.query>[0]) => run(warehouse, query)
        : Reflect.get(target, property),
  });
  return { ...warehouse, client };
}

test('rows are counted month by month, one statement at a time', async () => {
  const months: unknown[] = [];
  let running = 0;
  const counting = withQueries(async ({ client }, query) => {
    expect(++running).toBe(1);
    if (query.query_params?.['from'] !== undefined) months.push(query.query_params['from']);
    const result = await client.query(query);
    running--;
    return result;
  });
  const counts = await countRowsByCode(counting, { version, account: undefined, position: 1e9 });
  expect([...counts]).toEqual([[code.id, { total: 7, unique: 7 }]]);
  expect(await wrongAggregates(counting, { version, account: undefined })).toEqual([]);
  // None was scanned in January.
  const each = ['2025-12-01', '2026-02-01'];
  expect(months).toEqual([...each, ...each]);
});

test('each aggregate is compared with the rows of the table, which are counted once by code and once by account', async () => {
  const sources: string[][] = [];
  const explaining = withQueries(async ({ client }, query) => {
    if (query.query_params?.['from'] === undefined) return client.query(query);
    const plan = await client.query({ ...query, query: `EXPLAIN ${query.query}`, format: 'JSONEachRow' });
    const lines = (await plan.json<{ explain: string }>()).map(({ explain }) => explain);
    sources.push(lines.flatMap((line) => /ReadFromMergeTree \((\w+)/.exec(line)?.[1] ?? []));
    return { json: async () => [] };
  });
  await wrongAggregates(explaining, { version, account: undefined });
  const rows = world.warehouse.database;
  expect(sources[0]).toEqual([rows, rows, 'by_hour', 'by_account', 'by_client', 'by_place']);
});

/** A warehouse in which `by_client` has one scan too many of each code, in the first `times` statements about it. */
const withWrongAggregate = (times: number) =>
  withQueries(({ client }, query) => {
    const changed = query.query.replace(/(?<='by_client' AS aggregate, code AS name, 0 AS r, count\(\))/, ' + 1');
    const isWrong = changed !== query.query && times-- > 0;
    return client.query(isWrong ? { ...query, query: changed } : query);
  });

test('a difference that stays is reported for its month, one that goes is not', async () => {
  const selection = { version, account: undefined };
  const wrong = { aggregate: 'by_client', subject: code.id };
  expect(await wrongAggregates(withWrongAggregate(100), selection)).toEqual([
    { ...wrong, rows: 3, aggregated: 4 },
    { ...wrong, rows: 4, aggregated: 5 },
  ]);
  expect(await wrongAggregates(withWrongAggregate(3), selection)).toEqual([]);
});
