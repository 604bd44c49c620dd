import { readdirSync, readFileSync } from 'node:fs';
import type { Warehouse } from './connect.ts';
import { isUnknownTable } from './errors.ts';

const folder = new URL('../../migrations/clickhouse/', import.meta.url);

/** The newest shape of the table, under the number of its file. */
export const definition = (() => {
  const name = readdirSync(folder)
    .filter((file) => /^\d{4}_scans\.sql$/.test(file))
    .sort()
    .at(-1) as string;
  return { number: Number(name.slice(0, 4)), sql: readFileSync(new URL(name, folder), 'utf8') };
})();

/** The table of a version, with its database: the names of both are ours or were checked, so they may stand in SQL. */
export const tableName = ({ database }: Pick<Warehouse, 'database'>, version: number) =>
  `${database}.scans_v${version}`;

const onCluster = ({ cluster }: Warehouse) => (cluster === undefined ? '' : `ON CLUSTER '${cluster}'`);

export async function createTable(warehouse: Warehouse, version: number): Promise<void> {
  const { client, database, cluster } = warehouse;
  await client.command({ query: `CREATE DATABASE IF NOT EXISTS ${database} ${onCluster(warehouse)}` });
  const replicated = "ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')";
  const window = `${cluster === undefined ? 'non_' : ''}replicated_deduplication_window = 10000`;
  // WebAssembly's files cannot be linked, and parts that a deletion leaves alone would be.
  const copying = (await hostName(warehouse)) === 'emscripten' ? ['always_use_copy_instead_of_hardlinks = 1'] : [];
  await client.command({
    query: definition.sql
      .replaceAll(/^\s*--.*$/gm, '')
      .replace('$table', tableName(warehouse, version))
      .replace('$on_cluster', onCluster(warehouse))
      .replace('$engine', cluster === undefined ? 'MergeTree' : replicated)
      .replace('$settings', [window, ...copying].join(', ')),
  });
}

export async function dropTable(warehouse: Warehouse, version: number): Promise<void> {
  const query = `DROP TABLE IF EXISTS ${tableName(warehouse, version)} ${onCluster(warehouse)}`;
  // One whose database is gone, too, is gone.
  await warehouse.client.command({ query }).catch((error) => {
    if (!isUnknownTable(error)) throw error;
  });
}

/** How many scans a table holds; undefined when there is no such table. */
export async function countRows(warehouse: Warehouse, version: number): Promise<number | undefined> {
  try {
    return await one(warehouse, `SELECT toString(count()) AS value FROM ${tableName(warehouse, version)}`).then(Number);
  } catch (error) {
    if (isUnknownTable(error)) return undefined;
    throw error;
  }
}

const hostName = (warehouse: Warehouse) => one(warehouse, 'SELECT hostName() AS value');

async function one({ client }: Warehouse, query: string): Promise<string> {
  const result = await client.query({ query, format: 'JSONEachRow' });
  const [row] = await result.json<{ value: string }>();
  return row?.value ?? '';
}
