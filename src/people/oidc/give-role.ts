import type { Role } from '../../../events/member.ts';
import { service } from '../../../events/recorded.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Sql } from '../../lib/sql.ts';
import { addMember, changeRole } from '../members.ts';
import type { FoundPerson } from './find-person.ts';
import type { RoleGiven } from './roles.ts';

/**
 * Gives a person the role that the groups of the provider give. Without groups, known people keep what they have. Returns false
 * if the person is the last owner of the account, and therefore stays owner.
 */
export async function giveRole(
  sql: Sql,
  account: string,
  { user, how }: FoundPerson,
  { by, role }: RoleGiven,
  now: Date,
): Promise<boolean> {
  if (role === undefined) return true;
  const [member] = await sql<{ role: Role }[]>`
    SELECT role FROM members WHERE account = ${account} AND user_id = ${user}`;
  if (member === undefined) {
    // Who was removed by an owner comes back by a group only.
    if (by === 'groups' || how !== 'known') await addMember(sql, account, user, role, { actor: user, now });
    return true;
  }
  if (by === 'default' || member.role === role) return true;
  try {
    await changeRole(sql, account, user, role, { actor: service, now });
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'last_owner') return false;
    throw error;
  }
}
