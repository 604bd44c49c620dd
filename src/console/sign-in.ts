import { Refusal } from '../lib/errors.ts';
import { inTime } from '../lib/in-time.ts';
import type { SignInOutcome } from '../lib/metrics.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { type Console, html, redirect, type Visit } from './context.ts';
import { setSession, tokenOf } from './cookies.ts';
import { signInPage } from './pages.ts';
import { isOwn } from './same-site.ts';
import { endSession, sessionHours, signIn } from './sessions.ts';

const longestForm = 4096;
const formWithinMs = 5_000;

/** Takes the form with the key, and leads on with a session, or back to the form with what is wrong. */
export async function enter(console: Console, visit: Visit): Promise<Response> {
  const { request } = visit;
  const { sql, clock, addresses } = console.service;
  const form = await inTime(readForm(request), formWithinMs, brokenForm);
  const next = safeNext(form.get('next') ?? '');
  const refuse = async (status: number, fault: string, key = 'unknown') => {
    await note(console, visit, status === 429 ? 'limited' : 'refused', { key });
    return html(console, request, status, (page) => signInPage(page, { next, fault }));
  };
  if (!isOwn(request, addresses.publicUrl))
    return refuse(403, 'Another site sent you here with a key: sign in with yours.');
  const { refusal } = await console.api.admission.byAddress(request, peerOf(visit));
  if (refusal !== undefined) return refuse(refusal.status, 'Too many attempts. Wait a minute, then try again.');
  const key = (form.get('key') ?? '').trim();
  if (!/^sk_(live|test)_/.test(key)) return refuse(400, 'A key begins with sk_live_ or sk_test_.');
  const token = tokenOf(request.headers, addresses.publicUrl);
  const entered = await signIn(sql, { key, token, now: clock() });
  if ('refused' in entered) return refuse(401, 'This key does not exist, or was revoked.', entered.refused);
  await note(console, visit, 'signed_in', { key: entered.key, account: entered.account });
  const home = entered.mode === 'test' ? '/console/test' : '/console';
  const fits = /^\/console\/test(\/|$)/.test(next) === (entered.mode === 'test');
  return redirect(fits ? next : home, setSession(entered.token, sessionHours * 3600, addresses.publicUrl));
}

/** Ends the session, unless it is another site that wishes so. */
export async function leave(console: Console, visit: Visit): Promise<Response> {
  const { sql, addresses } = console.service;
  const { request } = visit;
  if (!isOwn(request, addresses.publicUrl)) return redirect('/console');
  const token = tokenOf(request.headers, addresses.publicUrl);
  const ended = token === undefined ? undefined : await endSession(sql, token);
  if (ended !== undefined) await note(console, visit, 'signed_out', ended);
  return redirect('/console', setSession(undefined, 0, addresses.publicUrl));
}

const peerOf = ({ request, server }: Visit) => server?.requestIP(request)?.address ?? '';

const messages = {
  signed_in: 'signed in to the console',
  refused: 'a sign-in to the console was refused',
  limited: 'sign-ins to the console are limited for this client',
  signed_out: 'signed out of the console',
};

/** Leaves a line in the log, and counts it. The client is a keyed hash of its address, never the address. */
async function note(
  { log, metrics, api }: Console,
  visit: Visit,
  outcome: SignInOutcome,
  who: { key: string; account?: string },
): Promise<void> {
  metrics.signIns.count(outcome);
  const client = api.admission.clientHash(visit.request, peerOf(visit));
  const line = { request_id: requestIdOf(visit.request.headers), outcome, ...who, client };
  if (outcome === 'signed_in' || outcome === 'signed_out') log.info(line, messages[outcome]);
  else log.warn(line, messages[outcome]);
}

/** A page of ours and nothing else, however it is written. */
export const safeNext = (path: string) => (/^\/console(\/[\w-]+)*$/.test(path) ? path : '/console');

const brokenForm = () => new Refusal('invalid_request', 'The form must arrive whole, and soon.');

/** What the form holds; nothing where it is longer than any of ours. */
async function readForm(request: Request): Promise<URLSearchParams> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of request.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > longestForm) return new URLSearchParams();
    }
  } catch {
    // Whoever sent it has hung up.
    throw brokenForm();
  }
  return new URLSearchParams(text);
}
