import { Argument, Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { benchmarks } from './cli/benchmarks.ts';
import { action, backgroundAction, dataOption, lowerBackgroundCommands, numberOption } from './cli/declare.ts';
import { declareOperatorCommands } from './cli/operator-commands.ts';
import { replayable } from './cli/replayable.ts';
import { roles } from './config/roles.ts';
import { messageOf, Refusal, StartError } from './lib/errors.ts';
import { VersionTaken } from './log/version-taken.ts';

const withListenOptions = (command: Command) =>
  command
    .option('--port <port>', 'port to listen on (default: 3000)')
    .option('--host <address>', 'address to listen on; 0.0.0.0 opens it to the network (default: 127.0.0.1)')
    .option('--public-url <url>', 'address of the service in short links (default: http://localhost:<port>)')
    .option('--edges <n>', 'number of processes that share the port, to use more cores (default: 1)')
    .option('--log-level <level>', 'debug, info, warn, error or silent (default: info)');

/** Converts commander's camelCase option names to the flag names in settings.ts: `publicUrl` to `public-url`. */
const flagsOf = (options: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`), value]),
  );

/** Commander's message, worded like our own. */
const plainError = (text: string) =>
  text
    .replace(/^error: /, '')
    .replace(
      /^command-argument value '(.*)' is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/m,
      '<$2> must be one of $3, not $1.',
    );

const program = new Command('./scanlog')
  .description('Self-hosted dynamic QR codes. docs/reference.md lists every setting.')
  .version(packageJson.version, '-V, --version', 'print the version')
  .helpOption('-h, --help', 'print this help')
  .helpCommand('help [command]', 'print the help of a command')
  .configureOutput({ outputError: (text, write) => write(`scanlog: ${plainError(text)}`) })
  .showHelpAfterError('Run the command with --help to see its arguments and options.');

withListenOptions(program.command('up'))
  .description('run everything on this machine: the service, and each server whose URL is not set')
  .addOption(dataOption())
  .action(async (options) => (await import('./cli/up.ts')).up({ ...flagsOf(options), data: options.data }));

withListenOptions(program.command('serve'))
  .description('run the service only, on the servers of DATABASE_URL, NATS_URL and CLICKHOUSE_URL')
  .option('--role <roles>', `roles to run, separated by commas: ${roles.join(', ')} (default: all)`)
  .action(async (options) => (await import('./cli/serve.ts')).serve(flagsOf(options)));

declareOperatorCommands(program);

program
  .command('demo')
  .description('create a demo account with a year of scans')
  .addOption(numberOption('--scans <n>', 'approximate number of scans', 80_000))
  .addOption(dataOption())
  .action(backgroundAction(() => import('./cli/demo.ts'), 'demo'));

program
  .command('events')
  .description('print the log in order, or the changes of one code or account')
  .option('--stream <id>', 'print the changes of one code (qr_…) or account (acct_…) only')
  .option('--follow', 'keep printing new events; without --since or --last only those')
  .option(
    '--since <time>',
    'begin with the first event of this time or later: a timestamp, or a duration such as 90s, 15m, 2h or 7d',
  )
  .option('--last <n>', 'begin with the last n events')
  .option('--json', 'print one JSON object per line')
  .addOption(dataOption())
  .action(backgroundAction(() => import('./cli/events.ts'), 'showEvents'));

program
  .command('listen')
  .description('post the events of an account to a URL on this machine, signed like a webhook')
  .requiredOption('--forward-to <url>', 'where to send each event; a number is a port of this machine')
  .option('--key <key>', 'API key of the account and mode (default: SCANLOG_KEY)')
  .option('--url <url>', 'where the service is', 'http://localhost:3000')
  .option('--types <types>', 'only these types, separated by commas (default: all that webhooks can get)')
  .option('--after <cursor>', 'begin after this cursor of GET /v1/events; now begins with the next event', 'now')
  .option('--secret <secret>', 'secret to sign with, whsec_… (default: a new one)')
  .addHelpText(
    'after',
    `
Bodies and headers are as in webhooks of /v1/webhooks, so that a receiver can be written
and tried on a machine that the service cannot reach. Each event is sent once,
whatever the response is; a lost connection to the service is opened again after the
last event.

Example:
  ./scanlog listen --forward-to http://localhost:8080/hooks --key sk_test_…`,
  )
  .action(action(() => import('./cli/listen.ts'), 'listen'));

program
  .command('spool')
  .description('show the scans that wait on disk for Postgres')
  .option('--json', 'print JSON')
  .addOption(dataOption())
  .action(action(() => import('./cli/spool.ts'), 'showSpool'));

program
  .command('scan-load')
  .description('scan a short link on this machine at a steady rate, each time as a new visitor')
  .requiredOption('--code <short code>', 'short code to scan')
  .addOption(numberOption('--rate <n>', 'scans per second', 100))
  .addOption(numberOption('--seconds <n>', 'duration in seconds', 10))
  .addOption(numberOption('--port <port>', 'port of the service', 3000))
  .action(action(() => import('./cli/scan-load.ts'), 'scanLoad'));

program
  .command('replay')
  .description('rebuild a projection from the log while the service runs')
  .addArgument(new Argument('<projection>', 'projection to rebuild').choices(replayable))
  .addOption(dataOption())
  .action(backgroundAction(() => import('./cli/replay.ts'), 'replay'));

program
  .command('verify')
  .description('compare counters, analytics and webhook deliveries with the log, code by code')
  .option('--account <id>', 'verify the codes of one account only (acct_…)')
  .option('--json', 'print JSON')
  .addOption(dataOption())
  .addHelpText('after', '\nThe exit code is 1 if there is a difference.')
  .action(backgroundAction(() => import('./cli/verify.ts'), 'showVerification'));

program
  .command('doctor')
  .description('check Postgres, NATS, ClickHouse and this machine, and print what to change')
  .option('--json', 'print JSON')
  .addOption(dataOption())
  .addHelpText('after', '\nThe exit code is 1 if something must be changed; warnings alone give 0. It changes nothing.')
  .action(action(() => import('./cli/doctor.ts'), 'doctor'));

program
  .command('sbom')
  .description('print what is shipped, with versions, licenses and checksums, as CycloneDX 1.6 JSON')
  .action(action(() => import('./cli/sbom.ts'), 'sbom'));

program
  .command('archive')
  .description('move the oldest scans from Postgres to compressed files, from which they are still read')
  .requiredOption('--older-than <duration>', 'move scans that are older, such as 180d')
  .requiredOption('--to <place>', 'folder, or s3://bucket/prefix')
  .option('--dry-run', 'print what would be moved, and move nothing')
  .option('--json', 'print JSON')
  .addOption(dataOption())
  .addHelpText(
    'after',
    `
Scans are moved in log order, up to the first one that is younger. Each file is a
Parquet file that is read back and compared before its scans leave Postgres. Every
process that reads the log must reach the files: keep them, and back them up.

Examples:
  ./scanlog archive --older-than 180d --to /var/lib/scanlog-archive --dry-run
  ./scanlog archive --older-than 180d --to /var/lib/scanlog-archive
  ./scanlog archive --older-than 180d --to s3://my-bucket/scans

For S3, set ARCHIVE_S3_ACCESS_KEY_ID and ARCHIVE_S3_SECRET_ACCESS_KEY, and
ARCHIVE_S3_ENDPOINT or ARCHIVE_S3_REGION, here and for the service.`,
  )
  .action(backgroundAction(() => import('./cli/archive.ts'), 'archive'));

program
  .command('backup')
  .description('write the log, and everything that cannot be rebuilt from it, to one file while the service runs')
  .argument('<file>', 'file to write')
  .option('--without-archive', 'leave out scans in archive files; a restored service then needs these files')
  .addOption(dataOption())
  .addHelpText(
    'after',
    `
The backup does not contain SECRET_KEY (secrets.json in a data folder of ./scanlog up).
Keep a copy of it in another place.`,
  )
  .action(backgroundAction(() => import('./cli/backup.ts'), 'backup'));

program
  .command('restore')
  .description('fill an empty database or a new data folder from a backup; start the service afterwards')
  .argument('<file>', 'backup to restore')
  .option('--lost-key', 'restore without the SECRET_KEY of the backup; run ./scanlog secret reset next')
  .addOption(dataOption())
  .addHelpText(
    'after',
    `
For a new data folder, first copy secrets.json of the original folder into it.
For your own database, set DATABASE_URL, and SECRET_KEY to the key of the backup.`,
  )
  .action(backgroundAction(() => import('./cli/restore.ts'), 'restore'));

program
  .command('bench')
  .description('run benchmarks, and print each figure next to a reference from the same run')
  .addArgument(new Argument('[what]', 'benchmark to run').choices(benchmarks).default('all', 'all'))
  .option('--json', 'print JSON')
  .action(async (what, options) => (await import('./cli/bench.ts')).bench(what, options));

program
  .command('chaos')
  .description('inject failures into a temporary stack under load, then account for every scan')
  .addOption(numberOption('--minutes <minutes>', 'duration in minutes', 5))
  .option(
    '--external',
    'use the servers of DATABASE_URL, NATS_URL and CLICKHOUSE_URL with temporary databases and a temporary stream; breaks only its own services and connections',
  )
  .option('--durability <durability>', 'EDGE_DURABILITY of both services; by default, one has disk and one log')
  .option('--maintenance', 'run backup and verify all the time, with a new partition of the log every minute')
  .action(async (options) => (await import('./cli/chaos.ts')).chaos(options));

program
  .command('test')
  .description('check types and lint, and run the tests')
  .argument('[filters...]', 'run only test files whose path contains a filter')
  .option(
    '--quick',
    'leave out browser, faults, deployment, long tests, tests that start servers or processes, and the second ClickHouse engine',
  )
  .addOption(numberOption('--repeat <times>', 'run all of it several times, and list every test that failed', 1))
  .option('--stall', 'stop all processes for 300 of every 600 ms, as on a slow machine')
  .option('--seed <seed>', 'repeat the order and values of an earlier run, which prints its seed')
  .action(action(() => import('./cli/test.ts'), 'runTests'));

program
  .command('client')
  .description('generate clients/typescript from the operations of the API, and build it')
  .action(action(() => import('./cli/client.ts'), 'buildClient'));

/** Runs a command, such as `['account', 'list']`; sets the exit code of the process, and prints errors. */
export async function runCommand(args: string[]): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Errors that the user can fix are printed as sentences; anything else is a bug and is printed with its stack.
    const expected = error instanceof StartError || error instanceof Refusal || error instanceof VersionTaken;
    const text = expected ? messageOf(error) : error instanceof Error ? (error.stack ?? error.message) : String(error);
    for (const line of text.split('\n')) process.stderr.write(`${expected ? 'scanlog: ' : ''}${line}\n`);
    process.exitCode = 1;
  }
}

if (import.meta.main) {
  lowerBackgroundCommands();
  // Loading the settings takes longer than everything else up to here.
  if (process.env['TIMEOUT_SCALE']) (await import('./config/config.ts')).applyTimeoutScale(process.env);
  await runCommand(process.argv.slice(2));
  // The service has stopped everything; an open connection must not keep the process alive.
  if (program.args[0] === 'up' || program.args[0] === 'serve') process.exit();
}
