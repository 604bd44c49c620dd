import { rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createAccount, listAccounts, type NewKey } from '../accounts/accounts.ts';
import { connectWarehouse } from '../analytics/connect.ts';
import { findTable } from '../analytics/table-in-use.ts';
import { warmUp } from '../analytics/warm-up.ts';
import { type Config, type Flags, readConfig, type ServiceConfig } from '../config.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { createLogger, type Logger } from '../lib/logger.ts';
import { connect } from '../log/connect.ts';
import { firstTableTimeoutMs } from '../service/app.ts';
import { plainHttpWarning } from '../service/http-server.ts';
import type { RunningService } from '../service/start.ts';
import { stopTimeoutMs, stopWithTimeout, untilStopSignal } from '../service/stopping.ts';
import { startSupervised } from '../service/supervisor.ts';
import { announce, lockDataDirectory, openDataDirectory, readSecrets } from '../stack/data-directory.ts';
import { until } from '../stack/processes.ts';
import { startStack } from '../stack/stack.ts';
import { refuseInterrupted } from './connection.ts';
import { bold, dim, green, print } from './terminal.ts';

/** Runs everything on one machine: the service, and an embedded server for each URL that is not set. */
export async function up(flags: Flags & { data: string }): Promise<void> {
  const config = readConfig(process.env, flags);
  const log = createLogger(config.logLevel);
  const warning = plainHttpWarning(config);
  if (warning !== undefined) log.warn(warning);
  const data = openDataDirectory(flags.data);
  const unlock = lockDataDirectory(data);
  const signalled = untilStopSignal();
  const interrupted = new AbortController();
  signalled.then(() => interrupted.abort());
  try {
    if (config.secretKey === undefined) refuseInterrupted(data.path);
    const onReady = (part: string, ms: number) => print(`  ${green('✓')} ${part} ${dim(`${Math.round(ms)} ms`)}`);
    const stack = await startStack({ data, log, given: givenParts(config), onReady, signal: interrupted.signal });
    try {
      const secretKey = config.secretKey ?? readSecrets(data).secretKey;
      // The embedded ClickHouse has no replicas that could lag, and in WebAssembly it is empty after each start.
      const clickhouseRebuildAfterSeconds =
        config.clickhouseRebuildAfterSeconds ?? (config.clickhouseUrl === undefined ? 0 : undefined);
      const edgeFolder = join(data.path, 'edges');
      const { databaseUrl, natsUrl, clickhouseUrl } = stack;
      const addresses = { databaseUrl, natsUrl, clickhouseUrl };
      const serviceConfig: ServiceConfig = {
        ...{ ...config, ...addresses },
        ...{ secretKey, edgeFolder, clickhouseRebuildAfterSeconds },
      };
      const service = await startOnFreePort(serviceConfig, flags['port'] !== undefined, log);
      try {
        await Promise.race([service.ready.then(() => waitForAnalytics(serviceConfig)), signalled]);
        announce(data, { ...addresses, publicUrl: service.addresses.publicUrl });
        if (config.clickhouseUrl === undefined) void warmUpInBackground(serviceConfig, log);
        if (!interrupted.signal.aborted) printWelcome(service, config, await demoKeys(databaseUrl), data.path);
        await signalled;
        print('\nStopping …');
      } finally {
        await stopWithTimeout(service.stop, stopTimeoutMs.supervisor, log);
      }
    } finally {
      await stack.stop();
    }
  } finally {
    unlock();
  }
}

/** Waits for the analytics table, which a new stack has within a second; gives up while a long log is being read. */
async function waitForAnalytics(config: ServiceConfig): Promise<void> {
  const sql = connect(config.databaseUrl, { max: 1 });
  const warehouse = connectWarehouse(config);
  const exists = () =>
    findTable(sql, warehouse).then(
      () => true,
      () => false,
    );
  await until(exists, firstTableTimeoutMs);
  await warehouse.client.close();
  await sql.end();
}

