import { readdirSync, readFileSync } from 'node:fs';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { Warehouse } from './connect.ts';
import { isAccessDenied, isNotReplicated, isUnknownDatabase, isUnknownTable } from './errors.ts';
import { readTopology, type Topology } from './topology.ts';

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

/**
 * A host that is down gets its statement when it returns; the others are waited for this long. An error of a host that
 * answers is thrown.
 */
const ddlSettings: ClickHouseSettings = {
  distributed_ddl_output_mode: 'null_status_on_timeout',
  distributed_ddl_task_timeout: '15',
};

/** How long a replica may take to fetch what the others have. */
const syncTimeoutSeconds = 30;

/** A Replicated database sends DDL to its replicas itself, and refuses ON CLUSTER and arguments of the engine. */
const onCluster = ({ cluster }: Pick<Warehouse, 'cluster'>, { database }: Topology) =>
  cluster === undefined || database === 'replicated' ? '' : `ON CLUSTER '${cluster}'`;

type Where = Pick<Warehouse, 'database' | 'cluster'>;

/** Settings of a table that can also be changed later. */
const changeableSettings = ({ cluster }: Where, { database }: Topology): string[] => [
  // A power loss must not lose parts that were confirmed: the row count would be wrong, and the table rebuilt.
  'fsync_after_insert = 1',
  'fsync_part_directory = 1',
  // A deletion that empties a month would drop the part that Keeper names as the last one with a quorum; from then on
  // every read with select_sequential_consistency fails with code 289.
  ...(cluster !== undefined || database === 'replicated' ? ['remove_empty_parts = 0'] : []),
];

/** The statement that creates a table. */
export function createStatement(
  where: Where,
  topology: Topology,
  { version, isWasm = false, ifNotExists = false }: { version: number; isWasm?: boolean; ifNotExists?: boolean },
): string {
  const isReplicated = where.cluster !== undefined || topology.database === 'replicated';
  const withPath = "ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')";
  const replicatedEngine = topology.database === 'replicated' ? 'ReplicatedMergeTree' : withPath;
  const settings = [
    `${isReplicated ? '' : 'non_'}replicated_deduplication_window = 10000`,
    // WebAssembly's files are in memory and cannot be linked; parts that a deletion leaves alone would be.
    ...(isWasm ? ['always_use_copy_instead_of_hardlinks = 1'] : changeableSettings(where, topology)),
  ];
  return definition.sql
    .replaceAll(/^\s*--.*$/gm, '')
    .replace('CREATE TABLE', ifNotExists ? 'CREATE TABLE IF NOT EXISTS' : 'CREATE TABLE')
    .replace('$table', tableName(where, version))
    .replace('$on_cluster', onCluster(where, topology))
    .replace('$engine', isReplicated ? replicatedEngine : 'MergeTree')
    .replace('$settings', settings.join(', '));
}

/** Brings a table that an older version created to the settings of a new one. */
export const settingsStatement = (where: Where, topology: Topology, version: number) =>
  `ALTER TABLE ${tableName(where, version)} ${onCluster(where, topology)}
   MODIFY SETTING ${changeableSettings(where, topology).join(', ')}`;

export async function createTable(warehouse: Warehouse, version: number): Promise<void> {
  const topology = await readTopology(warehouse);
  const isWasm = await isWebAssembly(warehouse);
  const create = (ifNotExists = false) =>
    ddl(warehouse, createStatement(warehouse, topology, { version, isWasm, ifNotExists }));
  if (topology.database !== 'missing') {
    try {
      return await create();
    } catch (error) {
      // Another host of the cluster has no such database.
      if (!isUnknownDatabase(error)) throw error;
    }
  }
  await ddl(warehouse, `CREATE DATABASE IF NOT EXISTS ${warehouse.database} ${onCluster(warehouse, topology)}`);
  await create(true);
}

/** Does nothing where the table does not exist. */
export async function updateSettings(warehouse: Warehouse, topology: Topology, version: number): Promise<void> {
  if (await isWebAssembly(warehouse)) return;
  await ddl(warehouse, settingsStatement(warehouse, topology, version)).catch((error) => {
    if (!isUnknownTable(error)) throw error;
  });
}

export async function dropTable(warehouse: Warehouse, version: number): Promise<void> {
  const topology = await readTopology(warehouse);
  if (topology.database === 'missing' && warehouse.cluster === undefined) return;
  const query = `DROP TABLE IF EXISTS ${tableName(warehouse, version)} ${onCluster(warehouse, topology)}`;
  // Without the limit of 50 GB, beyond which the server would keep the table for good.
  await ddl(warehouse, query, { max_table_size_to_drop: '0' }).catch((error) => {
    if (!isUnknownTable(error)) throw error;
  });
}

async function ddl({ client }: Warehouse, query: string, settings: ClickHouseSettings = {}): Promise<void> {
  await client.command({ query, clickhouse_settings: { ...ddlSettings, ...settings } });
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

/** Waits until the replica that answers has fetched every part; resolves where there is nothing to wait for. */
export async function syncReplica({ client, ...warehouse }: Warehouse, version: number): Promise<void> {
  const query = `SYSTEM SYNC REPLICA ${tableName(warehouse, version)} LIGHTWEIGHT`;
  await client.command({ query, clickhouse_settings: { receive_timeout: syncTimeoutSeconds } }).catch((error) => {
    if (!isNotReplicated(error) && !isAccessDenied(error) && !isUnknownTable(error)) throw error;
  });
}

const isWebAssembly = async (warehouse: Warehouse) =>
  (await one(warehouse, 'SELECT hostName() AS value')) === 'emscripten';

async function one({ client }: Warehouse, query: string): Promise<string> {
  const result = await client.query({ query, format: 'JSONEachRow' });
  const [row] = await result.json<{ value: string }>();
  return row?.value ?? '';
}
