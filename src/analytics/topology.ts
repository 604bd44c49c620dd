import type { ClickHouseSettings } from '@clickhouse/client';
import type { Warehouse } from './connect.ts';
import { isAccessDenied, isUnknownDatabase } from './errors.ts';

/** How the tables of a warehouse are replicated. */
export interface Topology {
  database: 'missing' | 'plain' | 'replicated';
  /** Undefined when it is unknown: see `countReplicas`. */
  replicas: number | undefined;
}

/** With ClickHouse's default, a replica that does not fetch blocks every insert for 600 s. */
const quorumTimeoutMs = 60_000;

/** Costs two queries: called when the projection starts or recovers, not for each insert or read. */
export async function readTopology(warehouse: Warehouse): Promise<Topology> {
  const database = await databaseKind(warehouse);
  // A database with the engine Replicated is a cluster of the same name.
  const cluster = warehouse.cluster ?? (database === 'replicated' ? warehouse.database : undefined);
  return { database, replicas: cluster === undefined ? 1 : await countReplicas(warehouse, cluster) };
}

/**
 * With several replicas, an insert succeeds once a majority has it. A single replica must not use a quorum, because
 * ClickHouse never confirms it.
 */
export const quorumSettings = ({ replicas }: Topology): ClickHouseSettings =>
  replicas === 1 ? {} : { insert_quorum: 'auto', insert_quorum_parallel: 0, insert_quorum_timeout: quorumTimeoutMs };

/** Uses SHOW CREATE, because reading system.databases needs an additional grant. */
async function databaseKind({ client, database }: Warehouse): Promise<Topology['database']> {
  try {
    const result = await client.query({ query: `SHOW CREATE DATABASE ${database}`, format: 'JSONEachRow' });
    const [row] = await result.json<{ statement: string }>();
    return /ENGINE = Replicated\b/.test(row?.statement ?? '') ? 'replicated' : 'plain';
  } catch (error) {
    if (isUnknownDatabase(error)) return 'missing';
    if (isAccessDenied(error)) return 'plain';
    throw error;
  }
}

export const replicasQuery =
  'SELECT toString(max(replica_num)) AS replicas FROM system.clusters WHERE cluster = {cluster:String}';

/** Undefined without the grant to read system.clusters, or when the server does not list the cluster. */
async function countReplicas({ client }: Warehouse, cluster: string): Promise<number | undefined> {
  try {
    const result = await client.query({
      query: replicasQuery,
      query_params: { cluster },
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ replicas: string }>();
    return Number(row?.replicas) || undefined;
  } catch (error) {
    if (isAccessDenied(error)) return undefined;
    throw error;
  }
}
