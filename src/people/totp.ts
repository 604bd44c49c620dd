import { createHash } from 'node:crypto';
import { Refusal } from '../lib/errors.ts';
import { newRecoveryCode } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { noteChange, type Origin } from './security-changes.ts';

/** What apps for one-time codes show as the name of the service. */
const issuer = 'Scanlog';
const periodSeconds = 30;
/** A clock may be off by one step in both directions. */
const toleratedSteps = 1;
/** Wrong codes in an hour: with three valid codes of a million, someone who has the password takes four years to guess one. */
const maxFailures = 10;
const failuresMs = 3_600_000;
const recoveryCodes = 10;

interface Person {
  id: string;
  email: string;
}

const totpOf = async (secret: string, label = '') => {
  const { TOTP, Secret } = await import('otpauth');
  return new TOTP({
    issuer,
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: periodSeconds,
    secret: Secret.fromBase32(secret),
  });
};

/** Whether a sign-in with the password also asks for a code. */
export const hasTotp = async (sql: Queryable, user: string): Promise<boolean> =>
  (await sql`SELECT FROM user_totp WHERE user_id = ${user} AND confirmed_at IS NOT NULL`).length > 0;

/** A new secret for the person's app, which counts once a code of it was entered. Throws 409 if there is one that counts. */
export async function beginTotp(
  sql: Sql,
  box: SecretBox,
  { id, email }: Person,
  now: Date,
): Promise<{ secret: string; url: string }> {
  const { Secret } = await import('otpauth');
  const secret = new Secret({ size: 20 }).base32;
  const stored = await sql`
    INSERT INTO user_totp (user_id, secret, created_at) VALUES (${id}, ${box.sealTotpSecret(secret, id)}, ${now})
    ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at, last_step = 0,
      failures = 0, failures_since = NULL
    WHERE user_totp.confirmed_at IS NULL RETURNING user_id`;
  if (stored.length === 0)
    throw new Refusal('conflict', 'One-time codes are set up already: turn them off before you set up another app.');
  return { secret, url: (await totpOf(secret, email)).toString() };
}

export type CodeResult = 'right' | 'wrong' | 'limited';

/** Completes the set-up with a code of the app, and returns the recovery codes. */
export async function confirmTotp(
  sql: Sql,
  box: SecretBox,
  { user, code }: { user: string; code: string },
  origin: Origin,
): Promise<string[] | Exclude<CodeResult, 'right'>> {
  const { now } = origin;
  const result = await checkTotp(sql, box, { user, code, isConfirmed: false }, now);
  if (result !== 'right') return result;
  return sql.begin(async (tx) => {
    await tx`UPDATE user_totp SET confirmed_at = ${now} WHERE user_id = ${user} AND confirmed_at IS NULL`;
    await noteChange(tx, { user, change: 'codes_turned_on' }, origin);
    return storeRecoveryCodes(tx, user);
  });
}

/** Compares a code of the app, or a recovery code. Each counts once, and wrong codes of the app are limited. */
export const checkCode = (
  sql: Sql,
  box: SecretBox,
  { user, code }: { user: string; code: string },
  now: Date,
): Promise<CodeResult> =>
  /^\s*\d[\d\s]*$/.test(code)
    ? checkTotp(sql, box, { user, code, isConfirmed: true }, now)
    : useRecoveryCode(sql, { user, code }, now);

async function checkTotp(
  sql: Sql,
  box: SecretBox,
  { user, code, isConfirmed }: { user: string; code: string; isConfirmed: boolean },
  now: Date,
): Promise<CodeResult> {
  // Counted before it is compared, so that simultaneous tries are limited as well.
  const hourAgo = new Date(now.getTime() - failuresMs);
  const [stored] = await sql<{ secret: string; failures: number }[]>`
    UPDATE user_totp SET
      failures = CASE WHEN failures_since > ${hourAgo} THEN failures + 1 ELSE 1 END,
      failures_since = CASE WHEN failures_since > ${hourAgo} THEN failures_since ELSE ${now} END
    WHERE user_id = ${user} AND (confirmed_at IS NOT NULL) = ${isConfirmed} RETURNING secret, failures`;
  if (stored === undefined) return 'wrong';
  if (stored.failures > maxFailures) return 'limited';
  const totp = await totpOf(box.openTotpSecret(stored.secret, user));
  const token = code.replaceAll(/\s/g, '');
  const delta = totp.validate({ token, timestamp: now.getTime(), window: toleratedSteps });
  if (delta === null) return 'wrong';
  const step = Math.floor(now.getTime() / 1000 / periodSeconds) + delta;
  const accepted = await sql`
    UPDATE user_totp SET last_step = ${step}, failures = 0, failures_since = NULL
    WHERE user_id = ${user} AND last_step < ${step} RETURNING user_id`;
  return accepted.length > 0 ? 'right' : 'wrong';
}

/** Written by hand, so in any case, with or without what separates the groups. */
const hashOf = (code: string) =>
  createHash('sha256')
    .update(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
    .digest('base64url');

/** Not limited like the codes of the app: a recovery code has 74 random bits. */
async function useRecoveryCode(
  sql: Sql,
  { user, code }: { user: string; code: string },
  now: Date,
): Promise<CodeResult> {
  const used = await sql`
    UPDATE user_recovery_codes SET used_at = ${now}
    WHERE user_id = ${user} AND hash = ${hashOf(code)} AND used_at IS NULL RETURNING user_id`;
  return used.length > 0 ? 'right' : 'wrong';
}

/** Ten new recovery codes, which void the earlier ones. */
export const replaceRecoveryCodes = (sql: Sql, user: string, origin: Origin): Promise<string[]> =>
  sql.begin(async (tx) => {
    await noteChange(tx, { user, change: 'recovery_codes_replaced' }, origin);
    return storeRecoveryCodes(tx, user);
  });

/** Only hashes of the codes are stored. */
async function storeRecoveryCodes(tx: Transaction, user: string): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodes }, newRecoveryCode);
  await tx`DELETE FROM user_recovery_codes WHERE user_id = ${user}`;
  await tx`
    INSERT INTO user_recovery_codes (user_id, hash)
    SELECT ${user}, hash FROM unnest(${codes.map(hashOf)}::text[]) AS hash`;
  return codes;
}

/** From now on the password alone signs in. Returns whether it did not before. */
export async function removeTotp(tx: Transaction, user: string, origin: Origin): Promise<boolean> {
  const [removed] = await tx<{ is_used: boolean }[]>`
    DELETE FROM user_totp WHERE user_id = ${user} RETURNING confirmed_at IS NOT NULL AS is_used`;
  await tx`DELETE FROM user_recovery_codes WHERE user_id = ${user}`;
  if (removed?.is_used !== true) return false;
  await noteChange(tx, { user, change: 'codes_turned_off' }, origin);
  return true;
}
