import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../accounts/accounts.ts';
import { set } from '../accounts/webhooks.ts';
import { createCodes } from '../codes/create.ts';
import { createLogger } from '../lib/logger.ts';
import { createSecretBox, type SecretBox } from '../lib/secret-box.ts';
import { connect, type Sql } from '../log/connect.ts';
import { migrate } from '../log/migrate.ts';
import { clickhousePlan, clickhouseUrl } from '../stack/clickhouse.ts';
import { openDataDirectory, readSecrets } from '../stack/data-directory.ts';
import { natsPlan, natsUrl } from '../stack/nats.ts';
import { freePort } from '../stack/processes.ts';
import { connectWarehouse, type Warehouse } from '../warehouse/connect.ts';
import { type BreakablePart, startBreakable } from './breakable-part.ts';
import { type ClickHouseProxy, startClickHouseProxy } from './clickhouse-proxy.ts';
import { type NatsCluster, startNatsCluster } from './nats-cluster.ts';
import { startProxy, type TcpProxy } from './proxy.ts';
import { type ProxyGroup, startProxyGroup } from './proxy-group.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from './replicated-postgres.ts';
import type { ScannedCode } from './scanner.ts';
import { type ServiceProcess, serviceProcess } from './service-process.ts';

export interface Proxies {
  postgres: TcpProxy;
  nats: ProxyGroup;
  /** To nothing in a world without a warehouse. */
  clickhouse: TcpProxy;
}

/** A stack and services of their own, to be broken in every way. */
export interface World {
  /** Where everything is, logs included. */
  folder: string;
  natsFolder: string;
  edgeFolder: string;
  /** What services connect through. `sql` and the warehouse's client do not: they count what happened. */
  proxies: Proxies;
  /** An API key of the account that has the codes. */
  key: string;
  sql: Sql;
  box: SecretBox;
  postgres: ReplicatedPostgres;
  nats: BreakablePart;
  /** Where a cluster was asked for: `nats` is then all of its servers together. */
  natsCluster: NatsCluster | undefined;
  /** Where it was asked for: it takes seconds to start. */
  clickhouse: { part: BreakablePart; folder: string; warehouse: Warehouse; httpProxy: ClickHouseProxy } | undefined;
  /** Where the account's webhook leads, where one was asked for. */
  receiver: Receiver | undefined;
  /** A service that is not started yet. */
  service(settings?: Record<string, string>, flags?: string[]): Promise<ServiceProcess>;
  /** Codes that nobody has scanned. */
  codes(count: number): Promise<ScannedCode[]>;
  /** Ends all that was started, and removes it. */
  stop(): Promise<void>;
}

export async function startWorld({
  withWarehouse = false,
  withWebhook = false,
  withNatsCluster = false,
} = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-chaos-'));
  const data = openDataDirectory(folder);
  const log = createLogger('silent', false);
  const secrets = readSecrets(data);
  const [natsPort, clickhousePort] = await Promise.all([freePort(), freePort()]);
  let switchPostgres = (_: string) => {};
  const services: ServiceProcess[] = [];
  const [postgres, natsParts, warehousePart] = await Promise.all([
    startReplicatedPostgres({ data, password: secrets.postgres, log, onFailOver: (url) => switchPostgres(url) }),
    withNatsCluster
      ? startNatsCluster({ data, password: secrets.nats, log }).then((cluster) => ({ cluster, nats: cluster.all }))
      : startBreakable(natsPlan({ data, port: natsPort, password: secrets.nats }), data, log).then((nats) => ({
          cluster: undefined,
          nats,
        })),
    withWarehouse
      ? startBreakable(clickhousePlan({ data, port: clickhousePort, password: secrets.clickhouse }), data, log)
      : undefined,
  ]);
  const warehouseSettings = {
    clickhouseUrl: clickhouseUrl(clickhousePort, secrets.clickhouse),
    clickhouseDatabase: 'scanlog',
    clickhouseCluster: undefined,
  };
  const clickhouse = warehousePart && {
    part: warehousePart,
    folder: join(folder, 'clickhouse'),
    warehouse: connectWarehouse(warehouseSettings),
    httpProxy: await startClickHouseProxy(warehouseSettings.clickhouseUrl),
  };
  const { nats, cluster: natsCluster } = natsParts;
  const proxies = {
    postgres: await startProxy(postgres.url()),
    nats: await startProxyGroup(natsCluster?.urls ?? [natsUrl(natsPort, secrets.nats)]),
    clickhouse: await startProxy(clickhouse?.httpProxy.url ?? warehouseSettings.clickhouseUrl),
  };
  // Never broken: it only follows the primary.
  const ownProxy = await startProxy(postgres.url());
  switchPostgres = (url) => {
    proxies.postgres.switchTo(url);
    ownProxy.switchTo(url);
  };
  const sql = connect(ownProxy.url, { max: 8, name: 'chaos' });
  await migrate(sql);
  const box = createSecretBox(secrets.secretKey);
  const now = new Date();
  const { id: account, live } = await createAccount(sql, { name: 'Chaos', plan: 'enterprise', now });
  const receiver = withWebhook ? await startReceiver() : undefined;
  if (receiver !== undefined) {
    await set(sql, box, { account, mode: 'live' }, receiver.url, { actor: 'operator', now });
  }

  return {
    folder,
    natsFolder: join(folder, 'nats'),
    edgeFolder: join(folder, 'edges'),
    proxies,
    key: live.secret,
    sql,
    box,
    postgres,
    nats,
    natsCluster,
    clickhouse,
    receiver,
    async service(settings = {}, flags = []) {
      const environment = {
        DATABASE_URL: proxies.postgres.url,
        NATS_URL: proxies.nats.url,
        NATS_REPLICAS: withNatsCluster ? '3' : '1',
        CLICKHOUSE_URL: proxies.clickhouse.url,
        // Its one ClickHouse is right about what it lost.
        CLICKHOUSE_REBUILD_AFTER_SECONDS: '2',
        SECRET_KEY: secrets.secretKey,
        EDGE_DIR: join(folder, 'edges'),
        LOG_LEVEL: 'info',
        EDGES: '1',
        ROLES: 'api,edge,relay,projections',
        ...{ WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' },
        ...settings,
      };
      const logFile = join(data.logs, `service-${services.length}.log`);
      const service = serviceProcess(await freePort(), environment, logFile, flags);
      services.push(service);
      return service;
    },
    async codes(count) {
      const requests = Array.from({ length: count }, (_, i) => ({
        name: `Chaos ${i}`,
        destination_url: 'https://example.com/chaos',
      }));
      const made = await sql.begin((tx) =>
        createCodes(tx, box, { account, mode: 'live' }, requests, { actor: 'operator', now: new Date() }),
      );
      return made.map(({ code }) => ({ id: code.id, shortCode: code.short_code }));
    },
    async stop() {
      await Promise.all(services.map((service) => service.stop()));
      await sql.end({ timeout: 2 });
      await receiver?.stop();
      await clickhouse?.warehouse.client.close();
      await Promise.all([ownProxy, ...Object.values(proxies)].map((proxy) => proxy.close()));
      await clickhouse?.httpProxy.stop();
      await Promise.all([postgres.stop(), nats.stop(), clickhouse?.part.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
