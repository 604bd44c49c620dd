import type { Session } from '../../accounts/console-sessions.ts';
import { proofMinutes, requireProof } from '../../accounts/roles.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Console } from '../context.ts';
import { ownSession } from '../sessions.ts';

/**
 * The operator who sent a request; throws 401 without a session, and 403 for everyone else. With `changes`, the session must have
 * been proven in the last minutes.
 */
export async function requireOperator(
  console: Console,
  headers: Headers,
  { changes = false }: { changes?: boolean } = {},
): Promise<{ user: string; session: Session }> {
  const { session } = await ownSession(console, headers);
  const { user, last_proof_at } = session;
  if (user === null || !user.is_operator)
    throw new Refusal('insufficient_role', 'This is for operators of the service only.');
  const since = console.service.clock().getTime() - proofMinutes * 60_000;
  if (changes) requireProof({ isProven: last_proof_at.getTime() > since });
  return { user: user.id, session };
}
