import type { SignInMeans } from '../../events/session.ts';
import type { SignInOutcome } from '../lib/metrics.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { type Console, peerOf, type RequestContext } from './context.ts';

const messages = {
  signed_in: 'signed in to the console',
  refused: 'console sign-in refused',
  limited: 'console sign-in refused: too many attempts from this client',
  signed_out: 'signed out of the console',
};

/** The fields of the log that name a key or a person. */
export const identityOf = (actor: string): { user: string } | { key: string } =>
  actor.startsWith('usr_') ? { user: actor } : { key: actor };

/** Logs and counts a sign-in or sign-out. The client is logged as a keyed hash of its address. */
export async function recordOutcome(
  { log, metrics, api }: Console,
  context: RequestContext,
  outcome: SignInOutcome,
  identity: { key?: string; user?: string; account?: string; by?: SignInMeans },
): Promise<void> {
  metrics.signIns.count(outcome);
  const client = api.admission.clientHash(context.request, peerOf(context));
  const fields = { request_id: requestIdOf(context.request.headers), outcome, ...identity, client };
  if (outcome === 'signed_in' || outcome === 'signed_out') log.info(fields, messages[outcome]);
  else log.warn(fields, messages[outcome]);
}
