import type { Owner } from '../../events/owner.ts';
import { changeShare, endShare, type Share, type ShareSettings } from '../../events/share.ts';
import { notFound } from '../lib/errors.ts';
import { isId, newId, newShareToken } from '../lib/ids.ts';
import { hashPassword } from '../lib/passwords.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { type By, changePart, refuseBeyond } from './account-parts.ts';
import { hashOfKey } from './keys.ts';

/** Shares that an account may have in one mode. */
export const maxShares = 100;
const limit = { table: 'shares', max: maxShares, plural: 'shared pages', advice: 'End some.' } as const;

/** A share as its owner sees it, with the token of its link. */
export type OwnedShare = Share & { token: string | null };

/** What a new share shows. The password is undefined for none. */
export interface NewShare extends Pick<Share, 'name' | 'codes' | 'tags' | 'expires_at' | 'bots' | 'frame_origins'> {
  password: string | undefined;
}

/** Creates a share; throws 403 if the account has `maxShares` in this mode already. */
export async function createShare(sql: Sql, owner: Owner, request: NewShare, by: By): Promise<OwnedShare> {
  const { account, mode } = owner;
  const { password, ...share } = request;
  const passwordHash = password === undefined ? null : await hashPassword(password);
  const id = newId('shr', by.now.getTime());
  const token = newShareToken();
  const settings = { ...share, has_password: passwordHash !== null };
  const data = { share: id, mode, ...settings, expires_at: share.expires_at?.toISOString() ?? null };
  await changePart(sql, account, by, {
    load: (tx) => refuseBeyond(tx, owner, limit),
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
  await changePart(sql, owner.account, by, {
    load: (tx) => requireShare(tx, owner, id),
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
  await changePart(sql, owner.account, by, {
    load: (tx) => requireShare(tx, owner, id),
    decide: endShare,
    write: (tx) => tx`DELETE FROM share_secrets WHERE share = ${id}`,
  });
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
