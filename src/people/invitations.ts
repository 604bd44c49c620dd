import { joinAccount, type Role } from '../../events/member.ts';
import { operator } from '../../events/recorded.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { createLink, findLink, type NewLink, useUpLink, voidLink } from './links.ts';
import { type By, changeMembers, listMembers, requireRoom } from './members.ts';
import { insertUser, type NewUser } from './users.ts';

/** Open invitations of an account. */
export const maxInvitations = 100;

export interface Invitation {
  id: string;
  account: string;
  email: string;
  role: Role;
  /** The key or person, or the operator. */
  invited_by: string;
  created_at: Date;
  expires_at: Date;
}

/** SQL: the person or key that made the invitation `i` could still do so, and comes back by none after a removal. */
const isBacked = (sql: Queryable) => sql`
  CASE WHEN starts_with(i.invited_by, 'usr_')
    THEN EXISTS (SELECT FROM members m WHERE m.account = i.account AND m.user_id = i.invited_by AND m.role = 'owner')
    ELSE NOT EXISTS (SELECT FROM api_keys k WHERE k.id = i.invited_by AND k.revoked_at IS NOT NULL) END`;

/** Invitations that can be accepted, newest first. */
export const listInvitations = (sql: Queryable, account: string, now: Date): Promise<Invitation[]> =>
  sql<Invitation[]>`
    SELECT * FROM invitations i WHERE account = ${account} AND expires_at > ${now} AND ${isBacked(sql)} ORDER BY id DESC`;

/**
 * Invites an address; throws 409 if it is of a member, 403 if the account has too many. `onCreated` is called in the transaction, and
 * undoes it if it throws.
 */
export async function createInvitation(
  sql: Sql,
  account: string,
  { email, role }: { email: string; role: Role },
  by: By,
  onCreated: (tx: Transaction, invitation: Invitation & NewLink) => Promise<unknown> = async () => {},
): Promise<Invitation & NewLink> {
  const members = await listMembers(sql, account);
  if (members.some((member) => member.email.toLowerCase() === email.toLowerCase()))
    throw new Refusal('already_member', `${email} is a member of the account already.`);
  const id = newId('inv', by.now.getTime());
  const details = { id, account, email, role, invited_by: by.actor, created_at: by.now };
  let created: (Invitation & NewLink) | undefined;
  await changeMembers(sql, account, by, {
    decide(current) {
      requireRoom(current);
      return [{ type: 'invitation_created', data: { invitation: id, role } }];
    },
    async write(tx) {
      // Simultaneous invitations are counted one after the other.
      await tx`SELECT FROM accounts WHERE id = ${account} FOR UPDATE`;
      await refuseBeyond(tx, account, by.now);
      created = Object.assign(details, await createLink(tx, 'invitation', { account, invitation: id }, by.now));
      await tx`
        INSERT INTO invitations (id, account, email, role, invited_by, created_at, expires_at)
        VALUES (${id}, ${account}, ${email}, ${role}, ${by.actor}, ${by.now}, ${created.expires_at})`;
      await onCreated(tx, created);
    },
  });
  if (created === undefined) throw new Error(`${id} has no link`);
  return created;
}

async function refuseBeyond(tx: Transaction, account: string, now: Date): Promise<void> {
  const open = await listInvitations(tx, account, now);
  if (open.length >= maxInvitations)
    throw new Refusal('quota_exceeded', `An account may have ${maxInvitations} open invitations: revoke some first.`);
}

/** Its link stops working. Throws 404. */
export async function revokeInvitation(sql: Sql, account: string, id: string, by: By): Promise<void> {
  const [invitation] = isId('inv', id)
    ? await sql<Invitation[]>`SELECT * FROM invitations WHERE id = ${id} AND account = ${account}`
    : [];
  if (invitation === undefined) throw notFound('invitation');
  await changeMembers(sql, account, by, {
    decide: () => [{ type: 'invitation_revoked', data: { invitation: id, role: invitation.role } }],
    async write(tx) {
      await tx`DELETE FROM one_time_links WHERE invitation = ${id}`;
      const removed = await tx`DELETE FROM invitations WHERE id = ${id} RETURNING id`;
      if (removed.length === 0) throw notFound('invitation');
    },
  });
}

export interface OpenedInvitation extends Invitation {
  account_name: string;
}

/** The invitation of a link that can be used. */
export async function findInvitation(sql: Queryable, token: string, now: Date): Promise<OpenedInvitation | undefined> {
  const link = await findLink(sql, 'invitation', token, now);
  const [invitation] = await sql<OpenedInvitation[]>`
    SELECT i.*, a.name AS account_name FROM invitations i JOIN accounts a ON a.id = i.account
    WHERE i.id = ${link?.invitation ?? null} AND ${isBacked(sql)}`;
  return invitation;
}

/** Whether an invitation may make a new person: with `SIGNUP=closed`, only the operator's do. */
export const mayCreatePerson = ({ invited_by }: Pick<Invitation, 'invited_by'>, signup: string): boolean =>
  signup !== 'closed' || invited_by === operator;

/** Makes a person, who may be a new one, a member. Throws 404 if the link cannot be used any more. */
export async function acceptInvitation(
  sql: Sql,
  token: string,
  person: string | NewUser,
  now: Date,
): Promise<{ user: string; account: string }> {
  const invitation = await findInvitation(sql, token, now);
  if (invitation === undefined) throw voidLink();
  const { id, account, role } = invitation;
  const user = typeof person === 'string' ? person : person.id;
  await changeMembers(
    sql,
    account,
    { actor: user, now },
    {
      decide(members) {
        requireRoom(members);
        return [...joinAccount(members, user, role), { type: 'invitation_accepted', data: { invitation: id, role } }];
      },
      async write(tx) {
        await useUpLink(tx, 'invitation', token, now);
        await tx`DELETE FROM invitations WHERE id = ${id}`;
        if (typeof person !== 'string') await insertUser(tx, person, { now });
      },
    },
  );
  return { user, account };
}
