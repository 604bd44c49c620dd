import type { Account, AccountEvent } from '../../events/account.ts';
import type { Owner } from '../../events/owner.ts';
import type { Actor, Pending, Recorded } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';

/** What shared pages, reports and alerts have in common: an account has a limited number of them, and their events are in its stream. */

export interface By {
  actor: Actor;
  now: Date;
}

interface PartChange<S> {
  /** Reads what is decided on, in the snapshot of the account's version. */
  load(tx: Queryable): Promise<S>;
  decide(loaded: S): AccountEvent[];
  /** Writes what is not in the log, in the transaction that appends. */
  write(tx: Transaction, loaded: S, events: Pending<AccountEvent>[]): PromiseLike<unknown>;
}

/** Appends to the stream of the account, whose version makes what was loaded still true. Throws 404. */
export async function changePart<S>(
  sql: Sql,
  id: string,
  by: By,
  { load, decide, write }: PartChange<S>,
): Promise<Recorded<AccountEvent>[]> {
  const { recorded } = await decideAndAppend<{ version: number; account: Account; loaded: S }, AccountEvent>(sql, id, {
    load: () =>
      sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
        const [account] = await tx<Account[]>`SELECT * FROM accounts WHERE id = ${id}`;
        if (account === undefined) throw notFound('account');
        return { version: account.version, account, loaded: await load(tx) };
      }),
    decide: ({ loaded }) => decide(loaded),
    async project(tx, { account, loaded }, events) {
      await writeState(tx, { accounts: [account] }, events);
      await write(tx, loaded, events);
    },
    by,
  });
  return recorded;
}

interface PartLimit {
  table: 'shares' | 'reports' | 'alerts';
  max: number;
  /** For people, such as `shared pages`. */
  plural: string;
  /** What makes room, such as `Delete some.` */
  advice: string;
}

/** Throws 403 if the owner has as many as an account may have in one mode. */
export async function refuseBeyond(
  sql: Queryable,
  { account, mode }: Owner,
  { table, max, plural, advice }: PartLimit,
): Promise<void> {
  const [{ count }] = await sql<[{ count: number }]>`
    SELECT count(*)::int AS count FROM ${sql(table)} WHERE account = ${account} AND mode = ${mode}`;
  if (count >= max)
    throw new Refusal('quota_exceeded', `An account may have ${max} ${plural}, and ${count} exist. ${advice}`);
}
