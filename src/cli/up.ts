import { rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createAccount, listAccounts, type NewKey } from '../accounts/accounts.ts';
import { findTable } from '../codes/warehouse-table.ts';
import { type Config, type Flags, readConfig, type ServiceConfig } from '../config.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { createLogger, type Logger } from '../lib/logger.ts';
import { connect } from '../log/connect.ts';
import { type RunningService, tableWithinMs } from '../main.ts';
import { plainHttpWarning } from '../server.ts';
import { announce, lockDataDirectory, openDataDirectory, readSecrets } from '../stack/data-directory.ts';
import { until } from '../stack/processes.ts';
import { startStack } from '../stack/stack.ts';
import { connectWarehouse } from '../warehouse/connect.ts';
import { warmUp } from '../warehouse/warm-up.ts';
import { refuseInterrupted } from './connection.ts';
import { startFamily } from './family.ts';
import { stopInTime, stopWithinMs, untilAskedToStop } from './stopping.ts';
import { bold, dim, green, say } from './terminal.ts';

/** Everything on one machine: the parts that have no address in the environment, and the service. */
export async function up(flags: Flags & { data: string }): Promise<void> {
  const config = readConfig(process.env, flags);
  const log = createLogger(config.logLevel);
  const warning = plainHttpWarning(config);
  if (warning !== undefined) log.warn(warning);
  const data = openDataDirectory(flags.data);
  const unlock = lockDataDirectory(data);
  const asked = untilAskedToStop();
  const interrupted = new AbortController();
  asked.then(() => interrupted.abort());
  try {
    if (config.secretKey === undefined) refuseInterrupted(data.path);
    const onReady = (part: string, ms: number) => say(`  ${green('✓')} ${part} ${dim(`${Math.round(ms)} ms`)}`);
    const stack = await startStack({ data, log, given: givenParts(config), onReady, signal: interrupted.signal });
    try {
      const secretKey = config.secretKey ?? readSecrets(data).secretKey;
      // Its own ClickHouse has no replicas that could lag, and in WebAssembly it loses everything at each stop.
      const clickhouseRebuildAfterSeconds =
        config.clickhouseRebuildAfterSeconds ?? (config.clickhouseUrl === undefined ? 0 : undefined);
      const edgeFolder = join(data.path, 'edges');
      const { databaseUrl, natsUrl, clickhouseUrl } = stack;
      const addresses = { databaseUrl, natsUrl, clickhouseUrl };
      const whole: ServiceConfig = { ...config, ...addresses, secretKey, edgeFolder, clickhouseRebuildAfterSeconds };
      const service = await startOnFreePort(whole, flags['port'] !== undefined, log);
      try {
        await Promise.race([service.ready.then(() => analyticsSoon(whole)), asked]);
        announce(data, { ...addresses, publicUrl: service.addresses.publicUrl });
        if (config.clickhouseUrl === undefined) void warmUpBehind(whole, log);
        if (!interrupted.signal.aborted) greet(service, config, await demoKeys(databaseUrl), data.path);
        await asked;
        say('\nStopping …');
      } finally {
        await stopInTime(service.stop, stopWithinMs.family, log);
      }
    } finally {
      await stack.stop();
    }
  } finally {
    unlock();
  }
}

/** Until there is a table to ask, which a fresh stack has in a moment; a long log is not waited for. */
async function analyticsSoon(config: ServiceConfig): Promise<void> {
  const sql = connect(config.databaseUrl, { max: 1 });
  const warehouse = connectWarehouse(config);
  const there = () =>
    findTable(sql, warehouse).then(
      () => true,
      () => false,
    );
  await until(there, tableWithinMs);
  await warehouse.client.close();
  await sql.end();
}

/** The first to ask for analytics should not have to wait for an engine that has only just started. */
async function warmUpBehind(config: ServiceConfig, log: Logger): Promise<void> {
  const warehouse = connectWarehouse(config);
  await warmUp(warehouse).catch((error) => log.debug({ error: messageOf(error) }, 'ClickHouse is not warmed up'));
  await warehouse.client.close();
}

const givenParts = ({ databaseUrl, natsUrl, clickhouseUrl }: Config) => ({
  ...(databaseUrl === undefined ? {} : { databaseUrl }),
  ...(natsUrl === undefined ? {} : { natsUrl }),
  ...(clickhouseUrl === undefined ? {} : { clickhouseUrl }),
});

/** The usual port, or any other when somebody has it already. A port that was asked for is not exchanged. */
async function startOnFreePort(config: ServiceConfig, portIsWanted: boolean, log: Logger): Promise<RunningService> {
  try {
    return await startFamily(config, log);
  } catch (error) {
    if (portIsWanted || process.env['PORT'] || !(error instanceof StartError) || !/^Port \d/.test(error.message))
      throw error;
    return startFamily({ ...config, port: 0 }, log);
  }
}

/** The demo account's keys on the first start; nothing on any other. */
async function demoKeys(databaseUrl: string): Promise<DemoKeys | undefined> {
  const sql = connect(databaseUrl, { max: 1 });
  try {
    if ((await listAccounts(sql)).length > 0) return undefined;
    return await createAccount(sql, { name: 'Demo', plan: 'enterprise', now: new Date() });
  } finally {
    await sql.end();
  }
}

function greet(
  { addresses: { publicUrl }, port }: RunningService,
  { host }: Config,
  keys: DemoKeys | undefined,
  folder: string,
) {
  say(`\n${bold('Scanlog is ready.')}\n`);
  say(`  Console     ${publicUrl}/console`);
  say(`  API         ${publicUrl}/v1`);
  say(`  Swagger UI  ${publicUrl}/swagger`);
  if (keys !== undefined) {
    const bearer = process.stdout.isTTY === true ? showKeys(keys) : writeKeys(keys, join(folder, 'demo-keys.env'));
    say('\nYour first QR code:\n');
    say(
      [
        `  curl -s ${publicUrl}/v1/qrcodes`,
        `-H "Authorization: Bearer ${bearer}"`,
        "-H 'Content-Type: application/json'",
        `-d '{"name": "My first code", "destination_url": "https://example.com"}'`,
      ].join(' '),
    );
  } else {
    say(dim('\n  The keys were given at the first start. More: ./scanlog account create --name "…" --plan pro'));
  }
  if (host === '127.0.0.1') {
    const address = networkAddress() ?? '<this machine’s address>';
    say('\nTo let a phone on the same network scan, open the service to it:\n');
    say(`  ./scanlog up --host 0.0.0.0 --public-url http://${address}:${port}`);
  }
  say(dim('\nCtrl-C stops everything.\n'));
}

type DemoKeys = { live: NewKey; test: NewKey };

/** Each answers with what a shell puts in place of the live key. */
function showKeys({ live, test }: DemoKeys): string {
  say('\nA demo account was made for you. Its keys are shown only now:\n');
  say(`  live key    ${bold(live.secret)}`);
  say(`  test key    ${bold(test.secret)}`);
  return live.secret;
}

/** Output that no person reads ends in a log, which others can read: the keys go to a file for this user only. */
function writeKeys({ live, test }: DemoKeys, file: string): string {
  rmSync(file, { force: true });
  writeFileSync(file, `LIVE_KEY=${live.secret}\nTEST_KEY=${test.secret}\n`, { mode: 0o600, flag: 'wx' });
  say(
    `\nA demo account was made for you. Its keys are in ${file}, which only you can read; they are shown nowhere else.`,
  );
  return `$(sed -n 's/^LIVE_KEY=//p' '${file.replaceAll("'", `'\\''`)}')`;
}

function networkAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
}
