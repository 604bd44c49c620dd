import { readForm } from '../../api/http/form.ts';
import { escapeHtml } from '../../lib/html.ts';
import type { Steps } from '../../people/steps.ts';
import { checkCode, hasTotp } from '../../people/totp.ts';
import { codeHint, codeLabel, codeTitle } from '../code-words.ts';
import { type Console, htmlResponse, jsonResponse, peerOf, type RequestContext, wantsJson } from '../context.ts';
import { type Page, renderDocument } from '../pages.ts';
import { isSameOrigin } from '../same-site.ts';
import { recordOutcome } from '../sign-in-outcome.ts';
import { noticePage } from './link-page.ts';
import { startUserSession } from './start-session.ts';

/** Asks for a code, if the person has set up one-time codes; undefined if not. Our script gets the step, and asks on its page. */
export async function askForCode(
  console: Console,
  { request }: RequestContext,
  session: Steps['code'],
): Promise<Response | undefined> {
  if (!(await hasTotp(console.service.sql, session.user))) return undefined;
  const step = console.steps.begin('code', session);
  if (wantsJson(request)) return jsonResponse(200, { step });
  return htmlResponse(console, request, 200, (page) => codePage(page, step));
}

/** Handles the form with the code, and signs in. `step_over` tells our script that the sign-in begins again. */
export async function handleCode(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { sql, clock, addresses, webhooks } = console.service;
  const form = await readForm(request);
  const text = form.get('step') ?? '';
  const session = console.steps.read('code', text);
  const refuse = async (status: number, message: string, isOver = false) => {
    const identity = { user: session?.user ?? 'unknown' };
    await recordOutcome(console, context, status === 429 ? 'limited' : 'refused', identity);
    if (wantsJson(request))
      return jsonResponse(status, { error: { code: isOver ? 'step_over' : 'unauthorized', message } });
    return htmlResponse(console, request, status, (page) =>
      isOver ? noticePage(page, { title: 'You are not signed in', message }) : codePage(page, text, message),
    );
  };
  if (!isSameOrigin(request, addresses.publicUrl)) return refuse(403, 'This form was sent by another site.', true);
  if (session === undefined) return refuse(400, 'This sign-in took too long. Sign in again.', true);
  const { refusal } = await console.api.admission.byAddress(request, peerOf(context));
  if (refusal !== undefined) return refuse(429, 'Too many attempts. Try again in a minute.');
  const result = await checkCode(sql, webhooks.box, { user: session.user, code: form.get('code') ?? '' }, clock());
  if (result === 'limited')
    return refuse(429, 'Too many wrong codes in an hour. Use a recovery code, or try again in an hour.');
  if (result === 'wrong') return refuse(401, 'This code is wrong or was used already. Wait for the next one.');
  if (!(await console.steps.complete(text))) return refuse(400, 'This sign-in was completed already.', true);
  return startUserSession(console, context, session);
}

const codePage = (page: Page, step: string, error?: string): string =>
  renderDocument(
    page,
    `${codeTitle} · Scanlog`,
    `<body class="sign-in">
<main class="stack gap-m">
<img src="${page.bundle.mark.path}" alt="" width="56" height="56">
<h1>${codeTitle}</h1>
<form method="post" action="/console/code" class="card stack gap-m">
<input type="hidden" name="step" value="${escapeHtml(step)}">
<label for="code">${codeLabel}</label>
<input id="code" name="code" type="text" required autofocus autocomplete="one-time-code" autocapitalize="none" spellcheck="false" aria-describedby="${error === undefined ? '' : 'error '}hint"${error === undefined ? '' : ' aria-invalid="true"'}>${error === undefined ? '' : `\n<p class="error" id="error" role="alert">${escapeHtml(error)}</p>`}
<p class="hint" id="hint">${codeHint}</p>
<button class="button primary" type="submit">Sign in</button>
</form>
<p class="foot"><a href="/console">Back to sign-in</a></p>
</main>
</body>`,
  );
