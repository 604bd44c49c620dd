import { statusOf } from '../../api/http/error-status.ts';
import { type ErrorCode, invalid, Refusal } from '../../lib/errors.ts';
import { hashPassword } from '../../lib/passwords.ts';
import { VersionTaken } from '../../log/version-taken.ts';
import { problemWithPassword } from '../../people/password-rules.ts';
import { readPerson } from '../../people/users.ts';
import { type Console, htmlResponse, peerOf, type RequestContext } from '../context.ts';
import type { Page } from '../pages.ts';
import { isSameOrigin } from '../same-site.ts';
import { noticePage } from './link-page.ts';

/** Name, address and password of a form, checked, and the password hashed. Throws 400 with the first problem. */
export async function readNewPerson(
  form: URLSearchParams,
  fixedEmail?: string,
): Promise<{ name: string; email: string; password_hash: string }> {
  const person = readNewName(form, fixedEmail ?? form.get('email') ?? '');
  return { ...person, password_hash: await readNewPassword(form.get('password') ?? '', person) };
}

/** Name and address of a form, checked. Throws 400 with the first problem. */
export function readNewName(form: URLSearchParams, email: string): { name: string; email: string } {
  const { person, errors } = readPerson({ name: form.get('name') ?? '', email });
  const [first, ...more] = errors;
  if (first !== undefined) throw invalid([first, ...more]);
  return person;
}

/** The hash of a password that is good enough; throws 400. */
export async function readNewPassword(password: string, person: { name: string; email: string }): Promise<string> {
  const problem = problemWithPassword(password, person);
  if (problem !== undefined) throw invalid([{ field: 'password', message: `The password ${problem}.` }]);
  return hashPassword(password);
}

/** Shows an error of a form on its page. */
export async function orShowError(
  console: Console,
  { request }: RequestContext,
  work: () => Promise<Response>,
  render: (page: Page, message: string) => string,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const refusal = error instanceof VersionTaken ? changedMeanwhile() : error;
    if (!(refusal instanceof Refusal) || !shown.includes(refusal.code)) throw error;
    return htmlResponse(console, request, statusOf[refusal.code], (page) => render(page, sentence(refusal)));
  }
}

/** Errors that the person can do something about. */
const shown: readonly ErrorCode[] = ['invalid_request', 'conflict', 'not_found', 'quota_exceeded', 'rate_limited'];

const changedMeanwhile = () => new Refusal('conflict', 'Someone else changed the account at the same time. Try again.');

/** "name must …" as a sentence. */
const sentence = ({ message }: Refusal) => message.charAt(0).toUpperCase() + message.slice(1);

/** Forms of strangers in a minute, from one address. Each costs a hash. */
const maxForms = 20;

/** The page of a form that must not be looked at: it comes from another site, or from a client with too many. */
export async function refuseForm(
  console: Console,
  context: RequestContext,
  title: string,
): Promise<Response | undefined> {
  const { api, service } = console;
  const { request } = context;
  if (!isSameOrigin(request, service.addresses.publicUrl))
    return htmlResponse(console, request, 403, (page) =>
      noticePage(page, { title, message: 'This form was sent by another site. Open the link again.' }),
    );
  const { refusal } = await api.admission.countByAddress(request, peerOf(context), 'people', maxForms);
  if (refusal === undefined) return undefined;
  return htmlResponse(console, request, 429, (page) =>
    noticePage(page, { title, message: 'Too many attempts. Try again in a minute.' }),
  );
}
