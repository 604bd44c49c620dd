import { modes } from '../../events/plans.ts';
import { signOut } from '../accounts/console-sessions.ts';
import { type SignInRefusal, signIn } from '../accounts/key-sign-in.ts';
import { statusOf } from '../api/http/error-status.ts';
import { readForm } from '../api/http/form.ts';
import { bootstrapFor } from './bootstrap.ts';
import {
  type Console,
  htmlResponse,
  jsonResponse,
  peerOf,
  type RequestContext,
  redirect,
  wantsJson,
} from './context.ts';
import { noSessionCookie, sessionCookie, sessionTokenOf } from './cookies.ts';
import { describeDevice } from './device-name.ts';
import { leavePage } from './pages.ts';
import { providerSignOut } from './people/oidc.ts';
import { signInWithPassword } from './people/password-sign-in.ts';
import { safeNext } from './safe-next.ts';
import { isSameOrigin } from './same-site.ts';
import { identityOf, recordOutcome } from './sign-in-outcome.ts';
import { signInPage } from './sign-in-page.ts';
import { waysOf } from './ways.ts';

/**
 * Handles the sign-in form: redirects to the console with a new session, or shows the form with an error. The console's
 * script sends the same form to stay on its page, and gets JSON.
 */
export async function handleSignIn(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { sql, clock, addresses, signup } = console.service;
  const form = await readForm(request);
  if (form.has('email')) return signInWithPassword(console, context, form);
  const next = safeNext(form.get('next') ?? '');
  const refuse = async (status: number, message: string, key = 'unknown') => {
    await recordOutcome(console, context, status === 429 ? 'limited' : 'refused', { key });
    if (wantsJson(request)) return jsonResponse(status, { error: { code: 'unauthorized', message } });
    return htmlResponse(console, request, status, (page) =>
      signInPage(page, { next, signup, ways: waysOf(console), error: { form: 'key', message } }),
    );
  };
  if (!isSameOrigin(request, addresses.publicUrl))
    return refuse(403, 'This sign-in was started by another site. Enter your own API key.');
  const { refusal } = await console.api.admission.byAddress(request, peerOf(context));
  if (refusal !== undefined) return refuse(statusOf[refusal.code], 'Too many attempts. Try again in a minute.');
  const key = (form.get('key') ?? '').trim();
  if (!/^sk_(live|test)_/.test(key)) return refuse(400, 'An API key starts with sk_live_ or sk_test_.');
  const result = await signIn(sql, {
    key,
    isOutside: (id, limits) => console.api.admission.networks.isOutside(id, limits, request, peerOf(context)),
    account: form.get('account') ?? undefined,
    mode: modes.find((mode) => mode === form.get('mode')),
    token: sessionTokenOf(request.headers, addresses.publicUrl),
    isOwnDevice: form.has('own_device'),
    ...describeDevice(request.headers.get('user-agent') ?? ''),
    now: clock(),
  });
  if ('refused' in result) {
    const { refused } = result;
    return refuse(401, refusalText(refused), 'key' in refused ? refused.key : 'unknown');
  }
  const { session, token } = result;
  await recordOutcome(console, context, 'signed_in', { key: result.key.id, account: session.account.id });
  const cookie = sessionCookie(token, session.is_own_device, addresses.publicUrl);
  if (wantsJson(request)) {
    return jsonResponse(200, await bootstrapFor(console, session), cookie);
  }
  const home = result.key.mode === 'test' ? '/console/test' : '/console';
  const isInMode = /^\/console\/test([/?]|$)/.test(next) === (result.key.mode === 'test');
  return redirect(isInMode ? next : home, cookie);
}

function refusalText(refused: SignInRefusal): string {
  switch (refused.reason) {
    case 'other_account':
      return `This API key belongs to another account, “${refused.account_name}”. Use a key of this account, or sign out first.`;
    case 'other_mode':
      return 'This API key is of the other mode: a live key starts with sk_live_, a test key with sk_test_.';
    case 'expired':
      return 'This API key has expired.';
    case 'outside':
      return 'This API key does not work from your network.';
    default:
      return 'This API key does not exist or was revoked.';
  }
}

/** Ends the session; a request from another site is ignored. */
export async function handleSignOut(console: Console, context: RequestContext): Promise<Response> {
  const { sql, addresses, clock } = console.service;
  const { request } = context;
  if (!isSameOrigin(request, addresses.publicUrl)) return redirect('/console');
  const token = sessionTokenOf(request.headers, addresses.publicUrl);
  const ended = token === undefined ? undefined : await signOut(sql, token, clock());
  if (ended !== undefined)
    await recordOutcome(console, context, 'signed_out', { ...identityOf(ended.actor), account: ended.account });
  const cookie = noSessionCookie(addresses.publicUrl);
  const elsewhere = ended?.signed_in_by === 'oidc' ? await providerSignOut(console) : undefined;
  if (elsewhere === undefined) return redirect('/console', cookie);
  const response = await htmlResponse(console, request, 200, (page) => leavePage(page, elsewhere));
  response.headers.append('set-cookie', cookie);
  return response;
}
