import { newId } from '../../lib/ids.ts';
import type { Sql, Transaction } from '../../lib/sql.ts';
import { locks } from '../../log/locks.ts';
import { removeUnconfirmed } from '../credentials.ts';
import type { Identity } from './provider.ts';

/** Why an identity cannot sign in, though the provider vouches for it. */
export type PersonRefusal =
  /** The address is that of a person here, but the provider has not verified it. */
  | 'email_not_verified'
  /** The person with this address signs in with another identity of the provider. */
  | 'other_identity'
  /** There is no such person, and the settings create none. */
  | 'unknown'
  /** A new person needs an address, and the provider sent none. */
  | 'no_email';

export interface FoundPerson {
  user: string;
  /** Known before, linked by the address, or created. */
  how: 'known' | 'linked' | 'created';
}

/**
 * The person of an identity. Issuer and subject identify it; by its address it is linked to a person only if the provider
 * has verified that, and if the person has no other identity there. A person is created only if `mayCreate`.
 */
export const findPerson = (
  sql: Sql,
  identity: Identity,
  { mayCreate, now }: { mayCreate: boolean; now: Date },
): Promise<FoundPerson | { refused: PersonRefusal }> =>
  sql.begin(async (tx) => {
    const { issuer, subject, email, isEmailVerified } = identity;
    // Two first sign-ins of one person at the same time would both create that person.
    await tx`SELECT pg_advisory_xact_lock(${locks.signIns}, hashtext(lower(${email ?? subject})))`;
    const [known] = await tx<{ user_id: string }[]>`
      UPDATE user_identities SET last_used_at = ${now} WHERE issuer = ${issuer} AND subject = ${subject} RETURNING user_id`;
    if (known !== undefined) return { user: known.user_id, how: 'known' };
    const [owner] = email === undefined ? [] : await findByEmail(tx, email, issuer);
    if (owner !== undefined) {
      if (!isEmailVerified) return { refused: 'email_not_verified' };
      if (owner.has_identity) return { refused: 'other_identity' };
      await removeUnconfirmed(tx, owner.id, now);
      await insertIdentity(tx, identity, owner.id, now);
      return { user: owner.id, how: 'linked' };
    }
    if (!mayCreate) return { refused: 'unknown' };
    if (email === undefined) return { refused: 'no_email' };
    const user = newId('usr', now.getTime());
    await tx`
      INSERT INTO users (id, name, email, email_confirmed_at, created_at)
      VALUES (${user}, ${identity.name ?? email}, ${email}, ${isEmailVerified ? now : null}, ${now})`;
    await insertIdentity(tx, identity, user, now);
    return { user, how: 'created' };
  });

const findByEmail = (tx: Transaction, email: string, issuer: string) => tx<{ id: string; has_identity: boolean }[]>`
  SELECT u.id, EXISTS (SELECT FROM user_identities i WHERE i.user_id = u.id AND i.issuer = ${issuer}) AS has_identity
  FROM users u WHERE lower(u.email) = lower(${email})`;

const insertIdentity = (tx: Transaction, { issuer, subject }: Identity, user: string, now: Date) => tx`
  INSERT INTO user_identities (issuer, subject, user_id, created_at, last_used_at)
  VALUES (${issuer}, ${subject}, ${user}, ${now}, ${now})`;
