import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Account } from '../../events/account.ts';
import { createAccount, listAccounts } from '../accounts/accounts.ts';
import type { NewKey } from '../accounts/keys.ts';
import { connectWarehouse } from '../analytics/connect.ts';
import { findTable } from '../analytics/table-in-use.ts';
import { warmUp } from '../analytics/warm-up.ts';
import { type Config, type Flags, readConfig, type ServiceConfig } from '../config/config.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { createLogger, type Logger } from '../lib/logger.ts';
import { timeouts } from '../lib/timeouts.ts';
import { connect } from '../log/connect.ts';
import { type NewLink, urlOfLink } from '../people/links.ts';
import { createSetupLink } from '../people/setup.ts';
import { plainHttpWarning } from '../service/http-server.ts';
import type { RunningService } from '../service/start.ts';
import { stopTimeoutMs, stopWithTimeout, untilStopSignal } from '../service/stopping.ts';
import { startSupervised } from '../service/supervisor.ts';
import { announce, lockDataDirectory, openDataDirectory, readSecrets } from '../stack/data-directory.ts';
import { until } from '../stack/processes.ts';
import { startStack } from '../stack/stack.ts';
import { refuseInterrupted } from './connection.ts';
import { defaultDataFolder } from './data-folder.ts';
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
      // Spool and Postgres share a disk, so a commit is no safer than a sync.
      const edgeDurability = config.edgeDurability ?? 'disk';
      const { databaseUrl, natsUrl, clickhouseUrl } = stack;
      const addresses = { databaseUrl, natsUrl, clickhouseUrl };
      const serviceConfig: ServiceConfig = {
        ...config,
        ...addresses,
        secretKey,
        edgeFolder,
        edgeDurability,
        clickhouseRebuildAfterSeconds,
      };
      const service = await startOnFreePort(serviceConfig, flags['port'] !== undefined, log);
      try {
        await Promise.race([service.ready.then(() => waitForAnalytics(serviceConfig)), signalled]);
        announce(data, { ...addresses, publicUrl: service.addresses.publicUrl });
        if (config.clickhouseUrl === undefined) void warmUpInBackground(serviceConfig, log);
        if (!interrupted.signal.aborted) printWelcome(service, config, await readAccess(databaseUrl), flags.data);
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
  await until(exists, timeouts.firstTableMs);
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

/** The keys of the demo account, which the first start creates; on later starts the accounts. */
type Access = ({ keys: DemoKeys } | { accounts: Account[] }) & {
  /** Creates the first user; undefined once there is one. */
  setup: NewLink | undefined;
};

async function readAccess(databaseUrl: string): Promise<Access> {
  const sql = connect(databaseUrl, { max: 1 });
  try {
    const accounts = await listAccounts(sql);
    const keys =
      accounts.length > 0 ? undefined : await createAccount(sql, { name: 'Demo', plan: 'enterprise', now: new Date() });
    const setup = await createSetupLink(sql, new Date());
    return keys === undefined ? { accounts, setup } : { keys, setup };
  } finally {
    await sql.end();
  }
}

function printWelcome(
  { addresses: { publicUrl }, port }: RunningService,
  { host }: Config,
  access: Access,
  folder: string,
) {
  print(`\n${bold('Scanlog is ready.')}\n`);
  print(`  Console     ${publicUrl}/console`);
  print(`  API         ${publicUrl}/v1`);
  print(`  Swagger UI  ${publicUrl}/swagger`);
  if (access.setup !== undefined) printSetup(urlOfLink(publicUrl, 'setup', access.setup.token), folder);
  const keyFile = join(folder, 'demo-keys.env');
  if ('keys' in access) {
    const bearer = process.stdout.isTTY === true ? showKeys(access.keys) : writeKeys(access.keys, keyFile);
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
    for (const line of howToGetIn(access.accounts, folder)) print(line);
    if (existsSync(keyFile)) print(`\nThe keys from the first start are in ${keyFile}.`);
  }
  if (host === '127.0.0.1') {
    const address = networkAddress() ?? '<this machine’s address>';
    print('\nTo let a phone on the same network scan, open the service to it:\n');
    print(`  ./scanlog up --host 0.0.0.0 --public-url http://${address}:${port}`);
  }
  print(dim('\nCtrl-C stops everything.\n'));
}

/** As for keys, the link is not printed where the output may end in a log file. */
function printSetup(url: string, folder: string): void {
  const file = join(folder, 'setup-link.txt');
  rmSync(file, { force: true });
  if (process.stdout.isTTY === true) {
    print('\nOpen this link to create the first user, within 24 hours. A later start prints another one:\n');
    print(`  ${bold(url)}`);
    return;
  }
  writeFileSync(file, `${url}\n`, { mode: 0o600, flag: 'wx' });
  print(`\nThe link that creates the first user, within 24 hours, is in ${file}, which only you can read.`);
}

/** What to do without a key: keys are printed only once. */
function howToGetIn(accounts: Account[], folder: string): string[] {
  const data = folder === defaultDataFolder ? '' : ` --data ${quoted(folder)}`;
  const [only] = accounts.length === 1 ? accounts : [];
  if (only !== undefined)
    return [
      `\nSign in as a person, or with a key of ${only.id} (${only.name}). If it is lost, create another:\n`,
      `  ./scanlog account key ${only.id} --mode live${data}`,
    ];
  return [
    `\nSign in as a person, or with a key of one of the ${accounts.length} accounts. If it is lost, find the account and create another:\n`,
    `  ./scanlog account list${data}`,
    `  ./scanlog account key <account> --mode live${data}`,
  ];
}

/** A path as one word of a shell command. */
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

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
  return `$(sed -n 's/^LIVE_KEY=//p' ${quoted(file)})`;
}

function networkAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
}
