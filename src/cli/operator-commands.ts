import { Argument, type Command } from 'commander';
import { modes, plans } from '../../events/plans.ts';
import { roles } from '../../events/roles.ts';
import { sourceNames } from '../imports/source-names.ts';
import { action, backgroundAction, dataOption, operatorCommand } from './declare.ts';

/** Declares what operators do to accounts, their keys, codes, destinations and secrets. */
export function declareOperatorCommands(program: Command): void {
  declareAccount(program);
  declareKey(program);
  declareUser(program);
  declareCode(program);
  declareDestinations(program);
  declareSecret(program);
  declareImport(program);
  declareAudit(program);
}

function declareAccount(program: Command): void {
  const account = program.command('account').description('manage accounts, their plans and their keys');
  const accountId = new Argument('<account>', 'account id (acct_…)');
  operatorCommand(account, 'create', 'create an account, and print its live key and its test key')
    .requiredOption('--name <name>', 'display name')
    .requiredOption('--plan <plan>', plans.join(', '))
    .option('--owner <email>', 'person who becomes its owner; a link is printed if there is no such person yet')
    .action(action(() => import('./account.ts'), 'accountCreate'));
  account
    .command('plan')
    .description('change the plan of an account')
    .addArgument(accountId)
    .argument('<plan>', plans.join(', '))
    .addOption(dataOption())
    .action(action(() => import('./account.ts'), 'accountPlan'));
  operatorCommand(account, 'list', 'list all accounts').action(action(() => import('./account.ts'), 'accountList'));
  operatorCommand(account, 'rename', 'change the name of an account')
    .addArgument(accountId)
    .argument('<name>', 'new display name')
    .action(action(() => import('./account.ts'), 'accountRename'));
  operatorCommand(account, 'suspend', 'disable the API, console and short links of an account; deletes nothing')
    .addArgument(accountId)
    .requiredOption('--reason <reason>', 'reason shown to the owner')
    .action(action(() => import('./account.ts'), 'accountSuspend'));
  operatorCommand(account, 'resume', 'end the suspension of an account')
    .addArgument(accountId)
    .action(action(() => import('./account.ts'), 'accountResume'));
  operatorCommand(account, 'delete', 'delete an account for good, and erase its keys, codes, scans and event data')
    .addArgument(accountId)
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      `
Its keys stop working and its short links answer 410 at once. The running service
erases the data, and this command waits for it. Short codes are never reused.
NATS keeps messages for up to two days, and backups keep what they contain.`,
    )
    .action(backgroundAction(() => import('./account-delete.ts'), 'accountDelete'));
  declareAccountFile(account, accountId);
  operatorCommand(account, 'keys', 'list the valid keys of an account')
    .addArgument(accountId)
    .action(action(() => import('./account.ts'), 'accountKeys'));
  operatorCommand(account, 'key', 'create a key for an account and print it, for an owner who has lost all keys')
    .addArgument(accountId)
    .requiredOption('--mode <mode>', modes.join(', '))
    .option('--name <name>', 'name of the key in the list of keys', 'Created by the operator')
    .action(action(() => import('./account.ts'), 'accountKey'));
}

function declareAccountFile(account: Command, accountId: Argument): void {
  operatorCommand(account, 'export', 'write everything of an account to a file, and print the key of its secrets')
    .addArgument(accountId)
    .argument('<file>', 'file to write')
    .addHelpText(
      'after',
      `
The file has codes with their history, keys, webhooks, logos, domains, shared pages,
scans and visitors: docs/account-file.md describes it. The account is not changed.
To move it, import the file elsewhere, then delete the account here.`,
    )
    .action(backgroundAction(() => import('./account-file.ts'), 'accountExport'));
  operatorCommand(account, 'import', 'import an account from a file that account export has written')
    .argument('<file>', 'file to read')
    .option('--key <key>', 'key of the file; ACCOUNT_FILE_KEY in the environment is not visible to other users')
    .addHelpText(
      'after',
      `
Ids, short codes, keys and numbers stay the same; nothing is imported if one of them
is taken. Domains must be proved again. After an interruption, run the command again.`,
    )
    .action(backgroundAction(() => import('./account-file.ts'), 'accountImport'));
}

function declareKey(program: Command): void {
  const key = program.command('key').description('manage API keys of any account');
  operatorCommand(key, 'revoke', 'revoke an API key')
    .argument('<key>', 'key id (key_…)')
    .action(action(() => import('./key.ts'), 'keyRevoke'));
  operatorCommand(key, 'rotate', 'replace an API key by one with another secret, and print it')
    .argument('<key>', 'key id (key_…)')
    .option('--overlap <hours>', 'how long the old secret still works, up to 168; 0 ends it at once', '24')
    .action(action(() => import('./key.ts'), 'keyRotate'));
}

function declareUser(program: Command): void {
  const user = program
    .command('user')
    .description('manage people: invite them, reset passwords, disable and delete them');
  const email = new Argument('<email>', 'e-mail address of the person');
  operatorCommand(user, 'list', 'list all people').action(action(() => import('./user.ts'), 'userList'));
  operatorCommand(user, 'invite', 'print a link that makes a person member of an account')
    .addArgument(email)
    .requiredOption('--account <id>', 'account that the person joins (acct_…)')
    .requiredOption('--role <role>', roles.join(', '))
    .action(action(() => import('./user.ts'), 'userInvite'));
  operatorCommand(user, 'reset', 'print a link that sets a new password, and ends all sessions when it is used')
    .addArgument(email)
    .option('--remove-codes', 'turn off the one-time codes of the person as well')
    .action(action(() => import('./user.ts'), 'userReset'));
  operatorCommand(user, 'disable', 'sign a person out everywhere, and refuse further sign-ins')
    .addArgument(email)
    .action(action(() => import('./user.ts'), 'userDisable'));
  operatorCommand(user, 'enable', 'let a disabled person sign in again')
    .addArgument(email)
    .action(action(() => import('./user.ts'), 'userEnable'));
  operatorCommand(user, 'operator', 'make a person operator of this service, or no longer')
    .addArgument(email)
    .addArgument(new Argument('<state>', 'on or off').choices(['on', 'off']))
    .action(action(() => import('./user.ts'), 'userOperator'));
  operatorCommand(user, 'delete', 'delete a person, and everything that is stored about them')
    .addArgument(email)
    .option('--yes', 'do not ask for confirmation')
    .action(action(() => import('./user.ts'), 'userDelete'));
}