/** The first analytics reads of an engine that has just started take seconds. */
async function warmUpInBackground(config: ServiceConfig, log: Logger): Promise<void> {
  const warehouse = connectWarehouse(config);
  await warmUp(warehouse).catch((error) => log.debug({ error: messageOf(error) }, 'ClickHouse warm-up failed'));
  await warehouse.client.close();
}

const givenParts = ({ databaseUrl, natsUrl, clickhouseUrl }: Config) => ({
  ...(databaseUrl === undefined ? {} : { databaseUrl }),
  ...(natsUrl === undefined ? {} : { natsUrl }),
  ...(clickhouseUrl === undefined ? {} : { clickhouseUrl }),
});

/** Takes any free port if the default one is in use. A port from the flag or from PORT is never replaced. */
async function startOnFreePort(config: ServiceConfig, hasPortFlag: boolean, log: Logger): Promise<RunningService> {
  try {
    return await startSupervised(config, log);
  } catch (error) {
    if (hasPortFlag || process.env['PORT'] || !(error instanceof StartError) || !/^Port \d/.test(error.message))
      throw error;
    return startSupervised({ ...config, port: 0 }, log);
  }
}

/** Creates the demo account on the first start, and returns its keys; undefined on later starts. */
async function demoKeys(databaseUrl: string): Promise<DemoKeys | undefined> {
  const sql = connect(databaseUrl, { max: 1 });
  try {
    if ((await listAccounts(sql)).length > 0) return undefined;
    return await createAccount(sql, { name: 'Demo', plan: 'enterprise', now: new Date() });
  } finally {
    await sql.end();
  }
}

function printWelcome(
  { addresses: { publicUrl }, port }: RunningService,
  { host }: Config,
  keys: DemoKeys | undefined,
  folder: string,
) {
  print(`\n${bold('Scanlog is ready.')}\n`);
  print(`  Console     ${publicUrl}/console`);
  print(`  API         ${publicUrl}/v1`);
  print(`  Swagger UI  ${publicUrl}/swagger`);
  if (keys !== undefined) {
    const bearer = process.stdout.isTTY === true ? showKeys(keys) : writeKeys(keys, join(folder, 'demo-keys.env'));
    print('\nYour first QR code:\n');
    print(
      [
        `  curl -s ${publicUrl}/v1/qrcodes`,
        `-H "Authorization: Bearer ${bearer}"`,
        "-H 'Content-Type: application/json'",
        `-d '{"name": "My first code", "destination_url": "https://example.com"}'`,
      ].join(' '),
    );
  } else {
    print(
      dim('\n  Keys are printed at the first start only. For more: ./scanlog account create --name "…" --plan pro'),
    );
  }
  if (host === '127.0.0.1') {
    const address = networkAddress() ?? '<this machine’s address>';
    print('\nTo let a phone on the same network scan, open the service to it:\n');
    print(`  ./scanlog up --host 0.0.0.0 --public-url http://${address}:${port}`);
  }
  print(dim('\nCtrl-C stops everything.\n'));
}

type DemoKeys = { live: NewKey; test: NewKey };

/** Prints the keys, and returns the live key for the example command. */
function showKeys({ live, test }: DemoKeys): string {
  print('\nA demo account was created. Its keys are printed only once:\n');
  print(`  live key    ${bold(live.secret)}`);
  print(`  test key    ${bold(test.secret)}`);
  return live.secret;
}

/**
 * Output that is not a terminal may end in a log file that others can read, so the keys go to a file of mode 600. Returns
 * the shell expression that reads the live key from it.
 */
function writeKeys({ live, test }: DemoKeys, file: string): string {
  rmSync(file, { force: true });
  writeFileSync(file, `LIVE_KEY=${live.secret}\nTEST_KEY=${test.secret}\n`, { mode: 0o600, flag: 'wx' });
  print(
    `\nA demo account was created. Its keys are in ${file}, which only you can read; they are not printed anywhere else.`,
  );
  return `$(sed -n 's/^LIVE_KEY=//p' '${file.replaceAll("'", `'\\''`)}')`;
}

function networkAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
}
