import type { KeyLimits } from '../../events/key.ts';
import type { Mode } from '../../events/plans.ts';
import type { SignInFailure } from '../../events/session.ts';
import type { Sql } from '../lib/sql.ts';
import { openSession, type Session, type SignInFrom } from './console-sessions.ts';
import { hashOfKey, isValidKey } from './keys.ts';
import { recordFailedSignIn, startedEvents, withSessionEvents } from './session-events.ts';

/** Whether the networks of a key do not contain the client that signs in. */
type IsOutside = (key: string, limits: Pick<KeyLimits, 'allowed_cidrs'>) => boolean;

export interface SignedIn {
  token: string;
  session: Session;
  /** The key that signed in. */
  key: { id: string; mode: Mode };
}

/** A refusal of a key that belongs to an account. */
type AttributableRefusal =
  | { reason: 'revoked' | 'expired' | 'outside' | 'other_mode'; key: string }
  | { reason: 'other_account'; key: string; account_name: string };
export type SignInRefusal = { reason: 'unknown' } | AttributableRefusal;

/**
 * Exchanges a key for a new session token and ends the session of the old token. A session of the same account keeps
 * its key of the other mode. With `account` or `mode`, keys of others are refused.
 */
export async function signIn(
  sql: Sql,
  { key, isOutside, account, mode, ...from }: SignInFrom & Wanted & { key: string; isOutside: IsOutside },
): Promise<SignedIn | { refused: SignInRefusal }> {
  const [found] = await sql<FoundKey[]>`
    SELECT k.id, k.account, a.name AS account_name, k.mode, k.revoked_at, k.allowed_cidrs, ${isValidKey(sql)} AS is_valid
    FROM api_keys k JOIN accounts a ON a.id = k.account WHERE k.hash = ${hashOfKey(key)}`;
  if (found === undefined) return { refused: { reason: 'unknown' } };
  const refused = refusalOf(found, { account, mode }, isOutside);
  if (refused !== undefined) {
    const failed = { actor: found.id, mode: found.mode, reason: failureOf[refused.reason] };
    await recordFailedSignIn(sql, found.account, failed, from.now);
    return { refused };
  }
  const opened = await withSessionEvents(sql, found.account, from.now, async (tx) => {
    const started = await openSession(tx, found.account, { keys: [found], user: null, provenAt: from.now }, from);
    return { result: started, events: startedEvents(started, found.id, { by: 'key' }) };
  });
  // The key can have been revoked meanwhile.
  if (opened === undefined) return { refused: { reason: 'revoked', key: found.id } };
  return { ...opened, key: { id: found.id, mode: found.mode } };
}

const failureOf = {
  revoked: 'key_revoked',
  expired: 'key_expired',
  outside: 'address_not_allowed',
  other_account: 'other_account',
  other_mode: 'other_mode',
} as const satisfies Record<AttributableRefusal['reason'], SignInFailure>;

/** The account and mode that the key must be of, if the page names them. */
interface Wanted {
  account?: string | undefined;
  mode?: Mode | undefined;
}

interface FoundKey extends Pick<KeyLimits, 'allowed_cidrs'> {
  id: string;
  account: string;
  account_name: string;
  mode: Mode;
  revoked_at: Date | null;
  is_valid: boolean;
}

function refusalOf(found: FoundKey, wanted: Wanted, isOutside: IsOutside): AttributableRefusal | undefined {
  if (found.revoked_at !== null) return { reason: 'revoked', key: found.id };
  if (!found.is_valid) return { reason: 'expired', key: found.id };
  if (isOutside(found.id, found)) return { reason: 'outside', key: found.id };
  if (wanted.account !== undefined && wanted.account !== found.account)
    return { reason: 'other_account', key: found.id, account_name: found.account_name };
  if (wanted.mode !== undefined && wanted.mode !== found.mode) return { reason: 'other_mode', key: found.id };
  return undefined;
}
