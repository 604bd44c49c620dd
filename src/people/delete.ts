import { isLastOwner, type Member } from '../../events/member.ts';
import { endSessionsOf } from '../accounts/other-sessions.ts';
import { Refusal } from '../lib/errors.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { retryLostRace } from '../log/decide.ts';
import { appendServiceEvent } from '../log/service-event.ts';
import { deleteCredentials } from './credentials.ts';
import { refuseDeletionOfLastOperator } from './disable.ts';
import { type By, removeMember } from './members.ts';

/**
 * Deletes a person, with everything that is stored about them. Events keep `usr_…`, which then means no one. Throws 409 while
 * an account would be left without an owner, or the service without an operator.
 */
export async function deleteUser(sql: Sql, user: string, by: By): Promise<void> {
  const owned = await ownedAlone(sql, user);
  if (owned.length > 0)
    throw new Refusal(
      'last_owner',
      `${owned.join(', ')} would have no owner: make another member owner first, or have the account deleted.`,
    );
  await sql.begin((tx) => refuseDeletionOfLastOperator(tx, user));
  const accounts = await sql<{ account: string }[]>`SELECT account FROM members WHERE user_id = ${user}`;
  await endSessionsOf(sql, user, { ...by, cause: by.actor === user ? 'sign_out' : 'operator' });
  for (const { account } of accounts) await removeMember(sql, account, user, by);
  await retryLostRace(() =>
    sql.begin(async (tx) => {
      await refuseDeletionOfLastOperator(tx, user);
      await tx`DELETE FROM console_sessions WHERE user_id = ${user}`;
      await tx`DELETE FROM one_time_links WHERE user_id = ${user}`;
      await tx`DELETE FROM invitations i USING users u WHERE u.id = ${user} AND lower(i.email) = lower(u.email)`;
      await deleteMailsTo(tx, user);
      await deleteCredentials(tx, user);
      await tx`DELETE FROM security_changes WHERE user_id = ${user}`;
      await tx`DELETE FROM users WHERE id = ${user}`;
      await appendServiceEvent(tx, { type: 'user_deleted', data: { user } }, by.now, by.actor);
    }),
  );
}

/** Deletes the mails about the person's sign-in and invitations: the outbox keeps addresses for months. */
const deleteMailsTo = (tx: Queryable, user: string): Promise<unknown> => tx`
  DELETE FROM mails m USING users u
  WHERE u.id = ${user} AND lower(m.recipient) = lower(u.email)
    AND (m.account IS NULL OR starts_with(m.key, 'invitation/'))`;

/** Names of the accounts whose only owner the person is. */
async function ownedAlone(sql: Queryable, user: string): Promise<string[]> {
  const rows = await sql<(Member & { name: string })[]>`
    SELECT m.*, a.name FROM members m JOIN accounts a ON a.id = m.account
    WHERE m.account IN (SELECT account FROM members WHERE user_id = ${user} AND role = 'owner') AND m.role = 'owner'`;
  const byAccount = Map.groupBy(rows, ({ account }) => account);
  return [...byAccount.values()].filter((members) => isLastOwner(members, user)).map(([first]) => `“${first?.name}”`);
}
