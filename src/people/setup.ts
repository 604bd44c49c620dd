import { joinAccount } from '../../events/member.ts';
import { newId } from '../lib/ids.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { createLink, findLink, type NewLink, useUpLink, voidLink } from './links.ts';
import { changeMembers } from './members.ts';
import { hasUsers, insertUser } from './users.ts';

/** A link that makes its user the first one; undefined if there is a user. An earlier one becomes void. */
export async function createSetupLink(sql: Sql, now: Date): Promise<NewLink | undefined> {
  if (await hasUsers(sql)) return undefined;
  return sql.begin(async (tx) => {
    await tx`DELETE FROM one_time_links WHERE kind = 'setup'`;
    return createLink(tx, 'setup', {}, now);
  });
}

/** Whether a set-up link can be used: not once there is a user. */
export const isSetupLink = async (sql: Queryable, token: string, now: Date): Promise<boolean> =>
  (await findLink(sql, 'setup', token, now)) !== undefined && !(await hasUsers(sql));

/** Creates the first user: operator, and owner of the first account, if there is one. Throws 404 if the link is void. */
export async function setUp(
  sql: Sql,
  token: string,
  person: { name: string; email: string; password_hash: string },
  now: Date,
): Promise<string> {
  const user = { ...person, id: newId('usr', now.getTime()) };
  const write = async (tx: Transaction) => {
    await useUpLink(tx, 'setup', token, now);
    if (await hasUsers(tx)) throw voidLink();
    await insertUser(tx, user, { now, isOperator: true });
  };
  const [first] = await sql<{ id: string }[]>`SELECT id FROM accounts ORDER BY created_at, id LIMIT 1`;
  if (first === undefined) await sql.begin(write);
  else
    await changeMembers(
      sql,
      first.id,
      { actor: user.id, now },
      { decide: (members) => joinAccount(members, user.id, 'owner'), write },
    );
  return user.id;
}
