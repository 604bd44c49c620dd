import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';

/** ClickHouse, and where in it our tables are. */
export interface Warehouse {
  client: ClickHouseClient;
  database: string;
  /** Tables are replicated over this cluster. */
  cluster: string | undefined;
}

export interface WarehouseSettings {
  clickhouseUrl: string;
  clickhouseDatabase: string;
  clickhouseCluster: string | undefined;
}

/** Removing the scans of a code can take this long; reads bound themselves. */
const longestMs = 600_000;

export function connectWarehouse({
  clickhouseUrl: url,
  clickhouseDatabase: database,
  clickhouseCluster: cluster,
}: WarehouseSettings): Warehouse {
  // With replicas, an insert counts when most have it, and a read asks one that has all of them.
  const ofCluster = { insert_quorum: 'auto', insert_quorum_parallel: 0, select_sequential_consistency: '1' } as const;
  const client = createClient({
    url,
    application: 'scanlog',
    request_timeout: longestMs,
    max_open_connections: 16,
    // What goes wrong is thrown, and said by whoever asked.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: cluster === undefined ? {} : ofCluster,
  });
  return { client, database, cluster };
}

/** Rejects when the warehouse does not answer. */
export async function pingWarehouse({ client }: Warehouse): Promise<void> {
  const result = await client.ping();
  if (!result.success) throw result.error;
}
