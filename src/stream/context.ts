import type { NatsConnection } from 'nats';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Sql } from '../log/connect.ts';

/** What everything between the log and the stream works with. */
export interface StreamContext {
  sql: Sql;
  /** For the connection that holds a lock of its own. */
  databaseUrl: string;
  nats: NatsConnection;
  /** Its name in JetStream. */
  stream: string;
  /** How many servers of a NATS cluster store the stream. */
  replicas: number;
  log: Logger;
  metrics: Metrics;
}
