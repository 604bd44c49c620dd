import { readForm } from '../../api/http/form.ts';
import { Refusal } from '../../lib/errors.ts';
import { escapeHtml } from '../../lib/html.ts';
import { personOfPasskey, type Site, signInOptions } from '../../people/passkeys.ts';
import {
  type Console,
  htmlResponse,
  jsonResponse,
  peerOf,
  queryOf,
  type RequestContext,
  wantsJson,
} from '../context.ts';
import { moduleScript, ownDeviceField, type Page, renderDocument } from '../pages.ts';
import { safeNext } from '../safe-next.ts';
import { isSameOrigin } from '../same-site.ts';
import { recordOutcome } from '../sign-in-outcome.ts';
import { maxAssertionFormLength, readAssertion } from './assertion.ts';
import { startUserSession } from './start-session.ts';

const title = 'Sign in with a passkey';

/** The page that asks the browser for a passkey. Apart from the sign-in page, on which no script runs. */
export const servePasskeyPage = (console: Console, { request }: RequestContext): Promise<Response> => {
  const next = safeNext(queryOf(request).get('next') ?? '');
  return htmlResponse(console, request, 200, (page) => passkeyPage(page, console, { next }));
};

/** The site of passkeys; throws 404 where there are none. */
export function requireSite({ site }: Console): Site {
  if ('reason' in site) throw new Refusal('not_found', site.reason);
  return site;
}

/** A challenge for a passkey: to sign in, or to prove a session again. */
export async function servePasskeyOptions(console: Console, context: RequestContext): Promise<Response> {
  const { api, service } = console;
  const site = requireSite(console);
  if (!isSameOrigin(context.request, service.addresses.publicUrl))
    throw new Refusal('unauthorized', 'This request did not come from the console.');
  const { refusal } = await api.admission.byAddress(context.request, peerOf(context));
  if (refusal !== undefined) throw refusal;
  const options = await signInOptions(site);
  return jsonResponse(200, { step: console.steps.begin('passkey', { challenge: options.challenge }), options });
}

/** Handles the response of a passkey, and signs in its person. */
export async function handlePasskey(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { addresses, oidc } = console.service;
  const form = await readForm(request, maxAssertionFormLength);
  const next = safeNext(form.get('next') ?? '');
  const refuse = async (status: number, error: string) => {
    await recordOutcome(console, context, status === 429 ? 'limited' : 'refused', { user: 'unknown', by: 'passkey' });
    if (wantsJson(request)) return jsonResponse(status, { error: { code: 'unauthorized', message: error } });
    return htmlResponse(console, request, status, (page) => passkeyPage(page, console, { next, error }));
  };
  if (!isSameOrigin(request, addresses.publicUrl)) return refuse(403, 'This sign-in was started by another site.');
  if (oidc?.isOnly === true) return refuse(403, `People sign in at ${console.oidc?.host} only.`);
  const { refusal } = await console.api.admission.byAddress(request, peerOf(context));
  if (refusal !== undefined) return refuse(429, 'Too many attempts. Try again in a minute.');
  const user = await userOfAssertion(console, form.get('step') ?? '', form.get('response') ?? '');
  if (user === undefined)
    return refuse(
      401,
      'This passkey is not known here, or it took too long. If you have removed it, delete it on your device.',
    );
  // The page of a person goes on as that person.
  if ((form.get('user') ?? user) !== user) return refuse(401, 'This passkey is of another person.');
  return startUserSession(console, context, {
    user,
    by: 'passkey',
    next,
    isOwnDevice: form.has('own_device'),
    account: form.get('account') ?? undefined,
  });
}

/** The person whose passkey has answered the challenge of a step, which counts once. */
export async function userOfAssertion(console: Console, step: string, text: string): Promise<string | undefined> {
  const { sql, clock } = console.service;
  const site = requireSite(console);
  const response = readAssertion(text);
  const begun = console.steps.read('passkey', step);
  if (response === undefined || begun === undefined || !(await console.steps.complete(step))) return undefined;
  return personOfPasskey(sql, site, { challenge: begun.challenge, response }, clock());
}

function passkeyPage(page: Page, { site }: Console, { next, error }: { next: string; error?: string }): string {
  const reason = 'reason' in site ? site.reason : undefined;
  const problem = error ?? reason;
  return renderDocument(
    page,
    `${title} · Scanlog`,
    `<body class="sign-in">
<main class="stack gap-m">
<img src="${page.bundle.mark.path}" alt="" width="56" height="56">
<h1>${title}</h1>
<noscript><p>Passkeys need JavaScript. <a href="/console">Sign in with a password</a> instead.</p></noscript>
<p class="error" id="problem" role="alert"${problem === undefined ? ' hidden' : ''}>${escapeHtml(problem ?? '')}</p>
${
  reason === undefined
    ? `<form method="post" action="/console/passkey" class="card stack gap-m" id="passkey">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<input type="hidden" name="step" id="step">
<input type="hidden" name="response" id="response">
<p>Your device asks for your finger, face or PIN. You need no e-mail address.</p>
${ownDeviceField(false)}
<button class="button primary" type="submit">Use a passkey</button>
</form>`
    : ''
}
<p class="foot"><a href="/console">Other ways to sign in</a></p>
</main>
</body>`,
    reason === undefined ? moduleScript(page.bundle.passkeyScript) : '',
  );
}
