import { operator } from '../../events/recorded.ts';
import type { Role } from '../../events/roles.ts';
import { Refusal } from '../lib/errors.ts';
import type { Queryable } from '../lib/sql.ts';
import { mailBody } from '../mail/body.ts';
import type { Outbox, Queued } from '../mail/outbox.ts';
import type { Invitation } from './invitations.ts';

/** Mails to people about their sign-in. Without SMTP_URL there is no outbox, and links are copied instead. */

interface InvitedPerson {
  id: string;
  invited_by: string;
  account: string;
  account_name: string;
  email: string;
  role: Role;
  url: string;
}

/** Invitations that one account can have mailed in a day, and those to one address: anyone's address can be entered. */
export const maxInvitationMails = 100;
export const maxInvitationMailsToOne = 3;
const dayMs = 86_400_000;

/** Mails an invitation; throws 429 if the account has mailed too many. Those of the operator have no limit. */
export async function mailInvitation(
  mail: Outbox,
  sql: Queryable,
  invitation: InvitedPerson & Pick<Invitation, 'created_at' | 'invited_by'>,
): Promise<Queued> {
  if (invitation.invited_by !== operator) await refuseBeyond(sql, invitation);
  return enqueueInvitation(mail, sql, invitation);
}

async function refuseBeyond(
  sql: Queryable,
  { account, email, created_at }: Pick<Invitation, 'account' | 'email' | 'created_at'>,
): Promise<void> {
  const since = new Date(created_at.getTime() - dayMs);
  const [sent] = await sql<[{ all: number; to_one: number }]>`
    SELECT count(*)::int AS all, (count(*) FILTER (WHERE lower(recipient) = lower(${email})))::int AS to_one FROM mails
    WHERE account = ${account} AND (ended_at IS NULL OR ended_at > ${since}) AND created_at > ${since}
      AND starts_with(key, 'invitation/')`;
  if (sent.to_one >= maxInvitationMailsToOne)
    throw tooMany(`${email} was mailed ${maxInvitationMailsToOne} invitations to this account in the last 24 hours`);
  if (sent.all >= maxInvitationMails)
    throw tooMany(`This account has mailed ${maxInvitationMails} invitations in the last 24 hours`);
}

const tooMany = (what: string) =>
  new Refusal('rate_limited', `${what}: try again tomorrow.`, undefined, { 'retry-after': '3600' });

const enqueueInvitation = (
  mail: Outbox,
  sql: Queryable,
  { id, invited_by, account, account_name, email, role, url }: InvitedPerson,
): Promise<Queued> =>
  mail.enqueue(sql, {
    key: `invitation/${id}`,
    account,
    to: email,
    subject: `Join ${account_name} on Scanlog`,
    ...mailBody({
      heading: `Join ${account_name}`,
      paragraphs: [
        `You are invited to manage the QR codes of ${account_name}, as ${role}.`,
        'The link works once, for 7 days.',
      ],
      action: { label: 'Join', url },
      reason: `${invited_by === operator ? 'The operator of this service' : `An owner of ${account_name}`} entered your address. If you do not know them, ignore this mail.`,
    }),
  });

/** How often an address can get a link. */
const linkEveryMs = 5 * 60_000;

interface ResetLink {
  user: string;
  email: string;
  url: string;
  now: Date;
}

const resetMail = ({ email, url }: ResetLink, key: string, reason: string) => ({
  key,
  account: null,
  to: email,
  subject: 'Set a new password for Scanlog',
  ...mailBody({
    heading: 'Set a new password',
    paragraphs: ['The link works once, for 24 hours. It ends all your sessions.'],
    action: { label: 'Set a new password', url },
    reason,
  }),
});

/** For a person who forgot the password. */
export const mailReset = (mail: Outbox, sql: Queryable, link: ResetLink): Promise<Queued> =>
  mail.enqueue(
    sql,
    resetMail(
      link,
      `reset/${link.user}/${Math.floor(link.now.getTime() / linkEveryMs)}`,
      'Your address was entered on the sign-in page. If that was not you, ignore this mail: nothing has changed.',
    ),
  );

/** For a person for whom an operator has created the link. */
export const mailOperatorsReset = (mail: Outbox, sql: Queryable, link: ResetLink): Promise<Queued> =>
  mail.enqueue(
    sql,
    resetMail(
      link,
      `reset/${link.user}/operator/${link.now.getTime()}`,
      'An operator of this service created the link for you. If you did not ask for it, ask the operator why.',
    ),
  );

/** Asks a new person to confirm the address. */
export const mailConfirmation = (
  mail: Outbox,
  sql: Queryable,
  { email, url, now }: { email: string; url: string; now: Date },
): Promise<Queued> =>
  mail.enqueue(sql, {
    key: signUpKey(email, now),
    account: null,
    to: email,
    subject: 'Confirm your address for Scanlog',
    ...mailBody({
      heading: 'Create your account',
      paragraphs: ['The link works once, for 24 hours.'],
      action: { label: 'Go on', url },
      reason: 'Your address was entered to create an account. If that was not you, ignore this mail.',
    }),
  });

/** Informs a person that the address has signed up already, which the page does not show. */
export const mailKnownAddress = (
  mail: Outbox,
  sql: Queryable,
  { email, url, now }: { email: string; url: string; now: Date },
): Promise<Queued> =>
  mail.enqueue(sql, {
    key: signUpKey(email, now),
    account: null,
    to: email,
    subject: 'You have a user at Scanlog already',
    ...mailBody({
      heading: 'You have a user already',
      paragraphs: ['Sign in with this address. There you can also have a link mailed that sets a new password.'],
      action: { label: 'Sign in', url },
      reason: 'Your address was entered to create an account. If that was not you, ignore this mail.',
    }),
  });

const signUpKey = (email: string, now: Date) =>
  `sign-up/${email.toLowerCase()}/${Math.floor(now.getTime() / linkEveryMs)}`;

interface NewDevice {
  session: string;
  email: string;
  device: string;
  browser: string;
  url: string;
}

export const mailNewDevice = (
  mail: Outbox,
  sql: Queryable,
  { session, email, device, browser, url }: NewDevice,
): Promise<Queued> =>
  mail.enqueue(sql, {
    key: `new-device/${session}`,
    account: null,
    to: email,
    subject: 'New sign-in to Scanlog',
    ...mailBody({
      heading: 'New sign-in',
      paragraphs: [
        `You signed in on a device for the first time: ${device}, ${browser}.`,
        'If that was not you, end the session and set another password.',
      ],
      action: { label: 'See your sessions', url },
      reason: 'You get this mail after every sign-in on a new device.',
    }),
  });
