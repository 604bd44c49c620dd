import type { Account } from '../../events/account.ts';
import { faultOfName } from '../../events/fields.ts';
import { limitsOf, type Plan, plans } from '../../events/plans.ts';
import { createAccount, findAccount, listAccounts, listKeys, resume, setPlan, suspend } from '../accounts/accounts.ts';
import { countCodes, totalOf } from '../codes/codes.ts';
import { StartError } from '../lib/errors.ts';
import type { Sql } from '../log/connect.ts';
import { withDatabase } from './connection.ts';
import { readReason } from './reason.ts';
import { bold, say, sayJson, table } from './terminal.ts';

function readPlan(text: string): Plan {
  if ((plans as readonly string[]).includes(text)) return text as Plan;
  throw new StartError(`The plan must be one of ${plans.join(', ')}.`);
}

export async function accountCreate(options: {
  name: string;
  plan: string;
  json?: boolean;
  data: string;
}): Promise<void> {
  const plan = readPlan(options.plan);
  const fault = faultOfName(options.name);
  if (fault !== undefined) throw new StartError(`--name ${fault}.`);
  const name = options.name.trim();
  const { id, live, test } = await withDatabase(options.data, (sql) =>
    createAccount(sql, { name, plan, now: new Date() }),
  );
  if (options.json) {
    say(JSON.stringify({ account_id: id, plan, live_key: live.secret, test_key: test.secret }));
    return;
  }
  say(
    table([
      ['account', id],
      ['plan', plan],
      ['live key', bold(live.secret)],
      ['test key', bold(test.secret)],
    ]),
  );
  say('\nThe keys are shown only now: keep them somewhere safe.');
}

export const noAccount = (id: string) => new StartError(`There is no account ${id}: ./scanlog account list shows all.`);

async function existing(sql: Sql, id: string): Promise<Account> {
  const account = await findAccount(sql, id);
  if (account === undefined) throw noAccount(id);
  return account;
}

export async function accountPlan(id: string, wanted: string, options: { data: string }): Promise<void> {
  const plan = readPlan(wanted);
  await withDatabase(options.data, async (sql) => {
    await existing(sql, id);
    await setPlan(sql, id, plan, new Date());
  });
  const { requestsPerMinute, codes } = limitsOf[plan];
  say(
    `${id} is on ${plan}: ${requestsPerMinute} requests a minute, ${Number.isFinite(codes) ? codes : 'unlimited'} QR codes.`,
  );
}

export async function accountList(options: { json?: boolean; data: string }): Promise<void> {
  const accounts = await withDatabase(options.data, async (sql) =>
    Promise.all(
      (await listAccounts(sql)).map(async ({ id, name, plan, created_at }) => ({
        ...{ account_id: id, name, plan, created_at: created_at.toISOString() },
        qr_codes: totalOf(await countCodes(sql, { account: id, mode: 'live' })),
      })),
    ),
  );
  if (options.json) {
    say(JSON.stringify(accounts));
    return;
  }
  const rows = accounts.map(({ account_id, plan, qr_codes, created_at, name }) => [
    ...[account_id, plan, String(qr_codes), created_at, name],
  ]);
  say(table([['ACCOUNT', 'PLAN', 'CODES', 'CREATED', 'NAME'], ...rows]));
}

interface OperatorOptions {
  data: string;
  json?: boolean;
}

export async function accountSuspend(id: string, options: OperatorOptions & { reason: string }): Promise<void> {
  const reason = readReason(options.reason);
  const account = await withDatabase(options.data, async (sql) => {
    await existing(sql, id);
    await suspend(sql, id, reason, new Date());
    return existing(sql, id);
  });
  if (options.json) return sayJson({ account_id: id, suspended: presentSuspended(account) });
  say(`${id} is suspended: its API and console answer 403, its short links 410. Nothing is deleted.`);
}

export async function accountResume(id: string, options: OperatorOptions): Promise<void> {
  await withDatabase(options.data, async (sql) => {
    await existing(sql, id);
    await resume(sql, id, new Date());
  });
  if (options.json) return sayJson({ account_id: id, suspended: null });
  say(`${id} is not suspended any longer.`);
}

const presentSuspended = ({ suspended_reason: reason, suspended_at: at }: Account) =>
  reason === null || at === null ? null : { reason, at: at.toISOString() };

export async function accountKeys(id: string, options: OperatorOptions): Promise<void> {
  const keys = await withDatabase(options.data, async (sql) => {
    await existing(sql, id);
    return listKeys(sql, id);
  });
  const listed = keys.map(({ id: key_id, name, mode, last4, created_at, last_used_at }) => ({
    ...{ key_id, name, mode, key: `sk_${mode}_…${last4}` },
    ...{ created_at: created_at.toISOString(), last_used_at: last_used_at?.toISOString() ?? null },
  }));
  if (options.json) return sayJson(listed);
  const rows = listed.map(({ key_id, key, created_at, last_used_at, name }) => [
    ...[key_id, key, created_at, last_used_at ?? 'never', name],
  ]);
  say(table([['KEY', 'ENDS IN', 'CREATED', 'LAST USED', 'NAME'], ...rows]));
}
