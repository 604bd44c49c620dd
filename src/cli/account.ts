import { faultOfName } from '../../events/fields.ts';
import { limitsOf, type Plan, plans } from '../../events/plans.ts';
import { createAccount, findAccount, listAccounts, setPlan } from '../accounts/accounts.ts';
import { countCodes, totalOf } from '../codes/codes.ts';
import { StartError } from '../lib/errors.ts';
import { withDatabase } from './connection.ts';
import { bold, say, table } from './terminal.ts';

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

export async function accountPlan(id: string, wanted: string, options: { data: string }): Promise<void> {
  const plan = readPlan(wanted);
  await withDatabase(options.data, async (sql) => {
    if ((await findAccount(sql, id)) === undefined) throw new StartError(`There is no account ${id}.`);
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
