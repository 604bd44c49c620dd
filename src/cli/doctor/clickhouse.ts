import { text } from 'node:stream/consumers';
import type { Warehouse } from '../../analytics/connect.ts';
import { codeOf } from '../../lib/errors.ts';
import { bytes, type Checks, compareClocks, error, isAtLeast, type Outcome, ok, warning } from './finding.ts';

const oldestVersion = [24, 8] as const;
const syntaxError = '62';
const minFreeShare = 0.1;
/** Queries send these settings, and fail for a user whose profile forbids one of them. */
const neededSettings = [
  ...['async_insert', 'insert_deduplication_token', 'insert_quorum', 'insert_quorum_parallel', 'max_execution_time'],
  ...['mutations_sync', 'select_sequential_consistency', 'wait_end_of_query'],
];

/** Checks of ClickHouse; `writes` is false for processes that only read. The checks write nothing. */
export function clickhouseChecks(warehouse: Warehouse, { writes }: { writes: boolean }): Checks {
  const { client, database, cluster } = warehouse;
  const rows = async <T>(query: string): Promise<T[]> => {
    const query_params = { database, cluster: cluster ?? '', settings: neededSettings };
    return (await client.query({ query, query_params, format: 'JSONEachRow' })).json<T>();
  };
  return {
    version: async () => {
      const [row] = await rows<{ version: string }>('SELECT version() AS version');
      const { version } = row ?? { version: '' };
      return isAtLeast(version, oldestVersion)
        ? ok(`ClickHouse ${version}.`)
        : error(`ClickHouse ${version} is too old: upgrade it to 24.8 or newer.`);
    },
    read_only: async () => {
      const fixed = await rows<{ name: string; value: string; readonly: number }>(
        "SELECT name, value, readonly FROM system.settings WHERE name = 'readonly' OR (name IN {settings:Array(String)} AND readonly = 1)",
      );
      const readonly = fixed.find(({ name }) => name === 'readonly')?.value ?? '0';
      if (writes && readonly !== '0')
        return error('This user is read-only: give it a settings profile with readonly = 0, or run --role api alone.');
      if (readonly === '1')
        return error('readonly = 1 forbids the settings that reads send: set readonly = 2 for this user.');
      const names = fixed.filter((setting) => setting.name !== 'readonly').map(({ name }) => name);
      return names.length === 0
        ? ok('This user may change every setting that queries send.')
        : error(`This user may not change ${names.join(', ')}: remove those constraints from its settings profile.`);
    },
    database: async () => {
      const [found] = await rows<{ engine: string }>(
        'SELECT engine FROM system.databases WHERE name = {database:String}',
      );
      return found === undefined
        ? ok(`The database ${database} does not exist yet: the service creates it.`)
        : ok(`The database ${database} exists (${found.engine}).`);
    },
    grants: () => checkGrants(warehouse, rows, writes),
    cluster: () => (cluster === undefined ? undefined : checkCluster(cluster, rows)),
    macros: () => (cluster === undefined ? undefined : checkMacros(cluster, rows)),
    replicas: async () => {
      const broken = await rows<{ replica: string }>(`
        SELECT concat(table, ' on ', replica_name) AS replica FROM system.replicas
        WHERE database = {database:String} AND (is_readonly OR is_session_expired OR active_replicas < total_replicas)`);
      if (broken.length === 0) return undefined;
      return warning(
        `Replicas are read-only, or their peers are down (${broken.map(({ replica }) => replica).join(', ')}): check those servers and Keeper.`,
      );
    },
    durability: async () => {
      const [engine] = await rows<{ host: string }>('SELECT hostName() AS host');
      if (engine?.host === 'emscripten')
        return ok('The embedded ClickHouse keeps rows in memory here, and is rebuilt from the log at each start.');
      const lossy = await rows<{ name: string }>(`
        SELECT name FROM system.tables
        WHERE database = {database:String} AND match(name, '^scans_v[0-9]+$') AND NOT match(engine_full, 'fsync_after_insert = 1')
          AND (SELECT value FROM system.merge_tree_settings WHERE name = 'fsync_after_insert') = '0'`);
      if (lossy.length === 0) return ok('An insert is on disk before it is confirmed.');
      return warning(
        `A power failure can lose the newest rows of ${lossy.map(({ name }) => name).join(', ')} until they are rebuilt from the log: run ./scanlog replay analytics, or set fsync_after_insert = 1 in merge_tree.`,
      );
    },
    disk: async () => {
      const disks = await rows<{ name: string; free: string; total: string }>(
        'SELECT name, toString(free_space) AS free, toString(total_space) AS total FROM system.disks',
      );
      const full = disks.filter(({ free, total }) => Number(free) < Number(total) * minFreeShare);
      const listed = (shown: typeof disks) =>
        shown.map(({ name, free }) => `${name}: ${bytes(Number(free))} free`).join(', ');
      return full.length === 0
        ? ok(`Disks: ${listed(disks)}.`)
        : warning(`Less than 10 % of a disk is free (${listed(full)}): free some space before inserts fail.`);
    },
    clock: () =>
      compareClocks(async () => {
        const [row] = await rows<{ ms: string }>('SELECT toString(toUnixTimestamp64Milli(now64(3))) AS ms');
        return Number(row?.ms);
      }),
  };
}

