import { join, resolve } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { plans } from '../events/plans.ts';
import packageJson from '../package.json' with { type: 'json' };
import { accountCreate, accountKeys, accountList, accountPlan, accountResume, accountSuspend } from './cli/account.ts';
import { accountDelete } from './cli/account-delete.ts';
import { backup } from './cli/backup.ts';
import { benchmarks } from './cli/benchmarks.ts';
import { chaos } from './cli/chaos.ts';
import { codeRestore, codeTakedown } from './cli/code.ts';
import { demo } from './cli/demo.ts';
import { destinationsBlock, destinationsList, destinationsUnblock } from './cli/destinations.ts';
import { doctor } from './cli/doctor.ts';
import { showEvents } from './cli/events.ts';
import { keyRevoke } from './cli/key.ts';
import { replay, replays } from './cli/replay.ts';
import { restore } from './cli/restore.ts';
import { scanLoad } from './cli/scan-load.ts';
import { secretReset, secretRotate } from './cli/secret.ts';
import { serve } from './cli/serve.ts';
import { showSpool } from './cli/spool.ts';
import { runTests } from './cli/test.ts';
import { up } from './cli/up.ts';
import { showVerification } from './cli/verify.ts';
import { messageOf, Refusal, StartError } from './lib/errors.ts';

const dataOption = () =>
  new Option('--data <folder>', 'where the embedded stack keeps its data')
    .default(join(import.meta.dir, '..', '.scanlog'), '.scanlog beside ./scanlog')
    .argParser((folder) => resolve(folder));

const listening = (command: Command) =>
  command
    .option('--port <port>', 'port to listen on (default: 3000)')
    .option('--host <address>', 'address to listen on; 0.0.0.0 opens it to the network (default: 127.0.0.1)')
    .option('--public-url <url>', 'where people reach the service, for short links (default: http://localhost:<port>)')
    .option('--edges <n>', 'processes that share the port, to use more cores (default: 1)')
    .option('--log-level <level>', 'debug, info, warn, error or silent (default: info)');

