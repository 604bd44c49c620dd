import { problemWithName } from '../../../events/fields.ts';
import { joinAccount, type Role } from '../../../events/member.ts';
import { newId } from '../../lib/ids.ts';
import type { Queryable, Sql, Transaction } from '../../lib/sql.ts';
import { violates } from '../../log/connect.ts';
import { removeUnconfirmed } from '../credentials.ts';
import { changeMembers, requireRoom } from '../members.ts';
import { noteChange, type Origin } from '../security-changes.ts';
import { problemWithEmail } from '../users.ts';
import type { Identity } from './provider.ts';

/** Why an identity cannot sign in, though the provider vouches for it. */
export type PersonRefusal =
  /** A person here has the address, but the provider has not verified it. */
  | 'email_not_verified'
  /** The person with this address signs in with another identity of the provider. */
  | 'other_identity'
  /** There is no such person, and the settings create none. */
  | 'unknown'
  /** A new person needs an address, and the provider sent no valid one. */
  | 'no_email';

export interface FoundPerson {
  user: string;
  /** Known before, linked by the address, or created. */
  how: 'known' | 'linked' | 'created';
}

/** Where a new person becomes a member, and as what. */
export interface Joining {
  account: string;
  role: Role;
}

/**
 * The person of an identity. Issuer and subject identify it; by its address it is linked to a person only if the provider
 * has verified that, and if the person has no other identity there. With `joining`, a person that is not found is created.
 */
export async function findPerson(
  sql: Sql,
  identity: Identity,
  { joining, origin }: { joining: Joining | undefined; origin: Omit<Origin, 'actor'> },
): Promise<FoundPerson | { refused: PersonRefusal }> {
  const { now } = origin;
  const found = await findKnown(sql, identity, origin);
  if (found !== undefined) return found;
  if (joining === undefined) return { refused: 'unknown' };
  const { name, email = '' } = identity;
  if (problemWithEmail(email) !== undefined) return { refused: 'no_email' };
  const hasName = name !== undefined && problemWithName(name) === undefined;
  try {
    return await createPerson(sql, { ...identity, name: hasName ? name : email, email }, joining, now);
  } catch (error) {
    // Another sign-in has created the same person meanwhile.
    if (!violates(error, 'users_email') && !violates(error, 'user_identities_pkey')) throw error;
    return (await findKnown(sql, identity, origin)) ?? { refused: 'other_identity' };
  }
}

const findKnown = (sql: Sql, identity: Identity, from: Omit<Origin, 'actor'>) =>
  sql.begin(async (tx): Promise<FoundPerson | { refused: PersonRefusal } | undefined> => {
    const { issuer, subject, email, isEmailVerified } = identity;
    const { now } = from;
    const [known] = await tx<{ user_id: string }[]>`
      UPDATE user_identities SET last_used_at = ${now} WHERE issuer = ${issuer} AND subject = ${subject} RETURNING user_id`;
    if (known !== undefined) return { user: known.user_id, how: 'known' };
    const [owner] = email === undefined ? [] : await findByEmail(tx, email, issuer);
    if (owner === undefined) return undefined;
    if (!isEmailVerified) return { refused: 'email_not_verified' };
    if (owner.has_identity) return { refused: 'other_identity' };
    const origin = { ...from, actor: owner.id };
    await removeUnconfirmed(tx, owner.id, origin);
    await insertIdentity(tx, identity, owner.id, now);
    const detail = new URL(issuer).host;
    await noteChange(tx, { user: owner.id, change: 'identity_linked', detail }, origin);
    return { user: owner.id, how: 'linked' };
  });

/** Locks the person, so that two identities cannot be linked at the same time. */
const findByEmail = (tx: Transaction, email: string, issuer: string) => tx<{ id: string; has_identity: boolean }[]>`
  SELECT u.id, EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id AND i.issuer = ${issuer}) AS has_identity
  FROM users u WHERE lower(u.email) = lower(${email}) FOR UPDATE OF u`;

const insertIdentity = (sql: Queryable, { issuer, subject }: Identity, user: string, now: Date) => sql`
  INSERT INTO user_identities (issuer, subject, user_id, created_at, last_used_at)
  VALUES (${issuer}, ${subject}, ${user}, ${now}, ${now})`;

/** Creates the person together with the membership: neither is of use without the other. */
async function createPerson(
  sql: Sql,
  identity: Identity & { name: string; email: string },
  { account, role }: Joining,
  now: Date,
): Promise<FoundPerson> {
  const user = newId('usr', now.getTime());
  const { email, name, isEmailVerified } = identity;
  await changeMembers(
    sql,
    account,
    { actor: user, now },
    {
      decide(members) {
        requireRoom(members);
        return joinAccount(members, user, role);
      },
      async write(tx) {
        await tx`
        INSERT INTO users (id, name, email, email_confirmed_at, created_at)
        VALUES (${user}, ${name}, ${email}, ${isEmailVerified ? now : null}, ${now})`;
        await insertIdentity(tx, identity, user, now);
      },
    },
  );
  return { user, how: 'created' };
}
