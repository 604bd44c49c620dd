import { readdirSync, readFileSync } from 'node:fs';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { Warehouse } from './connect.ts';
import { isAccessDenied, isNotReplicated, isUnknownDatabase, isUnknownTable } from './errors.ts';
import { readTopology, type Topology } from './topology.ts';

const folder = new URL('../../migrations/clickhouse/', import.meta.url);

/** The newest definition of the table, with the number of its file. */
export const definition = (() => {
  const name = readdirSync(folder)
    .filter((file) => /^\d{4}_scans\.sql$/.test(file))
    .sort()
    .at(-1) as string;
  return { number: Number(name.slice(0, 4)), sql: readFileSync(new URL(name, folder), 'utf8') };
})();

/** The qualified name of a table. Safe to embed in SQL: the database name is validated with the settings. */
export const tableName = ({ database }: Pick<Warehouse, 'database'>, version: number) =>
  `${database}.scans_v${version}`;

/**
 * ClickHouse waits this long for the other hosts of the cluster. A host that is down runs the statement when it returns; an
 * error of a host that answers is thrown.
 */
const ddlSettings: ClickHouseSettings = {
  distributed_ddl_output_mode: 'null_status_on_timeout',
  distributed_ddl_task_timeout: '15',
};

const syncTimeoutSeconds = 30;

/** A Replicated database sends DDL to its replicas itself, and refuses ON CLUSTER and engine arguments. */
const onCluster = ({ cluster }: Pick<Warehouse, 'cluster'>, { database }: Topology) =>
  cluster === undefined || database === 'replicated' ? '' : `ON CLUSTER '${cluster}'`;

type Location = Pick<Warehouse, 'database' | 'cluster'>;

/** Table settings that ALTER TABLE can change. */
const changeableSettings = ({ cluster }: Location, { database }: Topology): string[] => [
  // Confirmed parts must survive a power loss: with a wrong row count the table would be rebuilt.
  'fsync_after_insert = 1',
  'fsync_part_directory = 1',
  // A deletion that empties a month would drop the part that Keeper records as the last one with a quorum, and every
  // later read with select_sequential_consistency would fail with code 289.
  ...(cluster !== undefined || database === 'replicated' ? ['remove_empty_parts = 0'] : []),
];

/** The statement that creates a table. */
export function createStatement(
  location: Location,
  topology: Topology,
  { version, isWasm = false, ifNotExists = false }: { version: number; isWasm?: boolean; ifNotExists?: boolean },
): string {
  const isReplicated = location.cluster !== undefined || topology.database === 'replicated';
  const withPath = "ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')";
  const replicatedEngine = topology.database === 'replicated' ? 'ReplicatedMergeTree' : withPath;
  const settings = [
    `${isReplicated ? '' : 'non_'}replicated_deduplication_window = 10000`,
    // WebAssembly's file system has no hard links, which a deletion would use for unchanged files.
    ...(isWasm ? ['always_use_copy_instead_of_hardlinks = 1'] : changeableSettings(location, topology)),
  ];
  return definition.sql
    .replaceAll(/^\s*--.*$/gm, '')
    .replace('CREATE TABLE', ifNotExists ? 'CREATE TABLE IF NOT EXISTS' : 'CREATE TABLE')
    .replace('$table', tableName(location, version))
    .replace('$on_cluster', onCluster(location, topology))
    .replace('$engine', isReplicated ? replicatedEngine : 'MergeTree')
    .replace('$settings', settings.join(', '));
}

/** The statement that gives a table of an older version the current settings. */
export const settingsStatement = (location: Location, topology: Topology, version: number) =>
  `ALTER TABLE ${tableName(location, version)} ${onCluster(location, topology)}
   MODIFY SETTING ${changeableSettings(location, topology).join(', ')}`;

export async function createTable(warehouse: Warehouse, version: number): Promise<void> {
  const topology = await readTopology(warehouse);
  const isWasm = await isWebAssembly(warehouse);
  const create = (ifNotExists = false) =>
    ddl(warehouse, createStatement(warehouse, topology, { version, isWasm, ifNotExists }));
  if (topology.database !== 'missing') {
    try {
      return await create();
    } catch (error) {
      // The database is missing on another host of the cluster.
      if (!isUnknownDatabase(error)) throw error;
    }
  }
  await ddl(warehouse, `CREATE DATABASE IF NOT EXISTS ${warehouse.database} ${onCluster(warehouse, topology)}`);
  await create(true);
}

/** Does nothing when the table does not exist. */
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
  // The default limit of 50 GB would make the server refuse to drop a larger table.
  await ddl(warehouse, query, { max_table_size_to_drop: '0' }).catch((error) => {
    if (!isUnknownTable(error)) throw error;
  });
}

async function ddl({ client }: Warehouse, query: string, settings: ClickHouseSettings = {}): Promise<void> {
  await client.command({ query, clickhouse_settings: { ...ddlSettings, ...settings } });
}

/** The number of rows of a table; undefined when it does not exist. */
export async function countRows(warehouse: Warehouse, version: number): Promise<number | undefined> {
  try {
    return await singleValue(warehouse, `SELECT toString(count()) AS value FROM ${tableName(warehouse, version)}`).then(
      Number,
    );
  } catch (error) {
    if (isUnknownTable(error)) return undefined;
    throw error;
  }
}

/** Waits until the replica that answers has fetched every part; does nothing for a table that is not replicated. */
export async function syncReplica({ client, ...warehouse }: Warehouse, version: number): Promise<void> {
  const query = `SYSTEM SYNC REPLICA ${tableName(warehouse, version)} LIGHTWEIGHT`;
  await client.command({ query, clickhouse_settings: { receive_timeout: syncTimeoutSeconds } }).catch((error) => {
    if (!isNotReplicated(error) && !isAccessDenied(error) && !isUnknownTable(error)) throw error;
  });
}

const isWebAssembly = async (warehouse: Warehouse) =>
  (await singleValue(warehouse, 'SELECT hostName() AS value')) === 'emscripten';

async function singleValue({ client }: Warehouse, query: string): Promise<string> {
  const result = await client.query({ query, format: 'JSONEachRow' });
  const [row] = await result.json<{ value: string }>();
  return row?.value ?? '';
}
