import { findSession, type SessionUser } from '../../accounts/console-sessions.ts';
import { readForm } from '../../api/http/form.ts';
import { invalid } from '../../lib/errors.ts';
import { escapeHtml } from '../../lib/html.ts';
import { newId } from '../../lib/ids.ts';
import { acceptInvitation, findInvitation, mayCreatePerson, type OpenedInvitation } from '../../people/invitations.ts';
import { voidLink } from '../../people/links.ts';
import { switchAccount } from '../../people/sessions.ts';
import { findUserByEmail, type User } from '../../people/users.ts';
import { type Console, htmlResponse, type RequestContext, redirect } from '../context.ts';
import { sessionTokenOf } from '../cookies.ts';
import { afterPassword } from './after-password.ts';
import {
  currentPasswordField,
  nameField,
  newPasswordField,
  noticePage,
  type PersonForm,
  personPage,
} from './link-page.ts';
import { isFirstStep, linkPage, showVoid } from './link-steps.ts';
import { orShowError, readNewName, readNewPerson, refuseForm } from './new-person.ts';
import { tryPassword } from './password-sign-in.ts';

const step = { title: 'Join an account', action: '/console/invitation' };

export const serveInvitation = linkPage(step);

/** Who accepts: the person who is signed in, the person with the address, or a new one. */
type Guest =
  | { kind: 'signed_in'; user: SessionUser; sessionToken: string }
  | { kind: 'known'; user: User }
  | { kind: 'new' };

/** First shows the account and the role, then makes the person a member and signs in. */
export async function handleInvitation(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { sql, clock } = console.service;
  const form = await readForm(request);
  const refused = await refuseForm(console, context, step.title);
  if (refused !== undefined) return refused;
  const token = form.get('token') ?? '';
  const invitation = await findInvitation(sql, token, clock());
  if (invitation === undefined) return showVoid(console, context, step, voidLink());
  const guest = await guestOf(console, request, invitation);
  const message = refusalOf(console, invitation, guest);
  if (message !== undefined)
    return htmlResponse(console, request, 403, (page) => noticePage(page, { title: step.title, message }));
  const filled = { token, name: form.get('name') ?? '', hasPassword: onlyProvider(console) === undefined };
  const show = (error?: string) => formOf(invitation, guest, { ...filled, error });
  if (isFirstStep(form)) return htmlResponse(console, request, 200, (page) => personPage(page, show()));
  return orShowError(
    console,
    context,
    () => accept(console, context, form, invitation, guest),
    (page, message) => personPage(page, show(message)),
  );
}

async function guestOf({ service }: Console, { headers }: Request, { email }: OpenedInvitation): Promise<Guest> {
  const { sql, clock, addresses } = service;
  const sessionToken = sessionTokenOf(headers, addresses.publicUrl);
  const session = sessionToken === undefined ? undefined : await findSession(sql, sessionToken, clock());
  if (sessionToken !== undefined && session !== undefined && session.user !== null)
    return { kind: 'signed_in', user: session.user, sessionToken };
  const user = await findUserByEmail(sql, email);
  return user === undefined ? { kind: 'new' } : { kind: 'known', user };
}

/** The host of the provider, where people can sign in only there. */
const onlyProvider = ({ oidc }: Console) => (oidc?.settings.isOnly === true ? oidc.host : undefined);

/** Why a guest cannot accept, for the guest; undefined if nothing is in the way. */
function refusalOf(console: Console, invitation: OpenedInvitation, guest: Guest): string | undefined {
  if (guest.kind === 'new' && !mayCreatePerson(invitation, console.service.signup))
    return 'This service takes new people only by an invitation of its operator. Ask the operator for one.';
  if (guest.kind !== 'known') return undefined;
  const provider = onlyProvider(console);
  if (provider !== undefined)
    return `You have a user here, and people sign in at ${provider} only. Sign in, then open this link again.`;
  return guest.user.password_hash === null
    ? 'You have a user here, without a password. Sign in, then open this link again.'
    : undefined;
}

const mayDo = {
  owner: 'do everything in it',
  editor: 'change its codes',
  viewer: 'see everything in it and change nothing',
} as const;

function formOf(
  { account_name, email, role }: OpenedInvitation,
  guest: Guest,
  { token, name, hasPassword, error }: { token: string; name: string; hasPassword: boolean; error: string | undefined },
): PersonForm {
  const who =
    guest.kind === 'signed_in'
      ? `as ${escapeHtml(guest.user.name)}, ${escapeHtml(guest.user.email)}`
      : `as ${escapeHtml(email)}`;
  return {
    ...step,
    lead: `You are invited to <strong>${escapeHtml(account_name)}</strong> ${who}. You will be ${role}, and can ${mayDo[role]}.`,
    hidden: { token, confirmed: '1' },
    fields:
      guest.kind === 'signed_in'
        ? []
        : guest.kind === 'known'
          ? [currentPasswordField]
          : [{ ...nameField, value: name }, ...(hasPassword ? [newPasswordField] : [])],
    signsIn: guest.kind === 'known' || (guest.kind === 'new' && hasPassword),
    button: 'Join the account',
    error,
  };
}

async function accept(
  console: Console,
  context: RequestContext,
  form: URLSearchParams,
  { email, account }: OpenedInvitation,
  guest: Guest,
): Promise<Response> {
  const { sql, clock } = console.service;
  const token = form.get('token') ?? '';
  const next = { next: '/console', isOwnDevice: form.has('own_device'), account };
  if (guest.kind === 'signed_in') {
    await acceptInvitation(sql, token, guest.user.id, clock());
    // No new session: that would count as a proof of who the person is, and a link that anyone can send is none.
    await switchAccount(sql, guest.sessionToken, account);
    return redirect('/console');
  }
  if (guest.kind === 'known') {
    const { isRight, refusal } = await tryPassword(console, context, email, form.get('password') ?? '');
    if (refusal !== undefined) throw refusal;
    if (!isRight) throw invalid([{ field: 'password', message: 'The password is wrong.' }]);
    const { user } = await acceptInvitation(sql, token, guest.user.id, clock());
    return afterPassword(console, context, { ...next, user });
  }
  const now = clock();
  const id = newId('usr', now.getTime());
  const provider = onlyProvider(console);
  if (provider === undefined) {
    await acceptInvitation(sql, token, { ...(await readNewPerson(form, email)), id }, now);
    return afterPassword(console, context, { ...next, user: id, by: 'link' });
  }
  await acceptInvitation(sql, token, { ...readNewName(form, email), id, password_hash: null }, now);
  return htmlResponse(console, context.request, 200, (page) =>
    noticePage(page, { title: 'You have joined', message: `Sign in at ${provider} now.`, isGood: true }),
  );
}
