import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';

/** A ClickHouse connection and the location of our tables. */
export interface Warehouse {
  client: ClickHouseClient;
  database: string;
  /** The cluster that replicates the tables. */
  cluster: string | undefined;
  /** A table with wrong row counts is rebuilt once the counts have not improved for this long. */
  rebuildAfterMs: number;
}

export interface WarehouseSettings {
  clickhouseUrl: string;
  clickhouseDatabase: string;
  clickhouseCluster: string | undefined;
  clickhouseRebuildAfterSeconds?: number | undefined;
}

/** Long enough for the inserts of a rebuild and the reads of `verify`; other reads set their own timeout. */
const requestTimeoutMs = 600_000;
const maxConnections = 16;
/** Less than the 3 s after which servers before 23.11 close an idle connection. */
const idleConnectionMs = 2_500;
/** A replica of a cluster can lag for minutes; a single server that keeps reporting missing rows has lost them. */
const defaultRebuildAfterSeconds = { cluster: 300, single: 60 };

export function connectWarehouse(settings: WarehouseSettings): Warehouse {
  const { clickhouseUrl: url, clickhouseDatabase: database, clickhouseCluster: cluster } = settings;
  const client = createClient({
    url,
    application: 'scanlog',
    request_timeout: requestTimeoutMs,
    http_agent: agentFor(url),
    // The agent closes idle connections. The timers of the client would close connections in use: if a request is aborted before it
    // has a connection, that becomes idle a second time, and its first timer is never cleared.
    keep_alive: { idle_socket_ttl: 0 },
    // Errors are thrown, and logged by the caller.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      // Also without CLICKHOUSE_CLUSTER: the URL may lead to several replicas, as in ClickHouse Cloud.
      select_sequential_consistency: '1',
      // Without it, an error can follow status 200 and the first bytes of a response: `command` ignores such an error, and
      // servers before 25.11 send it as a row.
      wait_end_of_query: 1,
    },
  });
  const rebuildAfterSeconds =
    settings.clickhouseRebuildAfterSeconds ??
    (cluster === undefined ? defaultRebuildAfterSeconds.single : defaultRebuildAfterSeconds.cluster);
  return { client, database, cluster, rebuildAfterMs: rebuildAfterSeconds * 1_000 };
}

function agentFor(url: string): HttpAgent {
  const options = { keepAlive: true, maxSockets: maxConnections, timeout: idleConnectionMs };
  return new URL(url).protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
}

/** Rejects when the warehouse does not answer. */
export async function pingWarehouse({ client }: Warehouse): Promise<void> {
  const result = await client.ping();
  if (!result.success) throw result.error;
}
