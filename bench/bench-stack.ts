import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mode } from '../events/plans.ts';
import { createAccount } from '../src/accounts/accounts.ts';
import { createCodes } from '../src/codes/create.ts';
import { createLogger } from '../src/lib/logger.ts';
import { createSecretBox, type SecretBox } from '../src/lib/secret-box.ts';
import type { Sql } from '../src/lib/sql.ts';
import { connect } from '../src/log/connect.ts';
import { migrate } from '../src/log/migrate.ts';
import { openDataDirectory, readSecrets } from '../src/stack/data-directory.ts';
import type { Part } from '../src/stack/part.ts';
import { freePort } from '../src/stack/processes.ts';
import { startStack } from '../src/stack/stack.ts';

/** A separate stack for one benchmark, as durable as in production, with one account and one code. */
export interface BenchStack {
  sql: Sql;
  databaseUrl: string;
  /** With the superuser's role. */
  adminDatabaseUrl: string;
  natsUrl: string;
  clickhouseUrl: string;
  parts: Part[];
  folder: string;
  box: SecretBox;
  key: string;
  code: { id: string; account: string; short_code: string };
  /** The settings with which commands and services run on this stack. */
  environment: Record<string, string>;
  /** Starts the service as a child process; resolves once `/readyz` answers 200. */
  serve(options?: {
    edges?: number;
    roles?: string;
    settings?: Record<string, string>;
  }): Promise<{ port: number; pid: number; stop(): Promise<void> }>;
  stop(): Promise<void>;
}

export const script = (name: string) => join(import.meta.dir, name);

/** Those that run, and those that are being started. */
const stacks = new Set<Promise<BenchStack>>();

/** Stops everything that an interrupted benchmark would leave: servers in sessions of their own, and services. */
export async function stopBenchStacks(): Promise<void> {
  const started = await Promise.allSettled(stacks);
  await Promise.all(started.map((result) => (result.status === 'fulfilled' ? result.value.stop() : undefined)));
}

/** `now` is when the account and its code are created. */
export function startBenchStack(now = new Date()): Promise<BenchStack> {
  const starting = startOne(now, () => stacks.delete(starting));
  stacks.add(starting);
  return starting;
}

async function startOne(now: Date, onStop: () => void): Promise<BenchStack> {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-bench-'));
  const data = openDataDirectory(folder);
  const { secretKey } = readSecrets(data);
  const box = createSecretBox(secretKey);
  const stack = await startStack({ data, log: createLogger('error', false) });
  // No response timeout: filling tables takes minutes.
  const sql = connect(stack.databaseUrl, { name: 'bench', responseTimeoutMs: 'none' });
  await migrate(sql);
  const account = await createAccount(sql, { name: 'Bench', plan: 'enterprise', now });
  const owner = { account: account.id, mode: 'live' as Mode };
  const request = { name: 'Bench', destination_url: 'https://example.com/menu', short_code: 'bench' };
  const [created] = await sql.begin((tx) => createCodes(tx, box, owner, [request], { actor: 'operator', now }));
  if (created === undefined) throw new Error('the code of the benchmark was not created');
  const { databaseUrl, adminDatabaseUrl, natsUrl, clickhouseUrl } = stack;
  const services = new Set<Bun.Subprocess>();
  const environment = {
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    SECRET_KEY: secretKey,
    LOG_LEVEL: 'error',
  };

  return {
    sql,
    databaseUrl,
    adminDatabaseUrl,
    natsUrl,
    clickhouseUrl,
    parts: stack.parts,
    folder,
    box,
    key: account.live.secret,
    code: created.code,
    environment,
    async serve({ edges = 1, roles, settings = {} } = {}) {
      const port = await freePort();
      const child = Bun.spawn([process.execPath, join(import.meta.dir, '../src/cli.ts'), 'serve'], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: {
          ...process.env,
          ...environment,
          PORT: String(port),
          EDGES: String(edges),
          METRICS_PORT: '0',
          EDGE_DIR: join(folder, 'edges'),
          ...(roles === undefined ? {} : { ROLES: roles }),
          ...settings,
        },
      });
      services.add(child);
      await untilReady(`http://127.0.0.1:${port}/readyz`);
      // Further edges start after /readyz of the first answers 200.
      if (edges > 1) await Bun.sleep(1_500);
      return {
        port,
        pid: child.pid,
        async stop() {
          child.kill();
          await child.exited;
          services.delete(child);
        },
      };
    },
    async stop() {
      // Left by a benchmark that failed.
      for (const service of services) service.kill();
      await Promise.all([...services].map(({ exited }) => exited));
      await sql.end({ timeout: 1 });
      await stack.stop();
      rmSync(folder, { recursive: true, force: true });
      onStop();
    },
  };
}

export async function untilReady(url: string, timeoutMs = 60_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    await Bun.sleep(20);
  }
  throw new Error(`${url} did not answer 200 within ${timeoutMs} ms`);
}

export interface Load {
  perSecond: number;
  p50: number;
  p90: number;
  p99: number;
  statuses: Record<string, number>;
}

interface LoadOptions {
  connections: number;
  seconds: number;
  rate?: number;
  authorization?: string;
  targets?: string;
}

/** Sends requests to a URL from a separate process. */
export const load = (url: string, options: LoadOptions): Promise<Load> => startLoad(url, options).ended;

/** Like `load`; `stop` ends it before its time. */
export function startLoad(url: string, options: LoadOptions): { ended: Promise<Load>; stop(): Promise<Load> } {
  const { connections, seconds, rate = 0, authorization = 'none', targets } = options;
  const args = [url, connections, seconds, rate].map(String);
  const child = Bun.spawn([process.execPath, script('load-client.ts'), ...args], {
    stdout: 'pipe',
    // Its own session, so that Linux autogroups do not make the client share CPU weight with the service.
    detached: true,
    env: {
      ...process.env,
      LOAD_AUTHORIZATION: authorization,
      ...(targets === undefined ? {} : { LOAD_TARGETS: targets }),
    },
  });
  const ended = new Response(child.stdout).json() as Promise<Load>;
  return {
    ended,
    stop() {
      child.kill();
      return ended;
    },
  };
}

/** Starts a script of this folder that listens on a port and prints it. */
export async function startPeer(name: string, environment: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, script(name)], {
    stdout: 'pipe',
    // In its own session, so that its CPU is not taken from the share of the service: src/lib/lower-priority.ts.
    detached: true,
    env: { ...process.env, ...environment },
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return {
    port: Number(new TextDecoder().decode(value).trim()),
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
