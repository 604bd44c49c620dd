import type { NatsConnection } from 'nats';
import type { Change } from '../../events/entry.ts';
import { connectWarehouse, type Warehouse } from '../analytics/connect.ts';
import { traceClient } from '../analytics/traced-client.ts';
import { type Addresses, addressesOf, type ServiceConfig } from '../config/config.ts';
import type { Edge } from '../edge/edge.ts';
import type { EdgeIntervals } from '../edge/tasks.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { backgroundConnection, requestConnection } from '../lib/connection-names.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import { createSecretBox, type SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { connect } from '../log/connect.ts';
import { Outbox } from '../mail/outbox.ts';
import type { Relay } from '../stream/relay.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Policy } from '../webhooks/destination.ts';
import { createSender, type Send } from '../webhooks/send.ts';
import { tracedSend } from '../webhooks/traced-send.ts';
import type { Cleanup } from './cleanup.ts';

export interface ServiceOptions {
  log: Logger;
  clock?: Clock;
  /** The pauses of the edge's periodic tasks. */
  edgeIntervals?: EdgeIntervals | undefined;
  /** The pause between two looks at what alerts are due. */
  alertPollMs?: number | undefined;
  /** Whether another process listens on the port already. This one joins it when it can answer everything. */
  joinsPort?: boolean;
  /** Called with the changes that this process has committed, before their requests are answered. */
  onChange?(entries: Change[]): Promise<void>;
  /** Metrics of the other processes of this service; /metrics shows the sum. */
  otherMetrics?(): Promise<object[]>;
}

/** What all roles of one process share. */
export interface ServiceContext {
  config: ServiceConfig;
  addresses: Addresses;
  log: Logger;
  clock: Clock;
  edgeIntervals: EdgeIntervals | undefined;
  alertPollMs: number | undefined;
  metrics: Metrics;
  sql: Sql;
  warehouse: Warehouse;
  webhooks: { box: SecretBox; policy: Policy; send: Send };
  /** Undefined without SMTP_URL: then nothing is mailed. */
  mail: Outbox | undefined;
  /** Aborted when shutdown begins. */
  stopping: AbortSignal;
  cleanup: Cleanup;
  /** Undefined while traces are off. */
  tracing: Tracing | undefined;
}

/** What becomes available while the service starts. */
export interface Started {
  edge: Edge | undefined;
  relay: Relay | undefined;
  nats: NatsConnection | undefined;
  /** Name of the JetStream stream: from the configuration, then, once Postgres is available, from the log. */
  stream: string;
  /** Whether the database is migrated and SECRET_KEY is its key. */
  isReady: boolean;
}

const maxConnections = 20;

/** Creates the clients that all roles share, without waiting for a connection. */
export function createContext(
  config: ServiceConfig,
  { log: given, clock = systemClock, edgeIntervals, alertPollMs }: ServiceOptions,
  { port, ...parts }: Pick<ServiceContext, 'stopping' | 'cleanup' | 'metrics' | 'tracing'> & { port: number },
): ServiceContext {
  const { cleanup, tracing } = parts;
  const name = config.roles.includes('api') ? requestConnection : backgroundConnection;
  const sql = connect(config.databaseUrl, { max: maxConnections, name });
  cleanup.add(() => sql.end({ timeout: 2 }));
  const warehouse = connectWarehouse(config);
  cleanup.add(() => warehouse.client.close());
  const policy = { allowHttp: config.webhookAllowHttp, allowed: config.webhookAllowedCidrs ?? { v4: [], v6: [] } };
  const send = createSender({ policy });
  const webhooks = {
    box: createSecretBox(config.secretKey),
    policy,
    send: tracing === undefined ? send : tracedSend(send, tracing),
  };
  if (tracing !== undefined) traceClient(warehouse, tracing);
  const log = tracing === undefined ? given : tracing.withTraceIds(given);
  const addresses = addressesOf(config, port);
  const mail = config.smtpUrl === undefined ? undefined : new Outbox(clock);
  return { config, addresses, log, clock, edgeIntervals, alertPollMs, sql, warehouse, webhooks, mail, ...parts };
}
