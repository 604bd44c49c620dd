import type { Role } from '../../events/member.ts';
import { operator } from '../../events/recorded.ts';
import { findAccount } from '../accounts/accounts.ts';
import { StartError } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { createInvitation } from '../people/invitations.ts';
import { urlOfLink } from '../people/links.ts';
import { mailInvitation } from '../people/mails.ts';
import { addMember } from '../people/members.ts';
import { findUserByEmail, problemWithEmail } from '../people/users.ts';
import { findMail, findPublicUrl } from './connection.ts';
import { bold, print } from './terminal.ts';

/** Returns the address without surrounding spaces. */
export function readEmail(text: string): string {
  const email = text.trim();
  const problem = problemWithEmail(email);
  if (problem !== undefined) throw new StartError(`The address ${problem}.`);
  return email;
}

/** A person who was made a member, or the link that does it. */
export interface Admitted {
  email: string;
  role: Role;
  /** Undefined for a person who is a member now. */
  link?: { url: string; expires_at: Date; isMailed: boolean };
}

/** Makes a person member of an account as the operator; one who does not exist yet gets a link, also by mail with SMTP_URL. */
export async function admit(
  sql: Sql,
  data: string,
  { email, account, role }: { email: string; account: string; role: Role },
): Promise<Admitted> {
  const by = { actor: operator, now: new Date() };
  const user = await findUserByEmail(sql, email);
  // Anyone can enter an address: who has not confirmed it gets a link, too, which you give to the right person.
  if (user !== undefined && (user.is_operator || user.email_confirmed_at !== null)) {
    await addMember(sql, account, user.id, role, by);
    return { email, role };
  }
  const { token, ...invitation } = await createInvitation(sql, account, { email, role }, by);
  const url = urlOfLink(findPublicUrl(data), 'invitation', token);
  const account_name = (await findAccount(sql, account))?.name ?? '';
  const mail = findMail(data);
  const queued = mail && (await mailInvitation(mail.outbox, sql, { ...invitation, account_name, url }));
  return { email, role, link: { url, expires_at: invitation.expires_at, isMailed: queued === 'queued' } };
}

export const presentAdmitted = ({ email, role, link }: Admitted) => ({
  email,
  role,
  ...(link === undefined ? {} : { url: link.url, expires_at: link.expires_at.toISOString(), is_mailed: link.isMailed }),
});

export function printAdmitted({ email, role, link }: Admitted): void {
  if (link === undefined) return void print(`\n${email} is ${role} of the account.`);
  print(`\n${email} becomes ${role} of the account with this link, once, until ${link.expires_at.toISOString()}:\n`);
  print(`  ${bold(link.url)}`);
  if (link.isMailed) print(`\nIt is mailed to ${email}, too.`);
}
