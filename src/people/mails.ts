import { operator } from '../../events/recorded.ts';
import type { Role } from '../../events/roles.ts';
import type { Queryable } from '../lib/sql.ts';
import { mailBody } from '../mail/body.ts';
import type { Outbox, Queued } from '../mail/outbox.ts';

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

export const mailInvitation = (
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

/** Tells a person who has signed up already, and who alone learns it. */
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
      reason: 'Every sign-in on a new device is told to the person.',
    }),
  });
