import type { Role } from '../../events/member.ts';
import { operator } from '../../events/recorded.ts';
import { StartError } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { createInvitation } from '../people/invitations.ts';
import { urlOfLink } from '../people/links.ts';
import { addMember } from '../people/members.ts';
import { findUserByEmail, problemWithEmail } from '../people/users.ts';
import { findPublicUrl } from './connection.ts';
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
  link?: { url: string; expires_at: Date };
}

/** Makes a person member of an account as the operator; one who does not exist yet gets a link. */
export async function admit(
  sql: Sql,
  data: string,
  { email, account, role }: { email: string; account: string; role: Role },
): Promise<Admitted> {
  const by = { actor: operator, now: new Date() };
  const user = await findUserByEmail(sql, email);
  if (user !== undefined) {
    await addMember(sql, account, user.id, role, by);
    return { email, role };
  }
  const { token, expires_at } = await createInvitation(sql, account, { email, role }, by);
  return { email, role, link: { url: urlOfLink(findPublicUrl(data), 'invitation', token), expires_at } };
}

export const presentAdmitted = ({ email, role, link }: Admitted) => ({
  email,
  role,
  ...(link === undefined ? {} : { url: link.url, expires_at: link.expires_at.toISOString() }),
});

export function printAdmitted({ email, role, link }: Admitted): void {
  if (link === undefined) return void print(`\n${email} is ${role} of the account.`);
  print(`\n${email} becomes ${role} of the account with this link, once, until ${link.expires_at.toISOString()}:\n`);
  print(`  ${bold(link.url)}`);
}
