import type { Session } from '../../accounts/console-sessions.ts';
import { proofMinutes } from '../../accounts/roles.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Console } from '../context.ts';
import { ownSession } from '../sessions.ts';

/** The operator who sent a request; throws 401 without a session, and 403 for everyone else. */
export async function requireOperator(
  console: Console,
  headers: Headers,
): Promise<{ user: string; session: Session; token: string; isProven: boolean }> {
  const { session, token } = await ownSession(console, headers);
  const { user, last_proof_at } = session;
  if (user === null || !user.is_operator)
    throw new Refusal('insufficient_role', 'This part of the console is for operators of the service only.');
  const since = console.service.clock().getTime() - proofMinutes * 60_000;
  return { user: user.id, session, token, isProven: last_proof_at.getTime() > since };
}
