import {
  type Account,
  type AccountEvent,
  changeGuestPage,
  changePlan,
  changeTimezone,
  type GuestPage,
  renameAccount,
  resumeAccount,
  suspendAccount,
} from '../../events/account.ts';
import { unlimited } from '../../events/key.ts';
import type { Plan } from '../../events/plans.ts';
import { type Actor, operator, type Recorded } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { invalid, notFound } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { decideAndAppend } from '../log/decide.ts';
import { mintKey, type NewKey } from './keys.ts';

/** Creates an account with one live and one test key. */
export async function createAccount(
  sql: Sql,
  { name, plan, now }: { name: string; plan: Plan; now: Date },
): Promise<{ id: string; live: NewKey; test: NewKey }> {
  const id = newId('acct', now.getTime());
  const live = mintKey({ name: 'Live key', mode: 'live', ...unlimited }, now);
  const test = mintKey({ name: 'Test key', mode: 'test', ...unlimited }, now);
  const created: AccountEvent = { type: 'account_created', data: { name, plan } };
  const events = [created, live.event, test.event].map((event, i) => ({ stream: id, version: i + 1, event }));
  const pending = prepare(events, { actor: operator, now });
  await sql.begin(async (tx) => {
    await writeState(tx, {}, pending);
    await appendAndCommit(tx, pending);
  });
  return { id, live: live.minted, test: test.minted };
}

export async function findAccount(sql: Queryable, id: string): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`SELECT * FROM accounts WHERE id = ${id}`;
  return account;
}

export const listAccounts = (sql: Queryable): Promise<Account[]> =>
  sql<Account[]>`SELECT * FROM accounts ORDER BY created_at, id`;

/** Changes an account as an operator: a person in the console, or `operator` for commands. */
async function operateOn(
  sql: Sql,
  id: string,
  by: { actor: Actor; now: Date },
  decide: (account: Account) => AccountEvent[],
): Promise<Recorded<AccountEvent>[]> {
  const { recorded } = await decideAndAppend<Account, AccountEvent>(sql, id, {
    load: () => loadAccount(sql, id),
    decide,
    project: (tx, before, events) => writeState(tx, { accounts: [before] }, events),
    by,
  });
  return recorded;
}

export const setPlan = (sql: Sql, id: string, plan: Plan, now: Date, actor = operator) =>
  operateOn(sql, id, { actor, now }, (account) => changePlan(account, plan));

export const rename = (sql: Sql, id: string, name: string, now: Date, actor = operator) =>
  operateOn(sql, id, { actor, now }, (account) => renameAccount(account, name));

/** Disables an account's API access, console and short links until `resume`. Deletes nothing. */
export const suspend = (sql: Sql, id: string, reason: string, now: Date, actor = operator) =>
  operateOn(sql, id, { actor, now }, (account) => suspendAccount(account, reason));

export const resume = (sql: Sql, id: string, now: Date, actor = operator) =>
  operateOn(sql, id, { actor, now }, resumeAccount);

/** Sets the time zone that later rules get if they name none, and that the console shows. */
export async function setTimezone(
  sql: Sql,
  account: string,
  timezone: string,
  by: { actor: Actor; now: Date },
): Promise<void> {
  await decideAndAppend<Account, AccountEvent>(sql, account, {
    load: () => loadAccount(sql, account),
    decide: (before) => changeTimezone(before, timezone),
    project: (tx, before, events) => writeState(tx, { accounts: [before] }, events),
    by,
  });
}

/** Sets what pages for guests show of the account; throws 400 if it has no such live logo, or a large one. */
export async function setGuestPage(
  sql: Sql,
  account: string,
  page: GuestPage,
  by: { actor: Actor; now: Date },
): Promise<void> {
  await decideAndAppend<Account, AccountEvent>(sql, account, {
    load: () => loadAccount(sql, account),
    decide: (before) => changeGuestPage(before, page),
    async project(tx, before, events) {
      if (page !== null && page.logo !== null) await requireGuestLogo(tx, account, page.logo);
      return writeState(tx, { accounts: [before] }, events);
    },
    by,
  });
}

/** Each page for guests contains the logo. */
const maxGuestLogoBytes = 131_072;

/** The logo cannot be removed until the transaction ends. */
async function requireGuestLogo(tx: Queryable, account: string, id: string): Promise<void> {
  const [logo] = isId('logo', id)
    ? await tx<{ bytes: number }[]>`
        SELECT octet_length(f.content) AS bytes
        FROM logos l JOIN logo_files f ON f.account = l.account AND f.hash = l.hash
        WHERE l.id = ${id} AND l.account = ${account} AND l.mode = 'live' FOR SHARE OF l`
    : [];
  const field = 'guest_page.logo';
  if (logo === undefined) throw invalid([{ field, message: `${field}: the account has no such live logo.` }]);
  if (logo.bytes > maxGuestLogoBytes) {
    const message = `${field} has ${Math.ceil(logo.bytes / 1024)} KiB, and may have ${maxGuestLogoBytes / 1024}: upload a smaller image.`;
    throw invalid([{ field, message }]);
  }
}

async function loadAccount(sql: Sql, id: string): Promise<Account> {
  const account = await findAccount(sql, id);
  if (account === undefined) throw notFound('account');
  return account;
}
