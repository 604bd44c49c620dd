import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectWarehouse, type Warehouse } from '../../src/analytics/connect.ts';
import { createLogger, type Logger } from '../../src/lib/logger.ts';
import { createSecretBox } from '../../src/lib/secret-box.ts';
import { connect } from '../../src/log/connect.ts';
import { migrate } from '../../src/log/migrate.ts';
import { clickhousePlan, clickhouseUrl } from '../../src/stack/clickhouse.ts';
import { type DataDirectory, openDataDirectory, readSecrets } from '../../src/stack/data-directory.ts';
import { natsPlan, natsUrl } from '../../src/stack/nats.ts';
import { freePort } from '../../src/stack/processes.ts';
import { type BaseWorld, createChaosAccount, createChaosCodes, Services, serviceEnvironment } from './base-world.ts';
import { type BreakablePart, startBreakable } from './breakable-part.ts';
import { type ClickHouseProxy, startClickHouseProxy } from './clickhouse-proxy.ts';
import { type NatsCluster, startNatsCluster } from './nats-cluster.ts';
import { startProxy, type TcpProxy } from './proxy.ts';
import { type ProxyGroup, startProxyGroup } from './proxy-group.ts';
import { startReceiver } from './receiver.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from './replicated-postgres.ts';

export interface Proxies {
  postgres: TcpProxy;
  nats: ProxyGroup;
  /** In a world without a warehouse nothing listens at its target. */
  clickhouse: TcpProxy;
}

/** An embedded stack and services that tests and `./scanlog chaos` may break. */
export interface World extends BaseWorld {
  /** All data and logs. */
  folder: string;
  natsFolder: string;
  edgeFolder: string;
  /** Services connect through these. `sql` and the warehouse's client bypass them. */
  proxies: Proxies;
  postgres: ReplicatedPostgres;
  /** With `withNatsCluster`: all servers of the cluster together. */
  nats: BreakablePart;
  natsCluster: NatsCluster | undefined;
  clickhouse: BreakableClickHouse | undefined;
}

interface BreakableClickHouse {
  part: BreakablePart;
  folder: string;
  warehouse: Warehouse;
  httpProxy: ClickHouseProxy;
}

/** Starts Postgres and NATS; the warehouse and a NATS cluster take seconds more, so they are optional. */
export async function startWorld({
  withWarehouse = false,
  withWebhook = false,
  withNatsCluster = false,
  timeoutScale = 1,
} = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-chaos-'));
  const data = openDataDirectory(folder);
  const log = createLogger('silent', false);
  const secrets = readSecrets(data);
  let followPrimary = (_: string) => {};
  const clickhouseTarget = clickhouseUrl(await freePort(), secrets.clickhouse);
  const [postgres, { nats, natsUrls, natsCluster }, clickhouse] = await Promise.all([
    startReplicatedPostgres({ data, password: secrets.postgres, log, onFailOver: (url) => followPrimary(url) }),
    withNatsCluster ? startCluster(data, secrets.nats, log) : startSingleNats(data, secrets.nats, log),
    withWarehouse ? startClickHouse(data, clickhouseTarget, secrets.clickhouse, log) : undefined,
  ]);
  const proxies = {
    postgres: await startProxy(postgres.url()),
    nats: await startProxyGroup(natsUrls),
    clickhouse: await startProxy(clickhouse?.httpProxy.url ?? clickhouseTarget),
  };
  // Faults never touch this proxy: it only redirects `sql` to the current primary.
  const primaryProxy = await startProxy(postgres.url());
  followPrimary = (url) => {
    proxies.postgres.switchTo(url);
    primaryProxy.switchTo(url);
  };
  const sql = connect(primaryProxy.url, { max: 8, name: 'chaos' });
  await migrate(sql);
  const box = createSecretBox(secrets.secretKey);
  const receiver = withWebhook ? await startReceiver() : undefined;
  const { owner, key } = await createChaosAccount(sql, box, receiver);
  const environment = {
    ...serviceEnvironment(folder, secrets.secretKey, timeoutScale),
    DATABASE_URL: proxies.postgres.url,
    NATS_URL: proxies.nats.url,
    NATS_REPLICAS: withNatsCluster ? '3' : '1',
    CLICKHOUSE_URL: proxies.clickhouse.url,
    // A single server has no replica that could still bring missing rows, so a rebuild need not wait long.
    CLICKHOUSE_REBUILD_AFTER_SECONDS: '2',
  };
  const services = new Services(environment, data.logs);

  return {
    folder,
    natsFolder: join(folder, 'nats'),
    edgeFolder: join(folder, 'edges'),
    proxies,
    key,
    sql,
    box,
    postgres,
    nats,
    natsCluster,
    clickhouse,
    receiver,
    service: (settings, flags) => services.add(settings, flags),
    codes: (count) => createChaosCodes(sql, box, owner, count),
    async stop() {
      await services.stop();
      await sql.end({ timeout: 2 });
      await receiver?.stop();
      await clickhouse?.warehouse.client.close();
      await Promise.all([primaryProxy, ...Object.values(proxies)].map((proxy) => proxy.close()));
      await clickhouse?.httpProxy.stop();
      await Promise.all([postgres.stop(), nats.stop(), clickhouse?.part.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface BreakableNats {
  nats: BreakablePart;
  natsUrls: string[];
  natsCluster: NatsCluster | undefined;
}

async function startSingleNats(data: DataDirectory, password: string, log: Logger): Promise<BreakableNats> {
  const port = await freePort();
  const nats = await startBreakable(natsPlan({ data, port, password }), data, log);
  return { nats, natsUrls: [natsUrl(port, password)], natsCluster: undefined };
}

async function startCluster(data: DataDirectory, password: string, log: Logger): Promise<BreakableNats> {
  const natsCluster = await startNatsCluster({ data, password, log });
  return { nats: natsCluster.all, natsUrls: natsCluster.urls, natsCluster };
}

async function startClickHouse(
  data: DataDirectory,
  url: string,
  password: string,
  log: Logger,
): Promise<BreakableClickHouse> {
  const plan = clickhousePlan({ data, port: Number(new URL(url).port), password });
  return {
    part: await startBreakable(plan, data, log),
    folder: join(data.path, 'clickhouse'),
    warehouse: connectWarehouse({
      clickhouseUrl: url,
      clickhouseDatabase: 'scanlog',
      clickhouseCluster: undefined,
    }),
    httpProxy: await startClickHouseProxy(url),
  };
}
