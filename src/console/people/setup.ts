import { readForm } from '../../api/http/form.ts';
import { voidLink } from '../../people/links.ts';
import { isSetupLink, setUp } from '../../people/setup.ts';
import { type Console, htmlResponse, type RequestContext } from '../context.ts';
import { afterPassword } from './after-password.ts';
import { emailField, nameField, newPasswordField, personPage } from './link-page.ts';
import { isFirstStep, linkPage, showVoid } from './link-steps.ts';
import { orShowError, readNewPerson, refuseForm } from './new-person.ts';

const step = { title: 'Set up Scanlog', action: '/console/setup' };

export const serveSetup = linkPage(step);

/** First shows the form of the first user, then creates the user and signs in. */
export async function handleSetup(console: Console, context: RequestContext): Promise<Response> {
  const { request } = context;
  const { sql, clock } = console.service;
  const form = await readForm(request);
  const refused = await refuseForm(console, context, step.title);
  if (refused !== undefined) return refused;
  const token = form.get('token') ?? '';
  if (!(await isSetupLink(sql, token, clock()))) return showVoid(console, context, step, voidLink());
  const show = (error?: string) => ({
    ...step,
    lead: 'You will be the operator of this service, and owner of its first account.',
    hidden: { token },
    fields: [
      { ...nameField, value: form.get('name') ?? '' },
      { ...emailField, value: form.get('email') ?? '' },
      newPasswordField,
    ],
    button: 'Create the first user',
    error,
  });
  if (isFirstStep(form)) return htmlResponse(console, request, 200, (page) => personPage(page, show()));
  return orShowError(
    console,
    context,
    async () => {
      const user = await setUp(sql, token, await readNewPerson(form), clock());
      return afterPassword(console, context, {
        user,
        by: 'link',
        next: '/console',
        isOwnDevice: form.has('own_device'),
      });
    },
    (page, message) => personPage(page, show(message)),
  );
}
