import type { Account } from '../../events/account.ts';
import { problemWithName } from '../../events/fields.ts';
import { unlimited } from '../../events/key.ts';
import { limitsOf, type Mode, modes, type Plan, plans } from '../../events/plans.ts';
import { operator } from '../../events/recorded.ts';
import { createAccount, findAccount, listAccounts, rename, resume, setPlan, suspend } from '../accounts/accounts.ts';
import { createKey, listKeys } from '../accounts/keys.ts';
import { countCodes, totalOf } from '../codes/codes.ts';
import { StartError } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { admit, presentAdmitted, printAdmitted, readEmail } from './admit.ts';
import { withDatabase } from './connection.ts';
import { readReason } from './reason.ts';
import { bold, print, printJson, table } from './terminal.ts';

function readPlan(text: string): Plan {
  if ((plans as readonly string[]).includes(text)) return text as Plan;
  throw new StartError(`The plan must be one of ${plans.join(', ')}, not ${text}.`);
}

function readMode(text: string): Mode {
  if ((modes as readonly string[]).includes(text)) return text as Mode;
  throw new StartError(`--mode must be one of ${modes.join(', ')}, not ${text}.`);
}

/** Returns the name without surrounding spaces. `what` is what the message calls it. */
function readName(text: string, what: string): string {
  const problem = problemWithName(text);
  if (problem !== undefined) throw new StartError(`${what} ${problem}.`);
  return text.trim();
}

export async function accountCreate(options: {
  name: string;
  plan: string;
  owner?: string;
  json?: boolean;
  data: string;
}): Promise<void> {
  const plan = readPlan(options.plan);
  const name = readName(options.name, '--name');
  const email = options.owner === undefined ? undefined : readEmail(options.owner);
  const { id, live, test, owner } = await withDatabase(options.data, async (sql) => {
    const created = await createAccount(sql, { name, plan, now: new Date() });
    return {
      ...created,
      owner:
        email === undefined ? undefined : await admit(sql, options.data, { email, account: created.id, role: 'owner' }),
    };
  });
  const keys = { live_key: live.secret, test_key: test.secret };
  if (options.json)
    return printJson({
      account_id: id,
      plan,
      ...keys,
      ...(owner === undefined ? {} : { owner: presentAdmitted(owner) }),
    });
  print(
    table([
      ['account', id],
      ['plan', plan],
      ['live key', bold(live.secret)],
      ['test key', bold(test.secret)],
    ]),
  );
  print('\nThe keys are printed only once: store them in a safe place.');
  if (owner !== undefined) printAdmitted(owner);
}

export const noAccount = (id: string) =>
  new StartError(`There is no account ${id}: run ./scanlog account list to see all accounts.`);

async function requireAccount(sql: Sql, id: string): Promise<Account> {
  const account = await findAccount(sql, id);
  if (account === undefined) throw noAccount(id);
  return account;
}

export async function accountPlan(id: string, newPlan: string, options: { data: string }): Promise<void> {
  const plan = readPlan(newPlan);
  await withDatabase(options.data, async (sql) => {
    await requireAccount(sql, id);
    await setPlan(sql, id, plan, new Date());
  });
  const { requestsPerMinute, codes } = limitsOf[plan];
  print(
    `${id} is on the plan ${plan}: ${requestsPerMinute} requests per minute, ${Number.isFinite(codes) ? codes : 'unlimited'} QR codes.`,
  );
}

export async function accountList(options: { json?: boolean; data: string }): Promise<void> {
  const accounts = await withDatabase(options.data, async (sql) =>
    Promise.all(
      (await listAccounts(sql)).map(async ({ id, name, plan, created_at }) => ({
        account_id: id,
        name,
        plan,
        created_at: created_at.toISOString(),
        qr_codes: totalOf(await countCodes(sql, { account: id, mode: 'live' })),
      })),
    ),
  );
  if (options.json) {
    print(JSON.stringify(accounts));
    return;
  }
  const rows = accounts.map(({ account_id, plan, qr_codes, created_at, name }) => [
    ...[account_id, plan, String(qr_codes), created_at, name],
  ]);
  print(table([['ACCOUNT', 'PLAN', 'CODES', 'CREATED', 'NAME'], ...rows]));
}

