import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../accounts/accounts.ts';
import { set } from '../accounts/webhooks.ts';
import { createCodes } from '../codes/create.ts';
import { codeOf, StartError } from '../lib/errors.ts';
import { createSecretBox } from '../lib/secret-box.ts';
import { connect } from '../log/connect.ts';
import { migrate } from '../log/migrate.ts';
import { freePort } from '../stack/processes.ts';
import { connectOnce } from '../stream/connect.ts';
import { connectWarehouse, type Warehouse } from '../warehouse/connect.ts';
import type { ServerName } from './broken-connections.ts';
import { startProxy } from './proxy.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type ServiceProcess, serviceProcess } from './service-process.ts';
import type { Proxies, World } from './world.ts';

/** Servers that run elsewhere, and are neither started, stopped nor broken. */
export interface GivenServers {
  databaseUrl: string;
  natsUrl: string;
  clickhouseUrl: string;
  clickhouseCluster: string | undefined;
}

/** What a world with given servers shares with one that has a stack of its own. */
export type Stage = Pick<World, 'sql' | 'box' | 'service' | 'codes' | 'stop'> & {
  receiver: Receiver | undefined;
  clickhouse: { warehouse: Warehouse } | undefined;
};

/** On given servers, with proxies between them and our services. */
export type GivenWorld = Stage & {
  proxies: Proxies;
  /** Servers that services reach through their proxy. */
  proxied: ServerName[];
};

/** A certificate names its server and not the proxy, so what is encrypted is not proxied; nor are several servers. */
const canProxy = (url: string) => /^(postgres|postgresql|nats|http):/.test(url) && !/[?&]ssl|,/.test(url);

const insufficientPrivilege = '42501';

/**
 * Services of their own on given servers, in a Postgres database, a stream and a ClickHouse database that nothing else
 * uses. They are dropped at the end.
 */
export async function startGivenWorld(servers: GivenServers): Promise<GivenWorld> {
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
  const proxied = (['postgres', 'nats', 'clickhouse'] as const).filter((server) => canProxy(urls[server]));
  const firstOf = (url: string) => startProxy(url.split(',')[0] as string);
  const proxies = {
    postgres: await firstOf(urls.postgres),
    nats: await firstOf(urls.nats),
    clickhouse: await firstOf(urls.clickhouse),
  };
  const urlOf = (server: ServerName) => (proxied.includes(server) ? proxies[server].url : urls[server]);
  const receiver = await startReceiver();
  const services: ServiceProcess[] = [];

  async function stop(): Promise<void> {
    await Promise.all(services.map((service) => service.stop()));
    await receiver.stop();
    await Promise.all(Object.values(proxies).map((proxy) => proxy.close()));
    await sql.end({ timeout: 2 });
    await dropAll(servers, warehouse, name).finally(() => warehouse.client.close());
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    await migrate(sql);
    const now = new Date();
    const { id: account } = await createAccount(sql, { name: 'Chaos', plan: 'enterprise', now });
    const owner = { account, mode: 'live' as const };
    await set(sql, box, owner, receiver.url, { actor: 'operator', now });
    return {
      sql,
      box,
      receiver,
      clickhouse: { warehouse },
      proxies,
      proxied,
      stop,
      async service(settings = {}, flags = []) {
        const environment = {
          DATABASE_URL: urlOf('postgres'),
          NATS_URL: urlOf('nats'),
          NATS_STREAM: name,
          CLICKHOUSE_URL: urlOf('clickhouse'),
          CLICKHOUSE_DATABASE: name,
          CLICKHOUSE_CLUSTER: clickhouseCluster ?? '',
          SECRET_KEY: secretKey,
          EDGE_DIR: join(folder, 'edges'),
          LOG_LEVEL: 'info',
          EDGES: '1',
          ROLES: 'api,edge,relay,projections',
          ...{ WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' },
          ...settings,
        };
        const logFile = join(logs, `service-${services.length}.log`);
        const service = serviceProcess(await freePort(), environment, logFile, flags);
        services.push(service);
        return service;
      },
      async codes(count) {
        const request = { name: 'Chaos', destination_url: 'https://example.com/chaos' };
        const requests = Array.from({ length: count }, () => request);
        const made = await sql.begin((tx) =>
          createCodes(tx, box, owner, requests, { actor: 'operator', now: new Date() }),
        );
        return made.map(({ code }) => ({ id: code.id, shortCode: code.short_code }));
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await onPostgres(serverUrl, `CREATE DATABASE ${name}`).catch((error) => {
    if (codeOf(error) !== insufficientPrivilege) throw error;
    throw new StartError('The role of DATABASE_URL may not create databases, which this needs: ALTER ROLE … CREATEDB.');
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

/** Each of them even when another fails, so that as little as possible is left behind. */
async function dropAll({ databaseUrl, natsUrl }: GivenServers, warehouse: Warehouse, name: string): Promise<void> {
  // SYNC lets replicas leave Keeper before this ends. A single server needs none, and one in WebAssembly would hang.
  const onCluster = warehouse.cluster === undefined ? '' : `ON CLUSTER '${warehouse.cluster}' SYNC`;
  const dropped = await Promise.allSettled([
    onPostgres(databaseUrl, `DROP DATABASE ${name} WITH (FORCE)`),
    dropStream(natsUrl, name),
    warehouse.client.command({ query: `DROP DATABASE IF EXISTS ${name} ${onCluster}` }),
  ]);
  const failed = dropped.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (failed.length > 0)
    throw new AggregateError(failed, `${name} could not be dropped everywhere: ${failed.join('; ')}`);
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
