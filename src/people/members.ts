import type { Account, AccountEvent } from '../../events/account.ts';
import { isLastOwner, joinAccount, type Member, type Role, setRole } from '../../events/member.ts';
import type { Actor } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { findAccount } from '../accounts/accounts.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';

/** Bounds the list of members, which has no pages. */
export const maxMembers = 500;

export interface By {
  actor: Actor;
  now: Date;
}

/** A member as the account sees it. */
export interface ListedMember extends Member {
  name: string;
  email: string;
  last_signed_in_at: Date | null;
}

/** The members of an account, first come first. */
export const listMembers = (sql: Queryable, account: string): Promise<ListedMember[]> =>
  sql<ListedMember[]>`
    SELECT m.*, u.name, u.email, u.last_signed_in_at FROM members m JOIN users u ON u.id = m.user_id
    WHERE m.account = ${account} ORDER BY m.joined_at, m.user_id`;

/** The accounts that a person belongs to, by name. */
export const accountsOf = (sql: Queryable, user: string): Promise<{ id: string; name: string; role: Role }[]> =>
  sql<{ id: string; name: string; role: Role }[]>`
    SELECT a.id, a.name, m.role FROM members m JOIN accounts a ON a.id = m.account
    WHERE m.user_id = ${user} ORDER BY a.name, a.id`;

interface Change {
  decide(members: Member[]): AccountEvent[];
  /** Writes what is not in the log, in the same transaction. */
  write?(tx: Transaction): PromiseLike<unknown>;
}

/** Appends to the stream of the account, whose version makes what was loaded still true. */
export async function changeMembers(sql: Sql, id: string, by: By, { decide, write }: Change): Promise<void> {
  await decideAndAppend<Account & { members: Member[] }, AccountEvent>(sql, id, {
    async load() {
      const account = await findAccount(sql, id);
      if (account === undefined) throw notFound('account');
      return { ...account, members: await sql<Member[]>`SELECT * FROM members WHERE account = ${id}` };
    },
    decide: ({ members }) => decide(members),
    async project(tx, { members: _, ...before }, events) {
      await write?.(tx);
      return writeState(tx, { accounts: [before] }, events);
    },
    by,
  });
}

/** Throws 403 if the account is full. */
export function requireRoom(members: Member[]): void {
  if (members.length < maxMembers) return;
  throw new Refusal('quota_exceeded', `An account may have ${maxMembers} members: remove some first.`);
}

/** Makes a person a member; one who is a member already keeps the role. */
export const addMember = (sql: Sql, account: string, user: string, role: Role, by: By): Promise<void> =>
  changeMembers(sql, account, by, {
    decide(members) {
      requireRoom(members);
      return joinAccount(members, user, role);
    },
  });

/** Throws 404, or 409 for the last owner. */
export const changeRole = (sql: Sql, account: string, user: string, role: Role, by: By): Promise<void> =>
  changeMembers(sql, account, by, {
    decide(members) {
      const member = requireMember(members, user);
      if (role !== 'owner' && isLastOwner(members, user)) throw lastOwner();
      return setRole(member, role);
    },
  });

/** No instance admits the person from the next request on. Throws 404, or 409 for the last owner. */
export const removeMember = (sql: Sql, account: string, user: string, by: By): Promise<void> =>
  changeMembers(sql, account, by, {
    decide(members) {
      requireMember(members, user);
      if (isLastOwner(members, user)) throw lastOwner();
      return [{ type: 'member_removed', data: { user } }];
    },
  });

function requireMember(members: Member[], user: string): Member {
  const member = members.find(({ user_id }) => user_id === user);
  if (member === undefined) throw notFound('member');
  return member;
}

/** Throws 404 unless the person is, or once was, a member of the account. */
export async function requireOwnPerson(sql: Queryable, account: string, id: string): Promise<void> {
  const found = await sql`
    SELECT FROM members WHERE account = ${account} AND user_id = ${id}
    UNION ALL
    SELECT FROM events WHERE stream = ${account} AND type = 'member_joined' AND data->>'user' = ${id}
    LIMIT 1`;
  if (found.length === 0) throw notFound('member');
}

const lastOwner = () => new Refusal('last_owner', 'The account would have no owner: make another member owner first.');
