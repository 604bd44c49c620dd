import { createHash } from 'node:crypto';
import {
  type Account,
  type AccountEvent,
  changeGuestPage,
  changePlan,
  changeTimezone,
  type GuestPage,
  type Key,
  renameAccount,
  resumeAccount,
  revokeKey,
  suspendAccount,
} from '../../events/account.ts';
import type { Owner } from '../../events/owner.ts';
import { type Mode, modes, type Plan } from '../../events/plans.ts';
import { type Actor, operator } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { invalid, notFound, Refusal } from '../lib/errors.ts';
import { isId, newId, newSecret } from '../lib/ids.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { decideAndAppend } from '../log/decide.ts';

export const hashOfKey = (secret: string) => createHash('sha256').update(secret).digest('hex');

/** A new key with its secret, which cannot be shown again: only its hash is stored. */
export interface NewKey {
  id: string;
  secret: string;
}

function mintKey(name: string, mode: Mode, now: Date): { minted: NewKey; event: AccountEvent } {
  const id = newId('key', now.getTime());
  const secret = `sk_${mode}_${newSecret()}`;
  const data = { key: id, name, mode, hash: hashOfKey(secret), last4: secret.slice(-4) };
  return { minted: { id, secret }, event: { type: 'key_created', data } };
}

/** Creates an account with one live and one test key. */
export async function createAccount(
  sql: Sql,
  { name, plan, now }: { name: string; plan: Plan; now: Date },
): Promise<{ id: string; live: NewKey; test: NewKey }> {
  const id = newId('acct', now.getTime());
  const live = mintKey('Live key', 'live', now);
  const test = mintKey('Test key', 'test', now);
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

export interface ListedKey extends Key {
  last_used_at: Date | null;
}

/** Modes of the keys that a key of `mode` may list, create and revoke: a leaked test key must not give live access. */
export const managedModes = (mode: Mode): readonly Mode[] => (mode === 'live' ? modes : ['test']);

/** The account's keys of the allowed modes, oldest first; revoked ones only if asked for. */
export const listKeys = (
  sql: Queryable,
  account: string,
  allowedModes: readonly Mode[] = modes,
  { withRevoked = false } = {},
): Promise<ListedKey[]> =>
  sql<ListedKey[]>`
    SELECT k.*, u.last_used_at FROM api_keys k LEFT JOIN key_usage u ON u.key = k.id
    WHERE k.account = ${account} AND k.mode = ANY(${[...allowedModes]})
      AND (${withRevoked} OR k.revoked_at IS NULL)
    ORDER BY k.id`;

/** Changes an account with the operator as actor. */
async function operateOn(sql: Sql, id: string, now: Date, decide: (account: Account) => AccountEvent[]): Promise<void> {
  await decideAndAppend<Account, AccountEvent>(sql, id, {
    load: () => loadAccount(sql, id),
    decide,
    project: (tx, before, events) => writeState(tx, { accounts: [before] }, events),
    by: { actor: operator, now },
  });
}

export const setPlan = (sql: Sql, id: string, plan: Plan, now: Date): Promise<void> =>
  operateOn(sql, id, now, (account) => changePlan(account, plan));

export const rename = (sql: Sql, id: string, name: string, now: Date): Promise<void> =>
  operateOn(sql, id, now, (account) => renameAccount(account, name));

/** Disables an account's API access, console and short links until `resume`. Deletes nothing. */
export const suspend = (sql: Sql, id: string, reason: string, now: Date): Promise<void> =>
  operateOn(sql, id, now, (account) => suspendAccount(account, reason));

export const resume = (sql: Sql, id: string, now: Date): Promise<void> => operateOn(sql, id, now, resumeAccount);

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
    const message = `${field} has ${Math.ceil(logo.bytes / 1024)} KiB, and may have ${maxGuestLogoBytes / 1024}: upload a smaller picture.`;
    throw invalid([{ field, message }]);
  }
}

export async function createKey(
  sql: Sql,
  account: string,
  { name, mode, actor, now }: { name: string; mode: Mode; actor: Actor; now: Date },
): Promise<NewKey> {
  const { minted, event } = mintKey(name, mode, now);
  await decideAndAppend<Account, AccountEvent>(sql, account, {
    load: () => loadAccount(sql, account),
    decide: () => [event],
    project: (tx, before, events) => writeState(tx, { accounts: [before] }, events),
    by: { actor, now },
  });
  return minted;
}

/** No instance accepts the key from the next request on. A key whose mode is not in `allowedModes` is not found. */
export async function revoke(
  sql: Sql,
  account: string,
  id: string,
  by: { actor: Actor; now: Date },
  allowedModes: readonly Mode[] = modes,
): Promise<void> {
  if (id === by.actor) throw new Refusal('invalid_request', 'A key cannot revoke itself: revoke it with another key.');
  await decideAndAppend<Account & { key: Key }, AccountEvent>(sql, account, {
    load: async () => ({ ...(await loadAccount(sql, account)), key: await loadKey(sql, account, id, allowedModes) }),
    decide: ({ key }) => revokeKey(key),
    project: (tx, before, events) => writeState(tx, { accounts: [before] }, events),
    by,
  });
}

/** Finds a key of any account that is not revoked. */
export async function findKey(sql: Queryable, id: string): Promise<Key | undefined> {
  const [key] = await sql<Key[]>`SELECT * FROM api_keys WHERE id = ${id} AND revoked_at IS NULL`;
  return key;
}

/** Throws 404 unless the account has, or once had, this key, and it can change codes of the mode. */
export async function requireOwnKey(sql: Queryable, { account, mode }: Owner, id: string): Promise<void> {
  const [key] = isId('key', id)
    ? await sql<Pick<Key, 'mode'>[]>`SELECT mode FROM api_keys WHERE id = ${id} AND account = ${account}`
    : [];
  if (key === undefined || !managedModes(mode).includes(key.mode)) throw notFound('key');
  if (key.mode !== mode)
    throw new Refusal(
      'not_found',
      `This is a ${key.mode} key, which changes ${key.mode} codes only: send the request with a ${key.mode} key.`,
    );
}

async function loadAccount(sql: Sql, id: string): Promise<Account> {
  const account = await findAccount(sql, id);
  if (account === undefined) throw notFound('account');
  return account;
}

async function loadKey(sql: Sql, account: string, id: string, allowedModes: readonly Mode[]): Promise<Key> {
  if (!isId('key', id)) throw notFound('key');
  const [key] = await sql<Key[]>`
    SELECT * FROM api_keys
    WHERE id = ${id} AND account = ${account} AND mode = ANY(${[...allowedModes]}) AND revoked_at IS NULL`;
  if (key === undefined) throw notFound('key');
  return key;
}
