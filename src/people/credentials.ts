import type { Queryable, Transaction } from '../lib/sql.ts';
import { deleteResetLinks } from './links.ts';
import { noteChange, type Origin } from './security-changes.ts';

const tables = ['user_identities', 'user_totp', 'user_recovery_codes', 'user_passkeys'] as const;

/** Deletes everything that a person signs in with, except the password, which goes with the person. */
export async function deleteCredentials(tx: Transaction, user: string): Promise<void> {
  for (const table of tables) await tx`DELETE FROM ${tx(table)} WHERE user_id = ${user}`;
  await deleteResetLinks(tx, user);
}

/**
 * Confirms the address of a person whom a provider vouches for. If it was never confirmed, someone else may have signed up
 * with it: then nothing that was set up before signs in any more, and all sessions end.
 */
export async function removeUnconfirmed(tx: Transaction, user: string, origin: Origin): Promise<void> {
  const unconfirmed = await tx`
    UPDATE users SET email_confirmed_at = ${origin.now}, password_hash = NULL
    WHERE id = ${user} AND email_confirmed_at IS NULL RETURNING id`;
  if (unconfirmed.length === 0) return;
  await deleteCredentials(tx, user);
  await tx`DELETE FROM console_sessions WHERE user_id = ${user}`;
  await noteChange(tx, { user, change: 'unconfirmed_removed' }, origin);
}

/**
 * Confirms the address of a person who has used a link that was mailed to it, or that the operator gave. If it was never confirmed,
 * someone else may have entered it and added passkeys: these no longer sign in. One-time codes stay, because a mailbox alone must
 * not turn them off.
 */
export async function confirmAddress(tx: Transaction, user: string, origin: Origin): Promise<void> {
  const unconfirmed = await tx`
    UPDATE users SET email_confirmed_at = ${origin.now} WHERE id = ${user} AND email_confirmed_at IS NULL RETURNING id`;
  if (unconfirmed.length === 0) return;
  const removed = await tx`DELETE FROM user_passkeys WHERE user_id = ${user} RETURNING id`;
  if (removed.length > 0) await noteChange(tx, { user, change: 'unconfirmed_removed' }, origin);
}

/** What a person can sign in with besides a password, for the page about them. */
export interface Credentials {
  totp: boolean;
  recovery_codes_left: number;
  oidc: boolean;
}

export async function credentialsOf(sql: Queryable, user: string): Promise<Credentials> {
  const [row] = await sql<[Credentials]>`
    SELECT EXISTS (SELECT FROM user_totp WHERE user_id = ${user} AND confirmed_at IS NOT NULL) AS totp,
      (SELECT count(*)::int FROM user_recovery_codes WHERE user_id = ${user} AND used_at IS NULL) AS recovery_codes_left,
      EXISTS (SELECT FROM user_identities WHERE user_id = ${user}) AS oidc`;
  return row;
}
