import { Refusal } from '../lib/errors.ts';
import { inTime } from '../lib/in-time.ts';
import { type Console, html, redirect, type Visit } from './context.ts';
import { setSession, tokenOf } from './cookies.ts';
import { signInPage } from './pages.ts';
import { isOwn } from './same-site.ts';
import { endSession, sessionHours, signIn } from './sessions.ts';

const longestForm = 4096;
const formWithinMs = 5_000;

/** Takes the form with the key, and leads on with a session, or back to the form with what is wrong. */
export async function enter(console: Console, { request, server }: Visit): Promise<Response> {
  const { sql, clock, addresses } = console.service;
  const form = await inTime(readForm(request), formWithinMs, brokenForm);
  const next = safeNext(form.get('next') ?? '');
  const refuse = (status: number, fault: string) =>
    html(console, request, status, (page) => signInPage(page, { next, fault }));
  if (!isOwn(request, addresses.publicUrl))
    return refuse(403, 'Another site sent you here with a key: sign in with yours.');
  const { refusal } = await console.api.admission.byAddress(request, server?.requestIP(request)?.address ?? '');
  if (refusal !== undefined) return refuse(refusal.status, 'Too many attempts. Wait a minute, then try again.');
  const key = (form.get('key') ?? '').trim();
  if (!/^sk_(live|test)_/.test(key)) return refuse(400, 'A key begins with sk_live_ or sk_test_.');
  const entered = await signIn(sql, { key, token: tokenOf(request.headers), now: clock() });
  if (entered === undefined) return refuse(401, 'This key does not exist, or was revoked.');
  const home = entered.mode === 'test' ? '/console/test' : '/console';
  const fits = /^\/console\/test(\/|$)/.test(next) === (entered.mode === 'test');
  return redirect(fits ? next : home, setSession(entered.token, sessionHours * 3600, addresses.publicUrl));
}

/** Ends the session, unless it is another site that wishes so. */
export async function leave({ service: { sql, addresses } }: Console, { request }: Visit): Promise<Response> {
  if (!isOwn(request, addresses.publicUrl)) return redirect('/console');
  const token = tokenOf(request.headers);
  if (token !== undefined) await endSession(sql, token);
  return redirect('/console', setSession(undefined, 0, addresses.publicUrl));
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