function declareCode(program: Command): void {
  const code = program.command('code').description('take down and restore codes of any account');
  const codeId = new Argument('<code>', 'short code, host/code for a code on a domain, or id (qr_…)');
  operatorCommand(code, 'find', 'find codes of all accounts by short code, link, id, destination or name')
    .argument('<text>', 'short code, short link, id, or a part of a destination or name')
    .option('--everywhere', 'also compare fallbacks and the destinations of rules, which reads every code')
    .action(action(() => import('./code.ts'), 'codeFind'));
  operatorCommand(code, 'takedown', 'disable a short link; its owner cannot undo it')
    .addArgument(codeId)
    .requiredOption('--reason <reason>', 'reason shown to the owner')
    .action(action(() => import('./code.ts'), 'codeTakedown'));
  operatorCommand(code, 'restore', 'undo a takedown')
    .addArgument(codeId)
    .action(action(() => import('./code.ts'), 'codeRestore'));
}

function declareDestinations(program: Command): void {
  const destinations = program.command('destinations').description('manage the hosts that no code may lead to');
  const host = new Argument('<host>', 'host name, such as example.com');
  operatorCommand(destinations, 'block', 'block a host and its subdomains, for new and existing codes')
    .addArgument(host)
    .action(action(() => import('./destinations.ts'), 'destinationsBlock'));
  operatorCommand(destinations, 'unblock', 'unblock a host')
    .addArgument(host)
    .action(action(() => import('./destinations.ts'), 'destinationsUnblock'));
  operatorCommand(destinations, 'list', 'list all blocked hosts').action(
    action(() => import('./destinations.ts'), 'destinationsList'),
  );
}

function declareAudit(program: Command): void {
  operatorCommand(program, 'audit', 'list what operators did to accounts, codes, hosts and people, newest first')
    .option('--before <position>', 'continue after the last line of the page before')
    .action(action(() => import('./audit.ts'), 'audit'));
}

function declareSecret(program: Command): void {
  const secret = program
    .command('secret')
    .description('replace SECRET_KEY, which encrypts webhook secrets and visitor keys');
  operatorCommand(secret, 'rotate', 'encrypt everything with a new key; stop the service first')
    .addHelpText(
      'after',
      `
If SECRET_KEY is set, set NEW_SECRET_KEY too, and start the service with the new key
afterwards. For a data folder of ./scanlog up, the command generates a key and stores
it in secrets.json. After an interruption, run the command again.`,
    )
    .action(backgroundAction(() => import('./secret.ts'), 'secretRotate'));
  operatorCommand(secret, 'reset', 'replace everything that was encrypted with a lost key; stop the service first')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      `
The new key is SECRET_KEY, or the one in secrets.json of a data folder of ./scanlog up.
Every webhook gets a new signing secret, which its receiver must be given. A returning
visitor of a code counts as new once. One-time codes of people are turned off.`,
    )
    .action(action(() => import('./secret.ts'), 'secretReset'));
}

function declareImport(program: Command): void {
  operatorCommand(program, 'import', 'import the links of another service as codes, from its export or its API')
    .addArgument(new Argument('<source>', 'service that the links come from').choices(sourceNames))
    .argument('<from>', 'export file (CSV or JSON), or URL of the API')
    .requiredOption('--account <id>', 'account that gets the codes (acct_…)')
    .option('--domain <name>', 'active custom domain of the account for all links; by default each keeps its own')
    .option('--key <key>', 'key of the API; IMPORT_KEY in the environment is not visible to other users')
    .option('--partial', 'take links without what Scanlog does not support, such as A/B tests of other services')
    .option('--dry-run', 'print what would be imported and what cannot be, and import nothing')
    .addHelpText(
      'after',
      `
Short codes, titles, tags, expiry and device destinations are kept. A link stays on
its domain if that is an active domain of the account, or else comes to the domain of
the service. Old totals are shown apart and never counted as scans. Run the command
again after an interruption: links that were imported are neither doubled nor changed.

Examples:
  ./scanlog import bitly links.csv --account acct_… --dry-run
  ./scanlog import csv links.csv --account acct_… --domain go.example.com
  IMPORT_KEY=… ./scanlog import shlink https://s.example.com --account acct_…

URLs of APIs:
  bitly      https://api-ssl.bitly.com/v4, or …/v4/groups/<guid>/bitlinks for one group
  dub        https://api.dub.co
  shlink     https://<your Shlink>
  kutt       https://<your Kutt>
  yourls     https://<your YOURLS>; the key is its signature token
  rebrandly  https://api.rebrandly.com/v1, with ?workspace=<id> for another workspace
  short-io   https://api.short.io, with ?domain_id=<id> for one domain

The exit code is 1 if a link cannot be imported, or only without a part of it.
docs/import.md lists the columns of files and what becomes of each field.`,
    )
    .action(backgroundAction(() => import('./import.ts'), 'importCommand'));
}