type Rows = <T>(query: string) => Promise<T[]>;

async function checkGrants({ client, database, cluster }: Warehouse, rows: Rows, writes: boolean): Promise<Outcome> {
  const [found] = await rows('SELECT 1 FROM system.databases WHERE name = {database:String}');
  const forWrites = ['INSERT', 'ALTER DELETE', 'ALTER SETTINGS', 'CREATE TABLE', 'DROP TABLE', 'SHOW'];
  const forCluster = [`SYSTEM SYNC REPLICA ON ${database}.*`, 'CLUSTER ON *.*', 'SELECT ON system.clusters'];
  const needed = [
    `SELECT ON ${database}.*`,
    ...(writes ? forWrites.map((right) => `${right} ON ${database}.*`) : []),
    ...(writes && found === undefined ? [`CREATE DATABASE ON ${database}.*`] : []),
    ...(writes && cluster !== undefined ? forCluster : []),
  ];
  const missing: string[] = [];
  for (const grant of needed) {
    try {
      // Not `query`, which appends a FORMAT clause that this statement does not accept.
      const { stream } = await client.exec({ query: `CHECK GRANT ${grant}` });
      if ((await text(stream)).trim() !== '1') missing.push(grant);
    } catch (thrown) {
      if (codeOf(thrown) !== syntaxError) throw thrown;
      return ok('Not checked, because this version has no CHECK GRANT: docs/operations.md lists the required grants.');
    }
  }
  return missing.length === 0
    ? ok('This user has every grant that is needed.')
    : error(`This user lacks grants: ${missing.map((grant) => `GRANT ${grant} TO it`).join('; ')}.`);
}

async function checkCluster(cluster: string, rows: Rows): Promise<Outcome> {
  const hosts = await rows<{ shard: number; host: string }>(
    'SELECT toUInt32(shard_num) AS shard, host_name AS host FROM system.clusters WHERE cluster = {cluster:String}',
  );
  if (hosts.length === 0) {
    const others = await rows<{ cluster: string }>('SELECT DISTINCT cluster FROM system.clusters ORDER BY cluster');
    const known = others.length === 0 ? 'it has none' : `it has ${others.map((row) => row.cluster).join(', ')}`;
    return error(
      `ClickHouse has no cluster ${cluster} (${known}): correct CLICKHOUSE_CLUSTER, or add it to remote_servers.`,
    );
  }
  const shards = new Set(hosts.map(({ shard }) => shard)).size;
  if (shards > 1) return error(`The cluster ${cluster} has ${shards} shards: use one of a single shard.`);
  if (hosts.length === 1)
    return warning(
      `The cluster ${cluster} has one replica: analytics are unavailable while that server is down, and are rebuilt from the log if its disk is lost.`,
    );
  if (hosts.length === 2)
    return warning(`The cluster ${cluster} has two replicas: inserts wait while one is down; add a third.`);
  return ok(`The cluster ${cluster} has ${hosts.length} replicas in one shard.`);
}

async function checkMacros(cluster: string, rows: Rows): Promise<Outcome | undefined> {
  const configured = await rows('SELECT 1 FROM system.clusters WHERE cluster = {cluster:String}');
  if (configured.length === 0) return undefined;
  const hosts = await rows<{ host: string; shard: string; replica: string }>(`
    SELECT hostName() AS host, anyIf(substitution, macro = 'shard') AS shard, anyIf(substitution, macro = 'replica') AS replica
    FROM clusterAllReplicas('${cluster}', view(SELECT macro, substitution FROM system.macros UNION ALL SELECT '', ''))
    GROUP BY host SETTINGS skip_unavailable_shards = 1`);
  const lacking = hosts.filter(({ shard, replica }) => shard === '' || replica === '').map(({ host }) => host);
  if (lacking.length > 0)
    return error(
      `The macros {shard} and {replica} are not both set on ${lacking.join(', ')}: add <macros> to the configuration of those servers.`,
    );
  if (new Set(hosts.map(({ replica }) => replica)).size < hosts.length)
    return error('Two servers have the same macro {replica}: set a different value on each.');
  if (new Set(hosts.map(({ shard }) => shard)).size > 1)
    return error('The macro {shard} differs between servers of one shard: set the same value on all of them.');
  if (hosts.length < configured.length)
    return warning(
      `${configured.length - hosts.length} of ${configured.length} servers of the cluster did not answer: check them.`,
    );
  return ok('The macros {shard} and {replica} are set on every server.');
}
