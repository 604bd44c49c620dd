import type { Account, AccountEvent } from '../../events/account.ts';
import type { Owner } from '../../events/owner.ts';
import type { Actor } from '../../events/recorded.ts';
import { changeShare, endShare, type Share, type ShareSettings } from '../../events/share.ts';
import { writeState } from '../../projections/state.ts';
import { notFound, Refusal, retryLater } from '../lib/errors.ts';
import { isId, newId, newShareToken } from '../lib/ids.ts';
import { QueueFull, Semaphore } from '../lib/semaphore.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';
import { findAccount, hashOfKey } from './accounts.ts';

/** Shares that an account may have in one mode. */
export const maxShares = 100;

interface By {
  actor: Actor;
  now: Date;
}

/** A share as its owner sees it, with the token of its link. */
export type OwnedShare = Share & { token: string | null };

/** What a new share shows. The password is undefined for none. */
export interface NewShare extends Pick<Share, 'name' | 'codes' | 'tags' | 'expires_at' | 'bots' | 'frame_origins'> {
  password: string | undefined;
}

/** Argon2id takes 20 MB and 0.1 s in a thread of its own; more than two at once would take the CPU from redirects. */
const hashing = new Semaphore(2, 64);
const argon2id = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

const hashPassword = (password: string): Promise<string> =>
  hashing
    .run(() => Bun.password.hash(password, argon2id))
    .catch((error) => {
      throw error instanceof QueueFull ? retryLater('Many passwords are being checked: try again in a moment.') : error;
    });

/** Throws `QueueFull` if many others are being checked. */
export const isPassword = (password: string, hash: string): Promise<boolean> =>
  hashing.run(() => Bun.password.verify(password, hash));

/** Creates a share; throws 403 if the account has `maxShares` in this mode already. */
export async function createShare(sql: Sql, owner: Owner, request: NewShare, by: By): Promise<OwnedShare> {
  const { account, mode } = owner;
  const { password, ...share } = request;
  const passwordHash = password === undefined ? null : await hashPassword(password);
  const id = newId('shr', by.now.getTime());
  const token = newShareToken();
  const settings = { ...share, has_password: passwordHash !== null };
  const data = { share: id, mode, ...settings, expires_at: share.expires_at?.toISOString() ?? null };
  await changeShares(sql, account, by, {
    load: () => refuseBeyond(sql, owner),
    decide: () => [{ type: 'share_created', data }],
    write: (tx) => tx`
      INSERT INTO share_secrets (share, account, token, token_hash, password_hash)
      VALUES (${id}, ${account}, ${token}, ${hashOfKey(token)}, ${passwordHash})`,
  });
  return { id, account, mode, ...settings, created_at: by.now, token };
}

/** Changes what is given; a password of null removes it. Throws 404. */
export async function updateShare(
  sql: Sql,
  owner: Owner,
  id: string,
  { password, ...settings }: Partial<Omit<ShareSettings, 'has_password'>> & { password?: string | null },
  by: By,
): Promise<OwnedShare> {
  const passwordHash = typeof password === 'string' ? await hashPassword(password) : password;
  const to = passwordHash === undefined ? settings : { ...settings, has_password: passwordHash !== null };
  await changeShares(sql, owner.account, by, {
    load: () => requireShare(sql, owner, id),
    decide: (share) => changeShare(share, to),
    async write(tx) {
      if (passwordHash !== undefined)
        await tx`UPDATE share_secrets SET password_hash = ${passwordHash} WHERE share = ${id}`;
    },
  });
  return requireShare(sql, owner, id);
}

/** No instance shows the page from the next request on. Throws 404. */
export async function removeShare(sql: Sql, owner: Owner, id: string, by: By): Promise<void> {
  await changeShares(sql, owner.account, by, {
    load: () => requireShare(sql, owner, id),
    decide: endShare,
    write: (tx) => tx`DELETE FROM share_secrets WHERE share = ${id}`,
  });
}

interface Change<S> {
  load(): Promise<S>;
  decide(loaded: S): AccountEvent[];
  /** Writes what is not in the log, in the same transaction. */
  write(tx: Transaction): PromiseLike<unknown>;
}

/** Appends to the stream of the account, whose version makes what was loaded still true. */
async function changeShares<S>(sql: Sql, id: string, by: By, { load, decide, write }: Change<S>): Promise<void> {
  await decideAndAppend<Account & { loaded: S }, AccountEvent>(sql, id, {
    async load() {
      const account = await findAccount(sql, id);
      if (account === undefined) throw notFound('account');
      return { ...account, loaded: await load() };
    },
    decide: ({ loaded }) => decide(loaded),
    async project(tx, { loaded: _, ...before }, events) {
      await write(tx);
      return writeState(tx, { accounts: [before] }, events);
    },
    by,
  });
}

async function refuseBeyond(sql: Queryable, { account, mode }: Owner): Promise<void> {
  const [row] = await sql<[{ count: number }]>`
    SELECT count(*)::int AS count FROM shares WHERE account = ${account} AND mode = ${mode}`;
  if (row.count >= maxShares)
    throw new Refusal(
      'quota_exceeded',
      `An account may have ${maxShares} shared pages, and ${row.count} exist. End some.`,
    );
}

/** A share of the owner; throws 404. */
export async function requireShare(sql: Queryable, { account, mode }: Owner, id: string): Promise<OwnedShare> {
  const [share] = isId('shr', id)
    ? await sql<OwnedShare[]>`
        SELECT s.*, t.token FROM shares s LEFT JOIN share_secrets t ON t.share = s.id
        WHERE s.id = ${id} AND s.account = ${account} AND s.mode = ${mode}`
    : [];
  if (share === undefined) throw notFound('shared page');
  return share;
}

/** All shares of the owner, newest first. */
export const listShares = (sql: Queryable, { account, mode }: Owner): Promise<OwnedShare[]> =>
  sql<OwnedShare[]>`
    SELECT s.*, t.token FROM shares s LEFT JOIN share_secrets t ON t.share = s.id
    WHERE s.account = ${account} AND s.mode = ${mode} ORDER BY s.id DESC`;

/** A share as its page needs it. */
export interface OpenedShare extends Share {
  password_hash: string | null;
  timezone: string | null;
  is_suspended: boolean;
}

/** The shares with these tokens; undefined for those that do not exist or have expired. */
export async function openShares(sql: Queryable, tokens: string[], now: Date): Promise<(OpenedShare | undefined)[]> {
  const hashes = tokens.map(hashOfKey);
  const rows = await sql<(OpenedShare & { token_hash: string })[]>`
    SELECT s.*, t.token_hash, t.password_hash, a.timezone, a.suspended_at IS NOT NULL AS is_suspended
    FROM share_secrets t JOIN shares s ON s.id = t.share JOIN accounts a ON a.id = s.account
    WHERE t.token_hash = ANY(${hashes}) AND (s.expires_at IS NULL OR s.expires_at > ${now})`;
  const found = new Map(rows.map((share) => [share.token_hash, share]));
  return hashes.map((hash) => found.get(hash));
}
