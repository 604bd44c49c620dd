import type { Account, AccountEvent } from '../../events/account.ts';
import { joinAccount } from '../../events/member.ts';
import type { ServiceEvent } from '../../events/service.ts';
import { writeState } from '../../projections/state.ts';
import { findAccount } from '../accounts/accounts.ts';
import { newId } from '../lib/ids.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { retryLostRace } from '../log/decide.ts';
import { prepareServiceEvent } from '../log/service-event.ts';
import { createLink, findLink, type NewLink, useUpLink, voidLink } from './links.ts';
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
  const by = { actor: user.id, now };
  await retryLostRace(async () => {
    const account = await firstAccount(sql);
    const joins = account === undefined ? [] : joinAccount([], user.id, 'owner');
    const joined = prepare(
      joins.map((event, i) => ({ stream: account?.id ?? '', version: (account?.version ?? 0) + 1 + i, event })),
      by,
    );
    await sql.begin(async (tx) => {
      await useUpLink(tx, 'setup', token, now);
      if (await hasUsers(tx)) throw voidLink();
      await insertUser(tx, user, { now, isOperator: true });
      if (account !== undefined) await writeState(tx, { accounts: [account] }, joined);
      const set = await prepareServiceEvent(tx, { type: 'operator_set', data: { user: user.id, to: true } }, by);
      await appendAndCommit<AccountEvent | ServiceEvent>(tx, [...joined, ...set]);
    });
  });
  return user.id;
}

async function firstAccount(sql: Queryable): Promise<Account | undefined> {
  const [first] = await sql<{ id: string }[]>`SELECT id FROM accounts ORDER BY created_at, id LIMIT 1`;
  return first === undefined ? undefined : findAccount(sql, first.id);
}
