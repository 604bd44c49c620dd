import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import type { Plan } from '../../events/plans.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { connectWarehouse, type Warehouse } from '../../src/analytics/connect.ts';
import { tableInUse } from '../../src/analytics/table-in-use.ts';
import { readConfig, type ServiceConfig } from '../../src/config/config.ts';
import type { EdgeIntervals } from '../../src/edge/tasks.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createLogger, type Logger } from '../../src/lib/logger.ts';
import { type RunningService, startService } from '../../src/service/start.ts';
import { type Api, apiClient } from './api.ts';
import { type TestDatabase, uniqueName, useDatabase } from './database.ts';
import { forgetDocument } from './documented.ts';
import { eventually } from './eventually.ts';
import { testSecretKey } from './secret-box.ts';
import { removeStream } from './streams.ts';
import { expectAllAgree } from './verified.ts';

export interface TestService {
  database: TestDatabase;
  /** The ClickHouse database of this test file. */
  warehouse: Warehouse;
  /** The URL of each instance. */
  urls: string[];
  /** The port of /metrics of an instance. */
  metricsPort(instance?: number): number;
  /** The text of /metrics of an instance. */
  metrics(instance?: number): Promise<string>;
  /** Resolves when every scan that was redirected is in Postgres: after a slow commit, or with `disk`, it is in the spool. */
  allStored(): Promise<void>;
  /** A client of one instance, with a key or without. */
  client(instance: number, key?: string): Api;
  /** A new account, with clients for both of its modes on the first instance. */
  account(plan?: Plan): Promise<TestAccount>;
}

export interface TestAccount {
  id: string;
  keys: { live: string; test: string };
  live: Api;
  test: Api;
}

export interface ServiceOptions {
  instances?: number;
  /** False for tests without counters, webhooks and analytics: only requests are answered, which starts three times as fast. */
  projections?: boolean;
  config?: Partial<ServiceConfig>;
  clock?: Clock;
  log?: Logger;
  edgeIntervals?: EdgeIntervals;
  alertPollMs?: number;
  /** Returns the DATABASE_URL of the instances, for example the URL of a proxy. */
  reach?(databaseUrl: string): Promise<string>;
  /** Returns the CLICKHOUSE_URL of the instances. */
  reachWarehouse?(clickhouseUrl: string): Promise<string>;
  /** Whether all projections must agree with the log at the end; false for tests without some role or server. */
  verified?: boolean;
}

export { testSecretKey };

/** Runs the service on a database, stream and ClickHouse database of this test file; tests use it over HTTP. */
export function useService(options: ServiceOptions = {}): TestService {
  const { instances = 1, projections = true, config = {}, clock, log, reach, reachWarehouse } = options;
  const { verified = projections, edgeIntervals, alertPollMs } = options;
  const database = useDatabase();
  const running: RunningService[] = [];
  const urls: string[] = [];
  const stream = uniqueName();
  const clickhouseDatabase = uniqueName();
  const { clickhouseUrl } = inject('stack');
  const warehouse = connectWarehouse({ clickhouseUrl, clickhouseDatabase, clickhouseCluster: undefined });
  const edgeFolder = mkdtempSync(join(tmpdir(), 'scanlog-edges-'));
  beforeAll(async () => {
    const settings: ServiceConfig = {
      ...readConfig({}),
      ...inject('stack'),
      databaseUrl: reach === undefined ? database.url : await reach(database.url),
      stream,
      clickhouseDatabase,
      clickhouseUrl: reachWarehouse === undefined ? clickhouseUrl : await reachWarehouse(clickhouseUrl),
      port: 0,
      metricsPort: 0,
      secretKey: testSecretKey,
      edgeFolder,
      ...(projections ? {} : { roles: ['api', 'edge'] }),
      ...config,
    };
    const dependencies = {
      log: log ?? createLogger('error', false),
      ...(clock === undefined ? {} : { clock }),
      edgeIntervals,
      alertPollMs,
    };
    for (let i = 0; i < instances; i++) {
      const service = await startService(settings, dependencies);
      running.push(service);
      await service.ready;
      urls.push(`http://localhost:${service.port}`);
    }
    // Until then analytics are answered with 503.
    if (verified) await eventually(() => tableInUse(database.sql));
  });
  afterAll(async () => {
    if (verified) await expectAllAgree(database.sql, warehouse, clock?.());
    await Promise.all(running.map((service) => service.stop()));
    urls.forEach(forgetDocument);
    await removeStream(stream);
    await warehouse.client.command({ query: `DROP DATABASE IF EXISTS ${clickhouseDatabase}` });
    await warehouse.client.close();
    rmSync(edgeFolder, { recursive: true, force: true });
  });

  const metricsPort = (instance = 0) => running[instance]?.metricsPort ?? 0;

  async function metrics(instance = 0): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${metricsPort(instance)}/metrics`);
    return response.text();
  }

  return {
    database,
    warehouse,
    urls,
    metricsPort,
    metrics,
    async allStored() {
      await eventually(async () => {
        for (const instance of running.keys()) expect(await metrics(instance)).toMatch(/^scanlog_spool_batches 0$/m);
      });
    },
    client: (instance, key) => apiClient(urls[instance] as string, key),
    async account(plan = 'enterprise') {
      const { id, live, test } = await createAccount(database.sql, { name: 'Test', plan, now: new Date() });
      const url = urls[0] as string;
      return {
        id,
        keys: { live: live.secret, test: test.secret },
        live: apiClient(url, live.secret),
        test: apiClient(url, test.secret),
      };
    },
  };
}
