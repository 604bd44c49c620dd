import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { connectWarehouse, type Warehouse } from '../../src/analytics/connect.ts';
import { createStatement, settingsStatement } from '../../src/analytics/tables.ts';
import { quorumSettings, readTopology, replicasQuery, type Topology } from '../../src/analytics/topology.ts';
import { availableEngines, nodeRuntime } from '../../src/stack/clickhouse/engines.ts';
import { uniqueName } from '../support/database.ts';

const onCluster = { database: 'analytics', cluster: 'main' };
const inReplicatedDatabase = { database: 'analytics', cluster: undefined };
const topology = (database: Topology['database'], replicas?: number): Topology => ({ database, replicas });
const statements = {
  'a table on a cluster': createStatement(onCluster, topology('plain'), { version: 1 }),
  'a table in a Replicated database': createStatement(inReplicatedDatabase, topology('replicated'), { version: 2 }),
  'settings of an older table on a cluster': settingsStatement(onCluster, topology('plain'), 1),
};

describe('statements for replicated tables', () => {
  let own: Warehouse;
  beforeAll(() => {
    const { clickhouseUrl } = inject('stack');
    own = connectWarehouse({ clickhouseUrl, clickhouseDatabase: uniqueName(), clickhouseCluster: undefined });
  });
  afterAll(async () => {
    await own.client.command({ query: `DROP DATABASE IF EXISTS ${own.database}` });
    await own.client.close();
  });
  const format = async (statement: string) => {
    const query = 'SELECT formatQuery({statement:String}) AS statement';
    const result = await own.client.query({ query, query_params: { statement }, format: 'JSONEachRow' });
    const [row] = await result.json<{ statement: string }>();
    return row?.statement;
  };

  test.each(Object.entries(statements))('%s: the engine can parse it', async (_, statement) => {
    expect(await format(statement)).toContain('remove_empty_parts = 0');
    await expect(format(`${statement} SETTING`), 'a syntax error is rejected').rejects.toThrow();
  });

  test('use ON CLUSTER, except in a Replicated database', async () => {
    expect(await format(statements['a table on a cluster'])).toMatch(
      /scans_v1 ON CLUSTER main[\s\S]*ENGINE = ReplicatedMergeTree\('[^']*\{uuid\}[^']*\{shard\}', '\{replica\}'\)/,
    );
    const bare = await format(statements['a table in a Replicated database']);
    expect(bare).toMatch(/ENGINE = ReplicatedMergeTree\n/);
    expect(bare).not.toContain('ON CLUSTER');
  });

  test('use settings that the engine has', async () => {
    await own.client.command({ query: `CREATE DATABASE ${own.database}` });
    const statement = statements['a table in a Replicated database']
      .replace('analytics.', `${own.database}.`)
      .replace('= ReplicatedMergeTree', '= MergeTree');
    await own.client.command({ query: statement });
    const alter = settingsStatement({ ...inReplicatedDatabase, database: own.database }, topology('replicated'), 2);
    await own.client.command({ query: alter });
    const unknown = statement.replace('remove_empty_parts', 'remove_empty_partitions').replace('_v2', '_v3');
    await expect(own.client.command({ query: unknown })).rejects.toThrow('remove_empty_partitions');
  });

  test('use the topology of an existing or missing database', async () => {
    const warehouse = { ...own, database: uniqueName() };
    expect(await readTopology(warehouse)).toEqual({ database: 'missing', replicas: 1 });
    await own.client.command({ query: `CREATE DATABASE ${warehouse.database}` });
    expect(await readTopology(warehouse)).toEqual({ database: 'plain', replicas: 1 });
    const unlisted = { ...warehouse, cluster: 'unlisted' };
    expect(await readTopology(unlisted)).toEqual({ database: 'plain', replicas: undefined });
    await own.client.command({ query: `DROP DATABASE ${warehouse.database}` });
  });

  test('use a quorum unless there is a single replica', async () => {
    expect(quorumSettings(topology('plain', 1))).toEqual({});
    for (const replicas of [2, 3, undefined]) {
      const clickhouse_settings = quorumSettings(topology('plain', replicas));
      expect(clickhouse_settings).toMatchObject({ insert_quorum: 'auto' });
      await own.client.command({ query: 'SELECT 1', clickhouse_settings });
    }
  });
});

/** The native engine supports replicated tables with a Keeper inside the process, but no connections between replicas. */
describe.each(availableEngines().filter((engine) => engine === 'native'))('on a replica (%s)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-replica-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const replica = '<replica><host>127.0.0.1</host><port>9</port></replica>';
  const clusterOf = (name: string, replicas: number) => `<${name}><shard>${replica.repeat(replicas)}</shard></${name}>`;

  async function run(all: string[]): Promise<{ ok?: string; error?: string }[]> {
    const config = join(folder, 'config.xml');
    writeFileSync(
      config,
      `<clickhouse>
        <zookeeper><implementation>testkeeper</implementation></zookeeper>
        <macros><shard>1</shard><replica>r1</replica></macros>
        <remote_servers>${clusterOf('one', 1)}${clusterOf('three', 3)}</remote_servers>
      </clickhouse>`,
    );
    const script = fileURLToPath(new URL('./replicated-engine.mjs', import.meta.url));
    return new Promise((resolve, reject) => {
      const child = execFile(
        nodeRuntime() ?? 'node',
        [script, join(folder, 'data'), config],
        (error, stdout, stderr) => {
          if (stdout === '') reject(error ?? new Error(stderr));
          else resolve(JSON.parse(stdout));
        },
      );
      child.stdin?.end(JSON.stringify(all));
    });
  }

  test('tables are created, and the replicas of a cluster are counted', async () => {
    // The engine does not support ON CLUSTER, which would add the UUID for the path in Keeper.
    const here = (statement: string, id: number) =>
      statement
        .replace("ON CLUSTER 'main'", '')
        .replace(/^CREATE TABLE (\S+)/m, `CREATE TABLE $1 UUID '00000000-0000-4000-8000-00000000000${id}'`);
    const outcomes = await run([
      'CREATE DATABASE analytics',
      here(statements['a table on a cluster'], 1),
      here(statements['a table in a Replicated database'], 2),
      "SELECT engine FROM system.tables WHERE database = 'analytics' ORDER BY name",
      here(statements['a table on a cluster'].replace('remove_empty_parts', 'no_such_setting'), 3).replace(
        '_v1',
        '_v3',
      ),
      ...['one', 'three', 'none'].map((name) => replicasQuery.replace('{cluster:String}', `'${name}'`)),
    ]);
    expect(outcomes.slice(0, 3)).toEqual(Array(3).fill({ ok: '' }));
    expect(outcomes[3]).toEqual({ ok: 'ReplicatedMergeTree\nReplicatedMergeTree' });
    expect(outcomes[4]?.error, 'an unknown setting is rejected').toContain('no_such_setting');
    expect(outcomes.slice(5)).toEqual([{ ok: '1' }, { ok: '3' }, { ok: '0' }]);
  });
});
