import { modes } from '../../events/plans.ts';
import { findSignInLink, signInByLink } from '../accounts/sign-in-links.ts';
import { statusOf } from '../api/http/error-status.ts';
import { readForm } from '../api/http/form.ts';
import { type Console, htmlResponse, jsonResponse, peerOf, type RequestContext, redirect } from './context.ts';
import { sessionCookie, sessionTokenOf } from './cookies.ts';
import { describeDevice } from './device-name.ts';
import { phonePage } from './pages.ts';
import { isSameOrigin } from './same-site.ts';
import { identityOf, recordOutcome } from './sign-in-outcome.ts';

const invalidLink = 'This code has expired or was already used. Show a new one on your other device and scan it.';

/** The page that a scanned code opens. It does not use up the link. */
export const servePhonePage = (console: Console, { request }: RequestContext): Promise<Response> =>
  htmlResponse(console, request, 200, (page) => phonePage(page));

/** Reports which account a link signs in to, without using it up. */
export async function checkPhoneLink(console: Console, context: RequestContext): Promise<Response> {
  const { sql, clock } = console.service;
  const form = await readForm(context.request);
  const refusal = await refusalOf(console, context);
  const link = refusal === undefined ? await findSignInLink(sql, form.get('token') ?? '', clock()) : undefined;
  if (link !== undefined)
    return jsonResponse(200, {
      account: link.account.name,
      modes: link.user === null ? link.keys.map(({ mode }) => mode) : modes,
    });
  await recordOutcome(console, context, refusal?.status === 429 ? 'limited' : 'refused', { key: 'unknown' });
  const { status, message } = refusal ?? { status: 404, message: invalidLink };
  return jsonResponse(status, { error: { code: 'not_found', message } });
}

/** Handles the confirmation: uses up the link and signs in this device. */
export async function handlePhoneSignIn(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { sql, clock, addresses } = console.service;
  const form = await readForm(request);
  const refuse = async ({ status, message }: { status: number; message: string }) => {
    await recordOutcome(console, context, status === 429 ? 'limited' : 'refused', { key: 'unknown' });
    return htmlResponse(console, request, status, (page) => phonePage(page, message));
  };
  const refusal = await refusalOf(console, context);
  if (refusal !== undefined) return refuse(refusal);
  const signedIn = await signInByLink(sql, form.get('token') ?? '', {
    token: sessionTokenOf(request.headers, addresses.publicUrl),
    isOwnDevice: form.has('own_device'),
    ...describeDevice(request.headers.get('user-agent') ?? ''),
    now: clock(),
  });
  if (signedIn === undefined) return refuse({ status: 404, message: invalidLink });
  const { session, token, actor } = signedIn;
  await recordOutcome(console, context, 'signed_in', {
    ...identityOf(actor),
    account: session.account.id,
    by: 'link',
  });
  const cookie = sessionCookie(token, session.is_own_device, addresses.publicUrl);
  return redirect(session.keys[0]?.mode === 'test' ? '/console/test' : '/console', cookie);
}

/** Why a request must not try a link: it comes from another site, or from a client with too many attempts. */
async function refusalOf(
  { api, service }: Console,
  context: RequestContext,
): Promise<{ status: number; message: string } | undefined> {
  if (!isSameOrigin(context.request, service.addresses.publicUrl))
    return { status: 403, message: 'This sign-in was started by another site. Scan the code again.' };
  const { refusal } = await api.admission.byAddress(context.request, peerOf(context));
  if (refusal === undefined) return undefined;
  return { status: statusOf[refusal.code], message: 'Too many attempts. Try again in a minute.' };
}