/** Flags under the names that the settings use. */
const flagsOf = (options: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`), value]),
  );

const program = new Command('scanlog')
  .description('Dynamic QR codes whose truth is a log. Every setting is listed in README.md.')
  .version(packageJson.version)
  .showHelpAfterError('(./scanlog --help tells more)')
  .configureHelp({ sortSubcommands: false, showGlobalOptions: true });

listening(program.command('up'))
  .description('run everything on this machine: the service, and the parts that have no address in the environment')
  .addOption(dataOption())
  .action((options) => up({ ...flagsOf(options), data: options.data }));

listening(program.command('serve'))
  .description('run only the service, against DATABASE_URL, NATS_URL and CLICKHOUSE_URL')
  .option('--role <roles>', 'which roles to run, comma-separated (default: all)')
  .action((options) => serve(flagsOf(options)));

const account = program.command('account').description('accounts, their plans and first keys');
account
  .command('create')
  .description('make an account; prints one live and one test key')
  .requiredOption('--name <name>', 'display name')
  .requiredOption('--plan <plan>', plans.join(', '))
  .option('--json', 'print one JSON object')
  .addOption(dataOption())
  .action(accountCreate);
account
  .command('plan <account> <plan>')
  .description(`put an account on another plan: ${plans.join(', ')}`)
  .addOption(dataOption())
  .action(accountPlan);
account
  .command('list')
  .description('all accounts')
  .option('--json', 'print one JSON array')
  .addOption(dataOption())
  .action(accountList);

const operatorCommand = (parent: Command, usage: string, description: string) =>
  parent.command(usage).description(description).option('--json', 'print one JSON value').addOption(dataOption());

operatorCommand(account, 'suspend <account>', 'close an account’s API, console and short links; nothing is deleted')
  .requiredOption('--reason <reason>', 'why, as the owner will read it')
  .action(accountSuspend);
operatorCommand(account, 'resume <account>', 'end a suspension').action(accountResume);
operatorCommand(
  account,
  'delete <account>',
  'delete an account for good: its keys, codes, scans and the data of its events',
)
  .option('--yes', 'do not ask')
  .addHelpText(
    'after',
    '\nIts keys stop and its short links answer 410 at once; its data is erased by the running service, which this command\nwaits for. Short codes are never given out again. NATS keeps messages for up to two days, and backups keep what they have.',
  )
  .action(accountDelete);
operatorCommand(account, 'keys <account>', 'the keys of an account that work').action(accountKeys);

const key = program.command('key').description('API keys of any account');
operatorCommand(key, 'revoke <key>', 'revoke a key by its id, key_…').action(keyRevoke);

const code = program.command('code').description('codes of any account');
operatorCommand(code, 'takedown <code>', 'disable a short link, by short code or id; its owner cannot undo it')
  .requiredOption('--reason <reason>', 'why, as the owner will read it')
  .action(codeTakedown);
operatorCommand(code, 'restore <code>', 'undo a takedown').action(codeRestore);

const destinations = program.command('destinations').description('hosts that no code may lead to');
operatorCommand(destinations, 'block <host>', 'block a host and its subdomains, for new and existing codes').action(
  destinationsBlock,
);
operatorCommand(destinations, 'unblock <host>', 'unblock a host').action(destinationsUnblock);
operatorCommand(destinations, 'list', 'all blocked hosts').action(destinationsList);

const secret = program.command('secret').description('SECRET_KEY, which encrypts webhook secrets and visitor keys');
operatorCommand(secret, 'rotate', 'encrypt everything with a new key; no service may run meanwhile')
  .addHelpText(
    'after',
    '\nWith SECRET_KEY in the environment, set NEW_SECRET_KEY as well, and start the service with it afterwards. For a folder\nof ./scanlog up, a new key is made and kept in its secrets.json. Run it again after an interruption.',
  )
  .action(secretRotate);
operatorCommand(secret, 'reset', 'replace everything that a lost key had encrypted; no service may run meanwhile')
  .option('--yes', 'do not ask')
  .addHelpText(
    'after',
    '\nSECRET_KEY, or secrets.json in the folder of ./scanlog up, is the key from then on. What it costs: every receiver of\nwebhooks must be given its new secret, and a returning visitor of a code counts as new once.',
  )
  .action(secretReset);

program
  .command('demo')
  .description('fill a demo account with a year of scans, to see what the console shows')
  .option('--scans <n>', 'how many, about', '80000')
  .addOption(dataOption())
  .action(demo);

program
  .command('events')
  .description('read the log: everything in its order, or the changes of one stream')
  .option('--stream <id>', 'only one code (qr_…) or account (acct_…)')
  .option('--follow', 'go on with what comes')
  .option('--json', 'one JSON object a line')
  .addOption(dataOption())
  .action(showEvents);

program
  .command('spool')
  .description('show the scans that wait on disk for Postgres')
  .option('--json', 'print one JSON array')
  .addOption(dataOption())
  .action(showSpool);

program
  .command('scan-load')
  .description('scan a short link many times, each as a new visitor, to see what happens (this machine only)')
  .requiredOption('--code <short code>', 'which one')
  .option('--rate <n>', 'scans a second', '100')
  .option('--seconds <n>', 'for how long', '10')
  .option('--port <port>', 'where the service listens', '3000')
  .action(scanLoad);

program
  .command('replay')
  .description('make a projection again from the log, while the service goes on')
  .addArgument(new Argument('<projection>').choices(Object.keys(replays)))
  .addOption(dataOption())
  .action(replay);

program
  .command('verify')
  .description('count every scan in the log, and compare the counters and the warehouse with it, code by code')
  .option('--account <id>', 'only the codes of one account')
  .option('--json', 'print one JSON object')
  .addOption(dataOption())
  .action(showVerification);

program
  .command('doctor')
  .description('check Postgres, NATS, ClickHouse and this machine, and say what to change; changes nothing itself')
  .option('--json', 'print one JSON object')
  .addOption(dataOption())
  .addHelpText(
    'after',
    '\nEnds with 1 when something must be changed, and with 0 when there are only warnings, or none.',
  )
  .action(doctor);

program
  .command('backup <file>')
  .description('write the log, and all that is not made from it, to one file, while the service goes on')
  .addOption(dataOption())
  .addHelpText(
    'after',
    '\nThe file holds no SECRET_KEY (secrets.json in the folder of ./scanlog up): keep that as well, elsewhere.',
  )
  .action(backup);

program
  .command('restore <file>')
  .description('fill an empty database, or a new folder, from a backup; no service may run on it yet')
  .option('--lost-key', 'without the SECRET_KEY of the backup; ./scanlog secret reset must follow')
  .addOption(dataOption())
  .addHelpText(
    'after',
    '\nFor a new folder, put the secrets.json of the one that was backed up into it first. For a database of your own,\nset DATABASE_URL, and SECRET_KEY to the one that the backup was made under.',
  )
  .action(restore);

program
  .command('bench')
  .description('measure, with a limit from the same run beside every figure')
  .addArgument(new Argument('[what]').choices(benchmarks).default('all'))
  .option('--json', 'print one JSON object')
  .option('--sheet <file>', 'draw all styles into a PNG instead')
  .action(async (what, options) => (await import('./cli/bench.ts')).bench(what, options));

program
  .command('chaos')
  .description(
    'break a stack and two services of its own while scans go on, then look for every scan; nothing else is touched',
  )
  .option('--minutes <minutes>', 'for how long', '5')
  .option(
    '--external',
    'run on the servers of DATABASE_URL, NATS_URL and CLICKHOUSE_URL, in databases and a stream of its own; breaks only its own services and connections',
  )
  .action(chaos);

program
  .command('test [filters...]')
  .description('check types and lint, and run all tests, or those whose file names contain a filter')
  .action(runTests);

try {
  await program.parseAsync();
} catch (error) {
  // What a person can mend is said in a sentence each; anything else is a fault of ours and needs its stack.
  const expected = error instanceof StartError || error instanceof Refusal;
  const text = expected ? messageOf(error) : error instanceof Error ? (error.stack ?? error.message) : String(error);
  for (const line of text.split('\n')) process.stderr.write(`${expected ? 'scanlog: ' : ''}${line}\n`);
  process.exitCode = 1;
}

// A service has stopped all that it ran; what is left of a connection must not keep its process.
if (program.args[0] === 'up' || program.args[0] === 'serve') process.exit();
