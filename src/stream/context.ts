import type { NatsConnection } from 'nats';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Sql } from '../lib/sql.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** What the relay and the projections need. */
export interface StreamContext {
  sql: Sql;
  /** For the connections that hold the session locks of leader elections. */
  databaseUrl: string;
  nats: NatsConnection;
  /** The name of the stream in JetStream. */
  stream: string;
  /** How many servers of a NATS cluster store the stream. */
  replicas: number;
  log: Logger;
  metrics: Metrics;
  tracing?: Tracing | undefined;
}
