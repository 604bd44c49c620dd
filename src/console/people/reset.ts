import { endSessionsOf } from '../../accounts/other-sessions.ts';
import { readForm } from '../../api/http/form.ts';
import { escapeHtml } from '../../lib/html.ts';
import { confirmAddress } from '../../people/credentials.ts';
import { findLink, useUpLink, voidLink } from '../../people/links.ts';
import { noteChange } from '../../people/security-changes.ts';
import { findUser, storePassword } from '../../people/users.ts';
import { type Console, htmlResponse, type RequestContext } from '../context.ts';
import { afterPassword } from './after-password.ts';
import { newPasswordField, personPage } from './link-page.ts';
import { isFirstStep, linkPage, showVoid } from './link-steps.ts';
import { orShowError, readNewPassword, refuseForm } from './new-person.ts';
import { originOf } from './origin.ts';

const step = { title: 'Set a new password', action: '/console/reset' };

export const serveReset = linkPage(step);

/** First shows whose password it is, then sets it, ends all sessions of the person, and signs in. */
export async function handleReset(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { sql, clock } = console.service;
  const form = await readForm(request);
  const refused = await refuseForm(console, context, step.title);
  if (refused !== undefined) return refused;
  const token = form.get('token') ?? '';
  const link = await findLink(sql, 'reset', token, clock());
  const user = link?.user_id ? await findUser(sql, link.user_id) : undefined;
  const mailedTo = link?.email?.toLowerCase();
  // A link that was mailed to an address which is no longer the person's sets nothing.
  if (user === undefined || (mailedTo !== undefined && mailedTo !== user.email.toLowerCase()))
    return showVoid(console, context, step, voidLink());
  const show = (error?: string) => ({
    ...step,
    lead: `For ${escapeHtml(user.name)}, ${escapeHtml(user.email)}. All your sessions are ended.`,
    hidden: { token, username: user.email },
    fields: [newPasswordField],
    button: 'Set the password',
    error,
  });
  if (isFirstStep(form)) return htmlResponse(console, request, 200, (page) => personPage(page, show()));
  return orShowError(
    console,
    context,
    async () => {
      const passwordHash = await readNewPassword(form.get('password') ?? '', user);
      const now = clock();
      await sql.begin(async (tx) => {
        await useUpLink(tx, 'reset', token, now);
        await storePassword(tx, user.id, passwordHash);
        const origin = originOf(console.service, request.headers, user.id);
        await noteChange(tx, { user: user.id, change: 'password_reset' }, origin);
        await confirmAddress(tx, user.id, origin);
      });
      await endSessionsOf(sql, user.id, { actor: user.id, now, cause: 'other_session' });
      const isOwnDevice = form.has('own_device');
      return afterPassword(console, context, { user: user.id, by: 'link', next: '/console', isOwnDevice });
    },
    (page, message) => personPage(page, show(message)),
  );
}
