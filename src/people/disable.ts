import type { ServiceEvent } from '../../events/service.ts';
import { endSessionsOf } from '../accounts/other-sessions.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import { retryLostRace } from '../log/decide.ts';
import { appendServiceEvent } from '../log/service-event.ts';
import { createLink, type NewLink } from './links.ts';
import type { By } from './members.ts';
import type { User } from './users.ts';

/** The person can no longer sign in, and is signed out everywhere. Memberships stay. */
export async function disableUser(sql: Sql, user: string, by: By): Promise<void> {
  await changeUser(sql, user, by, async (tx, { disabled_at }, operators) => {
    if (disabled_at !== null) return undefined;
    refuseLastOperator(operators, user);
    await tx`UPDATE users SET disabled_at = ${by.now} WHERE id = ${user}`;
    return { type: 'user_disabled', data: { user } };
  });
  // No session of a disabled person is admitted: this records their end in the accounts.
  await endSessionsOf(sql, user, { ...by, cause: 'operator' });
}

export const enableUser = (sql: Sql, user: string, by: By): Promise<void> =>
  changeUser(sql, user, by, async (tx, { disabled_at }) => {
    if (disabled_at === null) return undefined;
    await tx`UPDATE users SET disabled_at = NULL WHERE id = ${user}`;
    return { type: 'user_enabled', data: { user } };
  });

/** Throws 409 if no one else would be operator. */
export const setOperator = (sql: Sql, user: string, to: boolean, by: By): Promise<void> =>
  changeUser(sql, user, by, async (tx, { is_operator }, operators) => {
    if (is_operator === to) return undefined;
    if (!to) refuseLastOperator(operators, user);
    await tx`UPDATE users SET is_operator = ${to} WHERE id = ${user}`;
    return { type: 'operator_set', data: { user, to } };
  });

/** Creates a link with which a person sets a new password. */
export const createResetLink = (sql: Sql, user: string, { actor, now }: By): Promise<NewLink> =>
  retryLostRace(() =>
    sql.begin(async (tx) => {
      const link = await createLink(tx, 'reset', { user }, now);
      await appendServiceEvent(tx, { type: 'reset_link_created', data: { user } }, now, actor);
      return link;
    }),
  );

type LockedUser = Pick<User, 'id' | 'is_operator' | 'disabled_at'>;

/** Changes a person, and records it in the log of the service in the same transaction. `change` returns what happened. */
async function changeUser(
  sql: Sql,
  id: string,
  { actor, now }: By,
  change: (tx: Transaction, user: LockedUser, operators: LockedUser[]) => Promise<ServiceEvent | undefined>,
): Promise<void> {
  await retryLostRace(() =>
    sql.begin(async (tx) => {
      // All operators, in one order: two who disable each other at the same time must not leave none.
      const users = await tx<LockedUser[]>`
        SELECT id, is_operator, disabled_at FROM users WHERE id = ${id} OR is_operator ORDER BY id FOR UPDATE`;
      const user = users.find((one) => one.id === id);
      if (user === undefined) throw notFound('person');
      const operators = users.filter(({ is_operator, disabled_at }) => is_operator && disabled_at === null);
      const event = await change(tx, user, operators);
      if (event !== undefined) await appendServiceEvent(tx, event, now, actor);
    }),
  );
}

function refuseLastOperator(operators: LockedUser[], user: string): void {
  if (operators.length === 1 && operators[0]?.id === user)
    throw new Refusal('last_owner', 'No one would be operator: make another person operator first.');
}
