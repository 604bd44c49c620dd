import type { ServiceEvent } from '../../events/service.ts';
import { endSessionsOf } from '../accounts/other-sessions.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import { retryLostRace } from '../log/decide.ts';
import { appendServiceEvent } from '../log/service-event.ts';
import { createLink, type NewLink, urlOfLink } from './links.ts';
import { mailOperatorsReset } from './mails.ts';
import type { By } from './members.ts';
import { noteChange, noteEndedSessions, type Origin, type SecurityMail } from './security-changes.ts';
import { removeTotp } from './totp.ts';
import type { User } from './users.ts';

/** The person can no longer sign in, and is signed out everywhere. Memberships stay. */
export async function disableUser(sql: Sql, user: string, by: Origin): Promise<void> {
  await changeUser(sql, user, by, async (tx, { disabled_at }, operators) => {
    if (disabled_at !== null) return undefined;
    refuseLastOperator(operators, user);
    await tx`UPDATE users SET disabled_at = ${by.now} WHERE id = ${user}`;
    return { type: 'user_disabled', data: { user } };
  });
  // No session of a disabled person is admitted: this records their end in the accounts.
  const { actor, now } = by;
  const ended = await endSessionsOf(sql, user, { actor, now, cause: 'operator' });
  await noteEndedSessions(sql, user, ended, by);
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

/** Creates a link with which a person sets a new password, and mails it, where the origin has an outbox. */
export const createResetLink = (sql: Sql, user: string, origin: Origin): Promise<NewLink & { isMailed: boolean }> =>
  retryLostRace(() =>
    sql.begin(async (tx) => {
      const { actor, now, mail } = origin;
      const link = await createLink(tx, 'reset', { user }, now);
      await noteChange(tx, { user, change: 'reset_link_created' }, origin);
      const isMailed = mail !== undefined && (await mailLink(tx, user, link, { mail, now }));
      await appendServiceEvent(tx, { type: 'reset_link_created', data: { user } }, now, actor);
      return { ...link, isMailed };
    }),
  );

/** A disabled person cannot use the link yet, and gets no mail. */
async function mailLink(
  tx: Transaction,
  user: string,
  { token }: NewLink,
  { mail: { outbox, publicUrl }, now }: { mail: SecurityMail; now: Date },
): Promise<boolean> {
  const [person] = await tx<{ email: string }[]>`
    SELECT email FROM users WHERE id = ${user} AND disabled_at IS NULL`;
  if (person === undefined) return false;
  const url = urlOfLink(publicUrl, 'reset', token);
  return (await mailOperatorsReset(outbox, tx, { user, email: person.email, url, now })) === 'queued';
}

/** Turns off the one-time codes of a person who has lost the app; false if there were none. */
export const removeCodes = (sql: Sql, user: string, origin: Origin): Promise<boolean> =>
  retryLostRace(() =>
    sql.begin(async (tx) => {
      if (!(await removeTotp(tx, user, origin))) return false;
      await appendServiceEvent(tx, { type: 'one_time_codes_removed', data: { user } }, origin.now, origin.actor);
      return true;
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
      const { user, operators } = await lockWithOperators(tx, id);
      const event = await change(tx, user, operators);
      if (event !== undefined) await appendServiceEvent(tx, event, now, actor);
    }),
  );
}

/** Locks a person and all operators, in one order: two who disable each other at the same time must not leave none. */
async function lockWithOperators(tx: Transaction, id: string): Promise<{ user: LockedUser; operators: LockedUser[] }> {
  const users = await tx<LockedUser[]>`
    SELECT id, is_operator, disabled_at FROM users WHERE id = ${id} OR is_operator ORDER BY id FOR UPDATE`;
  const user = users.find((one) => one.id === id);
  if (user === undefined) throw notFound('person');
  return { user, operators: users.filter(({ is_operator, disabled_at }) => is_operator && disabled_at === null) };
}

/** Throws 409 if people are left and none of them would be operator. After the last person, a set-up link makes a new one. */
export async function refuseDeletionOfLastOperator(tx: Transaction, user: string): Promise<void> {
  const { operators } = await lockWithOperators(tx, user);
  const others = await tx`SELECT FROM users WHERE id <> ${user} LIMIT 1`;
  if (others.length > 0) refuseLastOperator(operators, user);
}

function refuseLastOperator(operators: LockedUser[], user: string): void {
  if (operators.length === 1 && operators[0]?.id === user)
    throw new Refusal('last_owner', 'No one would be operator: make another person operator first.');
}
