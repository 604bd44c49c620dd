import { endSession, sessionHours, signIn } from '../accounts/console-sessions.ts';
import { statusOf } from '../api/error-status.ts';
import { Refusal } from '../lib/errors.ts';
import type { SignInOutcome } from '../lib/metrics.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { type Console, htmlResponse, type RequestContext, redirect } from './context.ts';
import { sessionCookie, sessionTokenOf } from './cookies.ts';
import { signInPage } from './pages.ts';
import { isSameOrigin } from './same-site.ts';

const maxFormLength = 4096;
const formTimeoutMs = 5_000;

/** Handles the sign-in form: redirects to the console with a new session, or shows the form with an error. */
export async function handleSignIn(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { sql, clock, addresses } = console.service;
  const form = await withTimeout(readForm(request), formTimeoutMs, () => {
    throw incompleteForm();
  });
  const next = safeNext(form.get('next') ?? '');
  const refuse = async (status: number, error: string, key = 'unknown') => {
    await recordOutcome(console, context, status === 429 ? 'limited' : 'refused', { key });
    return htmlResponse(console, request, status, (page) => signInPage(page, { next, error }));
  };
  if (!isSameOrigin(request, addresses.publicUrl))
    return refuse(403, 'This sign-in was started by another site. Enter your own API key.');
  const { refusal } = await console.api.admission.byAddress(request, peerOf(context));
  if (refusal !== undefined) return refuse(statusOf[refusal.code], 'Too many attempts. Try again in a minute.');
  const key = (form.get('key') ?? '').trim();
  if (!/^sk_(live|test)_/.test(key)) return refuse(400, 'An API key starts with sk_live_ or sk_test_.');
  const token = sessionTokenOf(request.headers, addresses.publicUrl);
  const result = await signIn(sql, { key, token, now: clock() });
  if ('refused' in result) return refuse(401, 'This API key does not exist or was revoked.', result.refused);
  await recordOutcome(console, context, 'signed_in', { key: result.key, account: result.account });
  const home = result.mode === 'test' ? '/console/test' : '/console';
  const isInMode = /^\/console\/test(\/|$)/.test(next) === (result.mode === 'test');
  return redirect(isInMode ? next : home, sessionCookie(result.token, sessionHours * 3600, addresses.publicUrl));
}

/** Ends the session; a request from another site is ignored. */
export async function handleSignOut(console: Console, context: RequestContext): Promise<Response> {
  const { sql, addresses } = console.service;
  const { request } = context;
  if (!isSameOrigin(request, addresses.publicUrl)) return redirect('/console');
  const token = sessionTokenOf(request.headers, addresses.publicUrl);
  const ended = token === undefined ? undefined : await endSession(sql, token);
  if (ended !== undefined) await recordOutcome(console, context, 'signed_out', ended);
  return redirect('/console', sessionCookie(undefined, 0, addresses.publicUrl));
}

const peerOf = ({ request, server }: RequestContext) => server?.requestIP(request)?.address ?? '';

const messages = {
  signed_in: 'signed in to the console',
  refused: 'console sign-in refused',
  limited: 'console sign-in refused: too many attempts from this client',
  signed_out: 'signed out of the console',
};

/** Logs and counts a sign-in or sign-out. The client is logged as a keyed hash of its address. */
async function recordOutcome(
  { log, metrics, api }: Console,
  context: RequestContext,
  outcome: SignInOutcome,
  identity: { key: string; account?: string },
): Promise<void> {
  metrics.signIns.count(outcome);
  const client = api.admission.clientHash(context.request, peerOf(context));
  const fields = { request_id: requestIdOf(context.request.headers), outcome, ...identity, client };
  if (outcome === 'signed_in' || outcome === 'signed_out') log.info(fields, messages[outcome]);
  else log.warn(fields, messages[outcome]);
}

/** The path if it is a console page, else `/console`: a redirect target that cannot leave the console. */
export const safeNext = (path: string) => (/^\/console(\/[\w-]+)*$/.test(path) ? path : '/console');

const incompleteForm = () =>
  new Refusal('invalid_request', `The form must arrive complete within ${formTimeoutMs / 1000} s. Send it again.`);

/** The form's fields; none when the form is longer than `maxFormLength`. */
async function readForm(request: Request): Promise<URLSearchParams> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of request.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxFormLength) return new URLSearchParams();
    }
  } catch {
    // The client disconnected.
    throw incompleteForm();
  }
  return new URLSearchParams(text);
}
