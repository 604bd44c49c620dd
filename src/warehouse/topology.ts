import type { ClickHouseSettings } from '@clickhouse/client';
import type { Warehouse } from './connect.ts';
import { isAccessDenied, isUnknownDatabase } from './errors.ts';

/** How the tables of a warehouse are replicated. */
export interface Topology {
  database: 'missing' | 'plain' | 'replicated';
  /** Undefined when the server does not say. */
  replicas: number | undefined;
}

/** ClickHouse's default of 600 s would block every insert that long while a replica does not fetch. */
const quorumTimeoutMs = 60_000;

/** Asked when the projection starts or recovers, never for an insert or a read. */
export async function readTopology(warehouse: Warehouse): Promise<Topology> {
  const database = await databaseKind(warehouse);
  // A database with the engine Replicated is a cluster of the same name.
  const cluster = warehouse.cluster ?? (database === 'replicated' ? warehouse.database : undefined);
  return { database, replicas: cluster === undefined ? 1 : await countReplicas(warehouse, cluster) };
}

/**
 * With several replicas an insert succeeds once a majority has it. With one it needs no quorum, and must not ask for one:
 * ClickHouse never confirms the quorum of a single replica.
 */
export const quorumSettings = ({ replicas }: Topology): ClickHouseSettings =>
  replicas === 1 ? {} : { insert_quorum: 'auto', insert_quorum_parallel: 0, insert_quorum_timeout: quorumTimeoutMs };

/** Not from system.databases, which needs a grant that SHOW does not. */
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

/** Without the grant, or for a cluster that the server does not list, the number stays unknown. */
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
