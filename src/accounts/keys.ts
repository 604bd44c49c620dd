import { createHash } from 'node:crypto';
import type { Account, AccountEvent } from '../../events/account.ts';
import { type Key, type KeyLimits, replaceKey, revokeKey, unlimited } from '../../events/key.ts';
import type { Owner } from '../../events/owner.ts';
import { type Mode, modes } from '../../events/plans.ts';
import type { Actor } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import { isId, newId, newSecret } from '../lib/ids.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';
import { requireWithin } from './key-limits.ts';

export const hashOfKey = (secret: string) => createHash('sha256').update(secret).digest('hex');

/** A new key with its secret, which cannot be shown again: only its hash is stored. */
export interface NewKey {
  id: string;
  secret: string;
}

export interface KeySettings extends KeyLimits {
  name: string;
  mode: Mode;
}

export function mintKey(
  { name, mode, scopes, expires_at, allowed_cidrs }: KeySettings,
  now: Date,
): { minted: NewKey; event: AccountEvent } {
  const id = newId('key', now.getTime());
  const secret = `sk_${mode}_${newSecret()}`;
  const data = {
    key: id,
    name,
    mode,
    hash: hashOfKey(secret),
    last4: secret.slice(-4),
    scopes: scopes && [...scopes],
    expires_at: expires_at?.toISOString() ?? null,
    allowed_cidrs: allowed_cidrs && [...allowed_cidrs],
  };
  return { minted: { id, secret }, event: { type: 'key_created', data } };
}

/**
 * Whether the key `k` is valid, in SQL. By the clock of Postgres, so that it expires at the same moment on every instance.
 */
export const isValidKey = (sql: Queryable) =>
  sql`k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())`;

export interface ListedKey extends Key {
  last_used_at: Date | null;
  /** Whether it was neither used nor created in the last 90 days. */
  unused: boolean;
}

/** Modes of the keys that a key of `mode` may list, create and revoke: a leaked test key must not give live access. */
export const managedModes = (mode: Mode): readonly Mode[] => (mode === 'live' ? modes : ['test']);

/** The account's keys of the allowed modes, oldest first; revoked and expired ones only if asked for. */
export const listKeys = (
  sql: Queryable,
  account: string,
  allowedModes: readonly Mode[] = modes,
  { withInvalid = false } = {},
): Promise<ListedKey[]> =>
  sql<ListedKey[]>`
    SELECT k.*, u.last_used_at,
      coalesce(u.last_used_at, k.created_at) < clock_timestamp() - interval '90 days' AS unused
    FROM api_keys k LEFT JOIN key_usage u ON u.key = k.id
    WHERE k.account = ${account} AND k.mode = ANY(${[...allowedModes]}) AND (${withInvalid} OR ${isValidKey(sql)})
    ORDER BY k.id`;

/** Bounds the list of keys, which has no pages. */
const maxKeys = 500;

interface KeysOf extends Account {
  validKeys: number;
}

/** Creates a key. `within` are the limits of the key that asks for it, which the new one must not exceed. */
export async function createKey(
  sql: Sql,
  account: string,
  settings: KeySettings,
  { within = unlimited, ...by }: { within?: KeyLimits; actor: Actor; now: Date },
): Promise<NewKey> {
  requireWithin(settings, within);
  const { minted, event } = mintKey(settings, by.now);
  await decideAndAppend<KeysOf, AccountEvent>(sql, account, {
    load: () => loadKeysOf(sql, account),
    decide({ validKeys }) {
      requireRoom(validKeys);
      return [event];
    },
    project: (tx, { validKeys: _, ...before }, events) => writeState(tx, { accounts: [before] }, events),
    by,
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
  await decideAndAppend<KeysOf & { key: Key }, AccountEvent>(sql, account, {
    load: async () => ({ ...(await loadKeysOf(sql, account)), key: await loadKey(sql, account, id, allowedModes) }),
    decide: ({ key }) => revokeKey(key),
    project: (tx, { key: _, validKeys: __, ...before }, events) => writeState(tx, { accounts: [before] }, events),
    by,
  });
}

/** The maximum of `overlapHours`, 7 days. */
export const maxOverlapHours = 168;

export interface Rotation {
  /** How long the replaced key still works; 0 revokes it at once. */
  overlapHours: number;
  /** When the new key expires; undefined for when the replaced one would have. */
  expiresAt?: Date | null | undefined;
  /** The limits of the key that asks for it, which the new key must not exceed. */
  within?: KeyLimits;
  allowedModes?: readonly Mode[];
}

/** Replaces a key by a new one with the same name, mode, scopes and networks. */
export async function rotate(
  sql: Sql,
  account: string,
  id: string,
  { overlapHours, expiresAt, within = unlimited, allowedModes = modes }: Rotation,
  by: { actor: Actor; now: Date },
): Promise<{ minted: NewKey; settings: KeySettings; replaced: { id: string; works_until: Date } }> {
  const overlapEnd = new Date(by.now.getTime() + overlapHours * 3_600_000);
  let rotated: { minted: NewKey; settings: KeySettings } | undefined;
  const { recorded } = await decideAndAppend<KeysOf & { key: Key }, AccountEvent>(sql, account, {
    load: async () => ({ ...(await loadKeysOf(sql, account)), key: await loadKey(sql, account, id, allowedModes) }),
    decide({ key, validKeys }) {
      requireRotatable(key, by.now);
      requireRoom(validKeys);
      const { name, mode, scopes, allowed_cidrs } = key;
      const expires_at = expiresAt === undefined ? key.expires_at : expiresAt;
      const settings = { name, mode, scopes, allowed_cidrs, expires_at };
      requireWithin(settings, within);
      const { minted, event } = mintKey(settings, by.now);
      rotated = { minted, settings };
      const end = overlapHours === 0 ? { now: by.now } : { now: by.now, endsAt: overlapEnd };
      return [event, ...replaceKey(key, minted.id, end)];
    },
    project: (tx, { key: _, validKeys: __, ...before }, events) => writeState(tx, { accounts: [before] }, events),
    by,
  });
  const replacement = recorded.find(({ type }) => type === 'key_rotated');
  if (rotated === undefined || replacement?.type !== 'key_rotated') throw new Error(`${id} was not rotated`);
  return { ...rotated, replaced: { id, works_until: new Date(replacement.data.expires_at) } };
}

function requireRotatable({ expires_at, replaced_by }: Key, now: Date): void {
  if (replaced_by !== null)
    throw new Refusal('invalid_request', `The key was already replaced by ${replaced_by}: rotate that one.`);
  if (expires_at !== null && expires_at <= now)
    throw new Refusal('invalid_request', `The key expired on ${expires_at.toISOString()}: create a new one.`);
}

function requireRoom(validKeys: number): void {
  if (validKeys < maxKeys) return;
  throw new Refusal(
    'quota_exceeded',
    `The account has ${maxKeys} valid keys, the most it can have: revoke some first.`,
  );
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

async function loadKeysOf(sql: Queryable, id: string): Promise<KeysOf> {
  const [account] = await sql<KeysOf[]>`
    SELECT a.*, (SELECT count(*) FROM api_keys k WHERE k.account = a.id AND ${isValidKey(sql)}) AS "validKeys"
    FROM accounts a WHERE a.id = ${id}`;
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
