import { problemWithName } from '../../../events/fields.ts';
import { hashOfKey } from '../../accounts/keys.ts';
import { readForm } from '../../api/http/form.ts';
import { invalid, messageOf } from '../../lib/errors.ts';
import { createLink, findLink, urlOfLink, voidLink } from '../../people/links.ts';
import { mailConfirmation, mailKnownAddress } from '../../people/mails.ts';
import { signUp } from '../../people/sign-up.ts';
import { findUserByEmail, problemWithEmail } from '../../people/users.ts';
import { type Console, htmlResponse, peerOf, type RequestContext } from '../context.ts';
import { afterPassword } from './after-password.ts';
import {
  emailField,
  type Field,
  nameField,
  newPasswordField,
  noticePage,
  type PersonForm,
  personPage,
} from './link-page.ts';
import { isFirstStep, linkPage, showVoid } from './link-steps.ts';
import { orShowError, readNewPerson, refuseForm } from './new-person.ts';

const title = 'Create an account';
const step = { title, action: '/console/confirm' };
/** Accounts in a minute, from one address. */
const maxSignUps = 5;

const accountField: Field = {
  name: 'account',
  label: 'Name of the account',
  type: 'text',
  autocomplete: 'organization',
  hint: 'Of your company or project. Others can join it later.',
};

const lead = 'Manage your QR codes and see every scan.';

/** All at once, where no mail can confirm the address. */
const wholeForm = (form: URLSearchParams, error?: string): PersonForm => ({
  title,
  lead,
  action: '/console/sign-up',
  hidden: {},
  fields: [...filled(form, [nameField, emailField, accountField]), newPasswordField],
  button: title,
  error,
});

const addressForm = (form: URLSearchParams, error?: string): PersonForm => ({
  title,
  lead: `${lead} We mail you a link to go on.`,
  action: '/console/sign-up',
  hidden: {},
  fields: filled(form, [emailField]),
  button: 'Mail the link',
  signsIn: false,
  error,
});

const confirmedForm = (form: URLSearchParams, email: string, error?: string): PersonForm => ({
  ...step,
  lead,
  hidden: { token: form.get('token') ?? '', username: email },
  fields: [...filled(form, [nameField, accountField]), newPasswordField],
  button: title,
  error,
});

const filled = (form: URLSearchParams, fields: Field[]) =>
  fields.map((field) => ({ ...field, value: form.get(field.name) ?? '' }));

/** With OIDC_ONLY, the password of a new person would not sign in. */
const isOpen = ({ service, oidc }: Console) => service.signup === 'open' && oidc?.settings.isOnly !== true;

const closed = (console: Console, { request }: RequestContext) =>
  htmlResponse(console, request, 403, (page) =>
    noticePage(page, { title, message: 'This service takes new people only by invitation.' }),
  );

const formOf = ({ service }: Console) => (service.mail === undefined ? wholeForm : addressForm);

export const serveSignUp = (console: Console, context: RequestContext): Promise<Response> =>
  isOpen(console)
    ? htmlResponse(console, context.request, 200, (page) => personPage(page, formOf(console)(new URLSearchParams())))
    : closed(console, context);

/** Creates a person and an account of their own, and signs in; with SMTP_URL, first mails a link that confirms the address. */
export async function handleSignUp(console: Console, context: RequestContext): Promise<Response> {
  const form = await readForm(context.request);
  const refused = await refuseForm(console, context, title);
  if (refused !== undefined) return refused;
  if (!isOpen(console)) return closed(console, context);
  return orShowError(
    console,
    context,
    async () =>
      console.service.mail === undefined ? create(console, context, form) : mailLink(console, context, form),
    (page, message) => personPage(page, formOf(console)(form, message)),
  );
}

export const serveConfirmation = linkPage(step);

/** What the mailed link opens: the rest of the form. */
export async function handleConfirmation(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { sql, clock } = console.service;
  const form = await readForm(request);
  const refused = await refuseForm(console, context, title);
  if (refused !== undefined) return refused;
  if (!isOpen(console)) return closed(console, context);
  const token = form.get('token') ?? '';
  const email = (await findLink(sql, 'confirm', token, clock()))?.email ?? undefined;
  if (email === undefined) return showVoid(console, context, step, voidLink());
  if (isFirstStep(form))
    return htmlResponse(console, request, 200, (page) => personPage(page, confirmedForm(form, email)));
  return orShowError(
    console,
    context,
    () => create(console, context, form, { email, token }),
    (page, message) => personPage(page, confirmedForm(form, email, message)),
  );
}

async function create(
  console: Console,
  context: RequestContext,
  form: URLSearchParams,
  confirmed?: { email: string; token: string },
): Promise<Response> {
  const { sql, clock, signupPlan: plan } = console.service;
  const name = (form.get('account') ?? '').trim();
  const problem = problemWithName(name);
  if (problem !== undefined) throw invalid([{ field: 'account', message: `The name of the account ${problem}.` }]);
  const person = await readNewPerson(form, confirmed?.email);
  await countSignUp(console, context);
  const { user } = await signUp(sql, person, { name, plan }, { now: clock(), confirmation: confirmed?.token });
  return afterPassword(console, context, { user, next: '/console', isOwnDevice: form.has('own_device') });
}

async function countSignUp({ api }: Console, context: RequestContext): Promise<void> {
  const peer = peerOf(context);
  const { refusal } = await api.admission.countByAddress(context.request, peer, 'sign-up', maxSignUps, 'accounts');
  if (refusal !== undefined) throw refusal;
}

/** Response and duration do not tell whether someone has the address. */
async function mailLink(console: Console, context: RequestContext, form: URLSearchParams): Promise<Response> {
  const email = (form.get('email') ?? '').trim();
  const problem = problemWithEmail(email);
  if (problem !== undefined) throw invalid([{ field: 'email', message: `email ${problem}.` }]);
  await countSignUp(console, context);
  mailTo(console, email).catch((error) =>
    console.log.warn({ error: messageOf(error) }, 'a link for a new account could not be mailed'),
  );
  return htmlResponse(console, context.request, 200, (page) =>
    noticePage(page, {
      title: 'Look into your mailbox',
      message: 'A link is on its way. You get one every five minutes at most.',
      isGood: true,
    }),
  );
}

async function mailTo({ service }: Console, email: string): Promise<void> {
  const { sql, clock, mail, addresses } = service;
  if (mail === undefined) return;
  const now = clock();
  if ((await findUserByEmail(sql, email)) !== undefined) {
    await mailKnownAddress(mail, sql, { email, url: `${addresses.publicUrl}/console`, now });
    return;
  }
  await sql.begin(async (tx) => {
    const { token } = await createLink(tx, 'confirm', { email }, now);
    const url = urlOfLink(addresses.publicUrl, 'confirm', token);
    const queued = await mailConfirmation(mail, tx, { email, url, now });
    if (queued !== 'queued') await tx`DELETE FROM one_time_links WHERE hash = ${hashOfKey(token)}`;
  });
}
