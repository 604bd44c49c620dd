import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectWarehouse, type Warehouse } from '../../src/analytics/connect.ts';
import { codeOf, StartError } from '../../src/lib/errors.ts';
import { createSecretBox } from '../../src/lib/secret-box.ts';
import { connect } from '../../src/log/connect.ts';
import { migrate } from '../../src/log/migrate.ts';
import { connectOnce } from '../../src/stream/connect.ts';
import { type BaseWorld, createChaosAccount, createChaosCodes, Services, serviceEnvironment } from './base-world.ts';
import type { ServerName } from './broken-connections.ts';
import { startProxy } from './proxy.ts';
import { startReceiver } from './receiver.ts';
import type { Proxies } from './world.ts';

/** Servers of the operator. Chaos never starts, stops or breaks them. */
export interface ExternalServers {
  databaseUrl: string;
  natsUrl: string;
  clickhouseUrl: string;
  clickhouseCluster: string | undefined;
}

/** Services under test on external servers, with proxies in between. */
export interface ExternalWorld extends BaseWorld {
  proxies: Proxies;
  /** The servers that services reach through their proxy. */
  proxied: ServerName[];
}

const serverNames = ['postgres', 'nats', 'clickhouse'] as const;

/** A TLS certificate names the server, not the proxy, and one proxy cannot serve a list of servers. */
const canProxy = (url: string) => /^(postgres|postgresql|nats|http):/.test(url) && !/[?&]ssl|,/.test(url);

const insufficientPrivilege = '42501';

/**
 * Prepares services on external servers, in a Postgres database, a stream and a ClickHouse database with a new random
 * name, which `stop` drops.
 */
export async function startExternalWorld(servers: ExternalServers): Promise<ExternalWorld> {
  const name = `scanlog_check_${randomBytes(4).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-chaos-'));
  const logs = join(folder, 'logs');
  mkdirSync(logs);
  const secretKey = randomBytes(32).toString('hex');
  const box = createSecretBox(secretKey);
  const databaseUrl = await createDatabase(servers.databaseUrl, name);
  const sql = connect(databaseUrl, { max: 8, name: 'chaos' });
  const { clickhouseUrl, clickhouseCluster } = servers;
  const warehouse = connectWarehouse({ clickhouseUrl, clickhouseCluster, clickhouseDatabase: name });
  const urls = { postgres: databaseUrl, nats: servers.natsUrl, clickhouse: clickhouseUrl };
  const proxied = serverNames.filter((server) => canProxy(urls[server]));
  const proxies = await startProxies(urls);
  const urlOf = (server: ServerName) => (proxied.includes(server) ? proxies[server].url : urls[server]);
  const receiver = await startReceiver();
  const environment = {
    ...serviceEnvironment(folder, secretKey),
    DATABASE_URL: urlOf('postgres'),
    NATS_URL: urlOf('nats'),
    NATS_STREAM: name,
    CLICKHOUSE_URL: urlOf('clickhouse'),
    CLICKHOUSE_DATABASE: name,
    CLICKHOUSE_CLUSTER: clickhouseCluster ?? '',
  };
  const services = new Services(environment, logs);

  async function stop(): Promise<void> {
    await services.stop();
    await receiver.stop();
    await Promise.all(Object.values(proxies).map((proxy) => proxy.close()));
    await sql.end({ timeout: 2 });
    await dropAll(servers, warehouse, name).finally(() => warehouse.client.close());
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    await migrate(sql);
    const { owner, key } = await createChaosAccount(sql, box, receiver);
    return {
      sql,
      box,
      key,
      receiver,
      clickhouse: { warehouse },
      proxies,
      proxied,
      stop,
      service: (settings, flags) => services.add(settings, flags),
      codes: (count) => createChaosCodes(sql, box, owner, count),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startProxies(urls: Record<ServerName, string>): Promise<Proxies> {
  const proxyFirst = (url: string) => startProxy(url.split(',')[0] as string);
  return {
    postgres: await proxyFirst(urls.postgres),
    nats: await proxyFirst(urls.nats),
    clickhouse: await proxyFirst(urls.clickhouse),
  };
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await onPostgres(serverUrl, `CREATE DATABASE ${name}`).catch((error) => {
    if (codeOf(error) !== insufficientPrivilege) throw error;
    throw new StartError(
      'The role of DATABASE_URL may not create databases, which --external needs: run ALTER ROLE … CREATEDB.',
    );
  });
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function onPostgres(url: string, statement: string): Promise<void> {
  const server = connect(url, { max: 1, name: 'chaos' });
  try {
    await server.unsafe(statement);
  } finally {
    await server.end({ timeout: 2 });
  }
}

/** Attempts all three drops even if one fails, so that as little as possible is left. */
async function dropAll({ databaseUrl, natsUrl }: ExternalServers, warehouse: Warehouse, name: string): Promise<void> {
  // SYNC waits until replicas have left Keeper. A single server has no replicas, and chdb-wasm hangs on SYNC.
  const onCluster = warehouse.cluster === undefined ? '' : `ON CLUSTER '${warehouse.cluster}' SYNC`;
  const dropped = await Promise.allSettled([
    onPostgres(databaseUrl, `DROP DATABASE ${name} WITH (FORCE)`),
    dropStream(natsUrl, name),
    warehouse.client.command({ query: `DROP DATABASE IF EXISTS ${name} ${onCluster}` }),
  ]);
  const failed = dropped.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (failed.length > 0)
    throw new AggregateError(
      failed,
      `${name} could not be dropped on every server, drop it by hand: ${failed.join('; ')}`,
    );
}

async function dropStream(natsUrl: string, name: string): Promise<void> {
  const nats = await connectOnce(natsUrl, 'chaos');
  try {
    const manager = await nats.jetstreamManager();
    const streams = await manager.streams.names().next();
    if (streams.includes(name)) await manager.streams.delete(name);
  } finally {
    await nats.close();
  }
}
