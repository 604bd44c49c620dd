import type { Queryable } from '../lib/sql.ts';
import { mailBody } from '../mail/body.ts';
import type { Outbox } from '../mail/outbox.ts';
import type { SecurityChange } from './security-kinds.ts';

interface Told {
  user: string;
  change: SecurityChange;
  detail: string | undefined;
  /** Whether the person made the change, as far as the service knows. */
  isOwn: boolean;
  from: { device: string; browser: string } | undefined;
  email: string;
  url: string;
  now: Date;
}

/** One mail about a kind of change in this time, so that no one floods a mailbox. */
const mailEveryMs = 60_000;

/** What is told, of the changes after which someone else could sign in. The others are on the person's own page. */
const sentences: Partial<Record<SecurityChange, (detail: string) => string>> = {
  password_set: () => 'A password was set. It signs in from now on.',
  password_changed: () => 'Your password was changed. All other sessions have ended.',
  password_reset: () => 'A new password was set with a link. All sessions have ended.',
  email_changed: (to) => `Your e-mail address was changed to ${to}. This address no longer signs in.`,
  passkey_added: (name) => `A passkey was added: ${name}. It signs in without a password.`,
  codes_turned_off: () => 'One-time codes were turned off. The password alone signs in from now on.',
  recovery_codes_replaced: () => 'New recovery codes were made. The earlier ones no longer work.',
  identity_linked: (host) => `Your user was linked to an identity at ${host}, which signs in from now on.`,
};

/** Tells a person about a change that could hand over their user; others are not mailed. */
export async function mailSecurityChange(
  mail: Outbox,
  sql: Queryable,
  { user, change, detail, isOwn, from, email, url, now }: Told,
): Promise<void> {
  const sentence = sentences[change]?.(detail ?? '');
  if (sentence === undefined) return;
  const who = isOwn ? undefined : 'An operator of the service did it.';
  const where = from === undefined ? undefined : `On ${from.device}, ${from.browser}.`;
  await mail.enqueue(sql, {
    key: `security/${user}/${change}/${Math.floor(now.getTime() / mailEveryMs)}`,
    account: null,
    to: email,
    subject: 'Your sign-in to Scanlog has changed',
    ...mailBody({
      heading: 'Your sign-in has changed',
      paragraphs: [
        [sentence, who ?? [], where ?? []].flat().join(' '),
        'If that was not you, set another password, end all other sessions, and tell the operator of this service.',
      ],
      action: { label: 'See what has changed', url },
      reason: 'Every change by which someone else could sign in as you is told to you.',
    }),
  });
}
