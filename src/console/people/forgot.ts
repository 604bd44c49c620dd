import { hashOfKey } from '../../accounts/keys.ts';
import { readForm } from '../../api/http/form.ts';
import { messageOf } from '../../lib/errors.ts';
import { createLink, urlOfLink } from '../../people/links.ts';
import { mailReset } from '../../people/mails.ts';
import { findUserByEmail } from '../../people/users.ts';
import { type Console, htmlResponse, type RequestContext } from '../context.ts';
import { emailField, noticePage, personPage } from './link-page.ts';
import { refuseForm } from './new-person.ts';

const title = 'Forgot your password?';
const form = {
  title,
  lead: 'We mail you a link that sets a new one.',
  action: '/console/forgot',
  hidden: {},
  fields: [emailField],
  button: 'Mail the link',
  signsIn: false,
};

/** Whether people can ask for a link by themselves. */
export const mailsLinks = ({ service, oidc }: Pick<Console, 'service' | 'oidc'>): boolean =>
  service.mail !== undefined && oidc?.settings.isOnly !== true;

const withoutMail = (console: Console, { request }: RequestContext) =>
  htmlResponse(console, request, 404, (page) =>
    noticePage(page, { title, message: 'This service sends no mail: ask its operator for a link.' }),
  );

export const serveForgot = (console: Console, context: RequestContext): Promise<Response> =>
  mailsLinks(console)
    ? htmlResponse(console, context.request, 200, (page) => personPage(page, form))
    : withoutMail(console, context);

/** Mails a link to the person. Response and duration are the same for an address that no one has. */
export async function handleForgot(console: Console, context: RequestContext): Promise<Response> {
  const given = await readForm(context.request);
  const refused = await refuseForm(console, context, title);
  if (refused !== undefined) return refused;
  if (!mailsLinks(console)) return withoutMail(console, context);
  mailLink(console, given.get('email') ?? '').catch((error) =>
    console.log.warn({ error: messageOf(error) }, 'a link for a new password could not be mailed'),
  );
  return htmlResponse(console, context.request, 200, (page) =>
    noticePage(page, {
      title: 'Look into your mailbox',
      message: 'If a person has this address, a link is on its way. You get one every five minutes at most.',
      isGood: true,
    }),
  );
}

async function mailLink({ service }: Console, address: string): Promise<void> {
  const { sql, clock, mail, addresses } = service;
  const person = await findUserByEmail(sql, address);
  if (mail === undefined || person === undefined || person.disabled_at !== null) return;
  const { id: user, email } = person;
  const now = clock();
  await sql.begin(async (tx) => {
    const { token } = await createLink(tx, 'reset', { user, email }, now);
    const url = urlOfLink(addresses.publicUrl, 'reset', token);
    const queued = await mailReset(mail, tx, { user, email, url, now });
    if (queued !== 'queued') await tx`DELETE FROM one_time_links WHERE hash = ${hashOfKey(token)}`;
  });
}
