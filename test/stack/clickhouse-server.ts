import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type ClickHouseClient, type ClickHouseClientConfigOptions, createClient } from '@clickhouse/client';
import type { EngineName } from '../../src/stack/clickhouse/engine.ts';
import { clickhouseCommand } from '../../src/stack/clickhouse/engines.ts';
import { conditionTimeoutMs } from '../support/limits.ts';

export const password = 'p:ä"\'ss';
export const authorization = `Basic ${Buffer.from(`default:${password}`).toString('base64')}`;

/** The client's own timeout of 30 s would decide on a slow machine. */
const shared = { username: 'default', password, log: { level: 127 }, request_timeout: conditionTimeoutMs } as const;

export interface ClickHouseProcess {
  child: ChildProcess;
  url: string;
  port: number;
  client(options?: ClickHouseClientConfigOptions): ClickHouseClient;
  /** Ends it with SIGTERM, and resolves to its exit code; null if a signal ended it. */
  stop(): Promise<number | null>;
}

export interface Exited {
  code: number | null;
  stderr: string;
}

/** Starts a server and waits until it is ready or has exited. */
export async function startClickHouse(
  engine: EngineName,
  dataDir: string,
  options: { port?: number; configFile?: string; isBelowRedirects?: boolean } = {},
): Promise<ClickHouseProcess | Exited> {
  const { command, args, env } = clickhouseCommand({ engine, dataDir, port: 0, password, ...options });
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const line = new Promise<void>((resolve) => {
    child.stdout.on('data', (text) => {
      stdout += text;
      if (stdout.includes('\n')) resolve();
    });
  });
  const closed = once(child, 'close');
  await Promise.race([line, closed]);
  if (child.exitCode !== null || child.signalCode !== null) return { code: child.exitCode, stderr };
  const { port }: { port: number } = JSON.parse(stdout);
  const url = `http://127.0.0.1:${port}`;
  return {
    child,
    url,
    port,
    client: (options) => createClient({ ...shared, url, ...options }),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await closed;
      }
      return child.exitCode;
    },
  };
}

export async function startedClickHouse(
  engine: EngineName,
  dataDir: string,
  configFile?: string,
): Promise<ClickHouseProcess> {
  const started = await startClickHouse(engine, dataDir, configFile === undefined ? {} : { configFile });
  if ('code' in started) throw new Error(`ClickHouse (${engine}) exited with ${started.code}: ${started.stderr}`);
  return started;
}