interface OperatorOptions {
  data: string;
  json?: boolean;
}

export async function accountSuspend(id: string, options: OperatorOptions & { reason: string }): Promise<void> {
  const reason = readReason(options.reason);
  const account = await withDatabase(options.data, async (sql) => {
    await requireAccount(sql, id);
    await suspend(sql, id, reason, new Date());
    return requireAccount(sql, id);
  });
  if (options.json) return printJson({ account_id: id, suspended: presentSuspended(account) });
  print(`${id} is suspended: its API and console answer 403, its short links 410. Nothing is deleted.`);
}

export async function accountResume(id: string, options: OperatorOptions): Promise<void> {
  await withDatabase(options.data, async (sql) => {
    await requireAccount(sql, id);
    await resume(sql, id, new Date());
  });
  if (options.json) return printJson({ account_id: id, suspended: null });
  print(`${id} is no longer suspended.`);
}

const presentSuspended = ({ suspended_reason: reason, suspended_at: at }: Account) =>
  reason === null || at === null ? null : { reason, at: at.toISOString() };

export async function accountKeys(id: string, options: OperatorOptions): Promise<void> {
  const keys = await withDatabase(options.data, async (sql) => {
    await requireAccount(sql, id);
    return listKeys(sql, id);
  });
  const listed = keys.map((key) => ({
    key_id: key.id,
    name: key.name,
    mode: key.mode,
    key: `sk_${key.mode}_…${key.last4}`,
    created_at: key.created_at.toISOString(),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    unused: key.unused,
    scopes: key.scopes,
    expires_at: key.expires_at?.toISOString() ?? null,
    allowed_cidrs: key.allowed_cidrs,
    replaced_by: key.replaced_by,
  }));
  if (options.json) return printJson(listed);
  const rows = listed.map(
    ({ key_id, key, created_at, last_used_at, unused, scopes, expires_at, allowed_cidrs, name }) => [
      key_id,
      key,
      created_at,
      `${last_used_at ?? 'never'}${unused ? ' (unused for 90 days)' : ''}`,
      expires_at ?? 'never',
      scopes?.join(' ') ?? 'all',
      allowed_cidrs?.join(' ') ?? 'all',
      name,
    ],
  );
  print(table([['KEY', 'ENDS IN', 'CREATED', 'LAST USED', 'EXPIRES', 'SCOPES', 'NETWORKS', 'NAME'], ...rows]));
}

/** Creates a key as the operator: the way back in for an owner who has lost all keys. */
export async function accountKey(id: string, options: OperatorOptions & { mode: string; name: string }): Promise<void> {
  const mode = readMode(options.mode);
  const name = readName(options.name, '--name');
  const now = new Date();
  const { account, key } = await withDatabase(options.data, async (sql) => {
    await requireAccount(sql, id);
    const created = await createKey(sql, id, { name, mode, ...unlimited }, { actor: operator, now });
    return { account: await requireAccount(sql, id), key: created };
  });
  const created_at = now.toISOString();
  if (options.json) return printJson({ account_id: id, key_id: key.id, name, mode, key: key.secret, created_at });
  print(
    table([
      ['account', `${id} (${account.name})`],
      ['key id', key.id],
      [`${mode} key`, bold(key.secret)],
    ]),
  );
  print('\nThe key is printed only once: store it in a safe place. Other keys of the account stay valid.');
  if (account.suspended_at !== null)
    print(`The account is suspended: the key answers 403 until ./scanlog account resume ${id}.`);
}

export async function accountRename(id: string, newName: string, options: OperatorOptions): Promise<void> {
  const name = readName(newName, '<name>');
  await withDatabase(options.data, async (sql) => {
    await requireAccount(sql, id);
    await rename(sql, id, name, new Date());
  });
  if (options.json) return printJson({ account_id: id, name });
  print(`${id} is now called ${name}.`);
}
