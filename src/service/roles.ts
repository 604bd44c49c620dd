import type { NatsConnection } from 'nats';
import { type Edge, startEdge } from '../edge/edge.ts';
import { StartError } from '../lib/errors.ts';
import { streamOfLog } from '../log/branch.ts';
import { isKeyOfDatabase } from '../log/secret-key.ts';
import { sweepRegularly } from '../maintenance/sweep.ts';
import { keepVisitorKeys } from '../maintenance/visitor-keys.ts';
import { followChanges, onNudge } from '../stream/changes.ts';
import { connectStream } from '../stream/connect.ts';
import type { StreamContext } from '../stream/context.ts';
import { type Relay, startRelay } from '../stream/relay.ts';
import type { ServiceContext, Started } from './context.ts';
import { measureDisk } from './measure-disk.ts';
import { measureLag } from './measure-lag.ts';
import { migrateWhenAvailable } from './migration.ts';
import { reportRegularly } from './report-instance.ts';

/** Starts the role `edge`. It starts before all others, since it needs neither Postgres nor NATS. */
export async function startEdgeRole(context: ServiceContext, onAppended: () => void): Promise<Edge> {
  const { config, addresses, webhooks, clock, log, metrics, cleanup, tracing, edgeIntervals: intervals } = context;
  const {
    databaseUrl,
    edgeFolder: folder,
    spoolMaxBytes,
    edgeDurability: durability,
    geoPath,
    trustedProxies,
  } = config;
  const parts = { databaseUrl, box: webhooks.box, folder, spoolMaxBytes, durability, geoPath, trustedProxies };
  const { ownUrls } = addresses;
  const edge = await startEdge({ ...parts, ownUrls, clock, log, metrics, onAppended, tracing, intervals });
  cleanup.add(() => edge.stop(), measureDisk(folder, log, metrics).stop);
  return edge;
}

/** Starts everything that needs Postgres or NATS, in order of dependency. */
export async function startRoles(context: ServiceContext, started: Started): Promise<void> {
  const { config, sql, webhooks, log, stopping, cleanup } = context;
  const projectionsRole = config.roles.includes('projections') ? await import('./projections-role.ts') : undefined;
  await migrateWhenAvailable(config.databaseUrl, log, stopping);
  // Cleanup has already run: anything started now would never be stopped.
  stopping.throwIfAborted();
  if (!(await isKeyOfDatabase(sql, webhooks.box))) throw wrongSecretKey();
  started.stream = await streamOfLog(sql, config.stream);
  started.isReady = true;
  cleanup.add(reportRegularly(context, started));
  if (config.roles.includes('api'))
    cleanup.add(sweepRegularly(sql, log), keepVisitorKeys({ sql, box: webhooks.box, log }).stop);
  // Not part of the projections, which wait for NATS: an operator must see how far they are behind.
  if (config.roles.includes('projections')) cleanup.add(measureLag({ sql, log, metrics: context.metrics }).stop);
  const nats = await connectStream(config.natsUrl, 'scanlog', stopping);
  if (stopping.aborted) return nats.close();
  started.nats = nats;
  cleanup.add(() => nats.close());
  if (started.edge !== undefined) followChanges(nats, started.stream, started.edge.apply, log);
  const streamContext = streamContextOf(context, nats, started.stream);
  if (config.roles.includes('relay')) started.relay = startRelayRole(context, streamContext);
  projectionsRole?.startProjections(context, streamContext);
}

const streamContextOf = (context: ServiceContext, nats: NatsConnection, stream: string): StreamContext => {
  const { config, sql, log, metrics, tracing } = context;
  return { sql, databaseUrl: config.databaseUrl, nats, stream, replicas: config.natsReplicas, log, metrics, tracing };
};

function startRelayRole({ cleanup }: ServiceContext, streamContext: StreamContext): Relay {
  const relay = startRelay(streamContext);
  onNudge(streamContext.nats, streamContext.stream, relay.wake);
  cleanup.add(relay.stop);
  return relay;
}

const wrongSecretKey = () =>
  new StartError(
    'SECRET_KEY is not the key of this database. It encrypts the webhook secrets and the visitor keys, so every process must have the same one. ./scanlog secret rotate changes it, ./scanlog secret reset replaces a lost one.',
  );
