import { problemWithName } from '../../../events/fields.ts';
import { readForm } from '../../api/http/form.ts';
import { invalid } from '../../lib/errors.ts';
import { signUp } from '../../people/sign-up.ts';
import { type Console, htmlResponse, peerOf, type RequestContext } from '../context.ts';
import { afterPassword } from './after-password.ts';
import { emailField, type Field, nameField, newPasswordField, noticePage, personPage } from './link-page.ts';
import { orShowError, readNewPerson, refuseForm } from './new-person.ts';

const title = 'Create an account';
/** Accounts in a minute, from one address. */
const maxSignUps = 5;

const accountField: Field = {
  name: 'account',
  label: 'Name of the account',
  type: 'text',
  autocomplete: 'organization',
  hint: 'Of your company or project. Others can join it later.',
};

const formOf = (form: URLSearchParams, error?: string) => ({
  title,
  lead: 'Manage your QR codes and see every scan.',
  action: '/console/sign-up',
  hidden: {},
  fields: [
    ...[nameField, emailField, accountField].map((field) => ({ ...field, value: form.get(field.name) ?? '' })),
    newPasswordField,
  ],
  button: title,
  error,
});

/** With OIDC_ONLY, the password of a new person would not sign in. */
const isOpen = ({ service, oidc }: Console) => service.signup === 'open' && oidc?.settings.isOnly !== true;

const closed = (console: Console, { request }: RequestContext) =>
  htmlResponse(console, request, 403, (page) =>
    noticePage(page, { title, message: 'This service takes new people only by invitation.' }),
  );

export const serveSignUp = (console: Console, context: RequestContext): Promise<Response> =>
  isOpen(console)
    ? htmlResponse(console, context.request, 200, (page) => personPage(page, formOf(new URLSearchParams())))
    : closed(console, context);

/** Creates a person and an account of their own, and signs in. */
export async function handleSignUp(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { sql, clock, signupPlan: plan } = console.service;
  const form = await readForm(request);
  const refused = await refuseForm(console, context, title);
  if (refused !== undefined) return refused;
  if (!isOpen(console)) return closed(console, context);
  return orShowError(
    console,
    context,
    async () => {
      const name = (form.get('account') ?? '').trim();
      const problem = problemWithName(name);
      if (problem !== undefined) throw invalid([{ field: 'account', message: `The name of the account ${problem}.` }]);
      const person = await readNewPerson(form);
      const peer = peerOf(context);
      const { refusal } = await console.api.admission.countByAddress(request, peer, 'sign-up', maxSignUps, 'accounts');
      if (refusal !== undefined) throw refusal;
      const { user } = await signUp(sql, person, { name, plan }, clock());
      const isOwnDevice = form.has('own_device');
      return afterPassword(console, context, { user, next: '/console', isOwnDevice });
    },
    (page, message) => personPage(page, formOf(form, message)),
  );
}
