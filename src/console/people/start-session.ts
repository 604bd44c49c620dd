import type { SignInMeans } from '../../../events/session.ts';
import { deviceCookieOf, isKnownDevice, readDevice } from '../../people/devices.ts';
import { mailNewDevice } from '../../people/mails.ts';
import { accountToOpen, openUserSession } from '../../people/sessions.ts';
import { findUser, type User } from '../../people/users.ts';
import { bootstrapFor } from '../bootstrap.ts';
import { type Console, htmlResponse, jsonResponse, type RequestContext, redirect, wantsJson } from '../context.ts';
import { deviceCookie, deviceOf, sessionCookie, sessionTokenOf } from '../cookies.ts';
import { describeDevice } from '../device-name.ts';
import { recordOutcome } from '../sign-in-outcome.ts';
import { noticePage } from './link-page.ts';

export interface UserSession {
  user: string;
  by: Exclude<SignInMeans, 'key'>;
  /** A path of the console, as `safeNext` returns it. */
  next: string;
  isOwnDevice: boolean;
  /** The account to open; by default the one of the last session. */
  account?: string | undefined;
  /** When the person proved who they are; by default now. */
  provenAt?: Date | undefined;
}

/**
 * Signs in a person who has proven who they are: opens a session in the account of the last one, sets the cookies, and answers
 * with JSON for our script, else with a redirect. A disabled person, and one without an account, gets a page that says so.
 */
export async function startUserSession(
  console: Console,
  context: RequestContext,
  { user, by, next, isOwnDevice, account: wanted, provenAt }: UserSession,
): Promise<Response> {
  const { request } = context;
  const { sql, clock, addresses, webhooks, mail } = console.service;
  const { publicUrl } = addresses;
  const person = await findUser(sql, user);
  const account = wanted ?? (await accountToOpen(sql, user));
  if (person === undefined || person.disabled_at !== null || account === undefined)
    return refuse(console, context, person, user);
  const device = readDevice(deviceOf(request.headers, publicUrl));
  const described = describeDevice(request.headers.get('user-agent') ?? '');
  // The first sign-in of a person needs no warning.
  const isNewDevice = person.last_signed_in_at !== null && !isKnownDevice(webhooks.box, device, user);
  const opened = await openUserSession(
    sql,
    { user, account },
    {
      by,
      provenAt,
      token: sessionTokenOf(request.headers, publicUrl),
      isOwnDevice,
      isNewDevice,
      ...described,
      now: clock(),
    },
  );
  // The person is no member of the account that the form names, or was removed meanwhile.
  if (opened === undefined) return refuse(console, context, person, user, wanted);
  const { session, token } = opened;
  await recordOutcome(console, context, 'signed_in', { user, account: session.account.id, by });
  if (isNewDevice && mail !== undefined)
    await mailNewDevice(mail, sql, {
      session: session.id,
      email: person.email,
      url: `${publicUrl}/console/you`,
      ...described,
    });
  const cookies = [
    sessionCookie(token, session.is_own_device, publicUrl),
    deviceCookie(deviceCookieOf(webhooks.box, device, user), publicUrl),
  ];
  if (wantsJson(request)) return jsonResponse(200, await bootstrapFor(console, session), ...cookies);
  return redirect(next, ...cookies);
}

async function refuse(
  console: Console,
  context: RequestContext,
  person: User | undefined,
  user: string,
  wanted?: string,
): Promise<Response> {
  await recordOutcome(console, context, 'refused', { user });
  const isDisabled = person === undefined || person.disabled_at !== null;
  const message = isDisabled
    ? 'The operator of this service has disabled your user. Ask the operator why.'
    : wanted === undefined
      ? 'You are a member of no account. Ask the owner of an account to invite you.'
      : 'You are not a member of this account. Ask its owner to invite you.';
  if (wantsJson(context.request)) return jsonResponse(403, { error: { code: 'unauthorized', message } });
  return htmlResponse(console, context.request, 403, (page) =>
    noticePage(page, { title: 'You cannot sign in', message }),
  );
}
