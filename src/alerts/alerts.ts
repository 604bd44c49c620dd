import type { Account, AccountEvent } from '../../events/account.ts';
import {
  type Alert,
  type AlertKind,
  type AlertOutcome,
  type AlertSettings,
  changeAlert,
  decideOutcome,
  type RaisedAlert,
  removeAlert,
} from '../../events/alert.ts';
import type { Owner } from '../../events/owner.ts';
import { type Actor, type Recorded, service } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';

/** Alerts that an account may have in one mode. */
export const maxAlerts = 50;

interface By {
  actor: Actor;
  now: Date;
}

/** Creates an alert, which is checked at once; throws 403 if the account has `maxAlerts` in this mode already. */
export async function createAlert(
  sql: Sql,
  owner: Owner,
  request: AlertSettings & { kind: AlertKind },
  by: By,
): Promise<Alert> {
  const { account, mode } = owner;
  const id = newId('alr', by.now.getTime());
  await changeAlerts(sql, account, by, {
    load: (tx) => refuseBeyond(tx, owner),
    decide: () => [{ type: 'alert_created', data: { alert: id, mode, ...request } }],
    write: (tx) => checkNow(tx, id, account, by.now),
  });
  return { id, account, mode, ...request, created_at: by.now };
}

/** Changes what is given; throws 404. */
export async function updateAlert(
  sql: Sql,
  owner: Owner,
  id: string,
  to: Partial<AlertSettings>,
  by: By,
): Promise<Alert> {
  await changeAlerts(sql, owner.account, by, {
    load: (tx) => requireAlert(tx, owner, id),
    decide: (alert) => changeAlert(alert, to),
    write: (tx) => checkNow(tx, id, owner.account, by.now),
  });
  return requireAlert(sql, owner, id);
}

/** Deletes an alert with what it has raised; throws 404. */
export async function deleteAlert(sql: Sql, owner: Owner, id: string, by: By): Promise<void> {
  await changeAlerts(sql, owner.account, by, {
    load: (tx) => requireAlert(tx, owner, id),
    decide: removeAlert,
    write: (tx) => tx`DELETE FROM alert_checks WHERE alert = ${id}`,
  });
}

/** Appends what the check of an alert changes: nothing, if the alert was changed or deleted since the check began. */
export async function recordOutcome(
  sql: Sql,
  checked: Alert,
  outcome: AlertOutcome,
  now: Date,
): Promise<Recorded<AccountEvent>[]> {
  const { id, account, mode } = checked;
  return changeAlerts(
    sql,
    account,
    { actor: service, now },
    {
      load: async (tx) => {
        const alert = await findAlert(tx, { account, mode }, id);
        return { isSame: JSON.stringify(alert) === JSON.stringify(checked), raised: await raisedBy(tx, id) };
      },
      decide: ({ isSame, raised }) => (isSame ? decideOutcome(checked, raised, outcome) : []),
      write: () => Promise.resolve(),
    },
  );
}

interface Change<S> {
  load(tx: Queryable): Promise<S>;
  decide(loaded: S): AccountEvent[];
  /** Writes what is not in the log, in the same transaction. */
  write(tx: Transaction): PromiseLike<unknown>;
}

/** Appends to the stream of the account, whose version makes what was loaded still true. */
async function changeAlerts<S>(sql: Sql, id: string, by: By, { load, decide, write }: Change<S>) {
  const { recorded } = await decideAndAppend<{ version: number; account: Account; loaded: S }, AccountEvent>(sql, id, {
    // In one snapshot, so that the version belongs to what is decided on.
    load: () =>
      sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
        const [account] = await tx<Account[]>`SELECT * FROM accounts WHERE id = ${id}`;
        if (account === undefined) throw notFound('account');
        return { version: account.version, account, loaded: await load(tx) };
      }),
    decide: ({ loaded }) => decide(loaded),
    async project(tx, { account }, events) {
      await write(tx);
      return writeState(tx, { accounts: [account] }, events);
    },
    by,
  });
  return recorded;
}

const checkNow = (tx: Transaction, id: string, account: string, now: Date) => tx`
  INSERT INTO alert_checks (alert, account, next_at) VALUES (${id}, ${account}, ${now})
  ON CONFLICT (alert) DO UPDATE SET next_at = excluded.next_at`;

async function refuseBeyond(sql: Queryable, { account, mode }: Owner): Promise<void> {
  const [{ count }] = await sql<[{ count: number }]>`
    SELECT count(*)::int AS count FROM alerts WHERE account = ${account} AND mode = ${mode}`;
  if (count >= maxAlerts)
    throw new Refusal('quota_exceeded', `An account may have ${maxAlerts} alerts, and ${count} exist. Delete some.`);
}

async function findAlert(sql: Queryable, { account, mode }: Owner, id: string): Promise<Alert | undefined> {
  const [alert] = isId('alr', id)
    ? await sql<Alert[]>`SELECT * FROM alerts WHERE id = ${id} AND account = ${account} AND mode = ${mode}`
    : [];
  return alert;
}

/** An alert of the owner; throws 404. */
export async function requireAlert(sql: Queryable, owner: Owner, id: string): Promise<Alert> {
  const alert = await findAlert(sql, owner, id);
  if (alert === undefined) throw notFound('alert');
  return alert;
}

/** All alerts of the owner, newest first. */
export const listAlerts = (sql: Queryable, { account, mode }: Owner): Promise<Alert[]> =>
  sql<Alert[]>`SELECT * FROM alerts WHERE account = ${account} AND mode = ${mode} ORDER BY id DESC`;

/** What an alert has raised and is not over, latest first. */
export const raisedBy = (sql: Queryable, alert: string): Promise<RaisedAlert[]> => sql<RaisedAlert[]>`
  SELECT alert, subject, code, domain, title, message, link, raised_at FROM raised_alerts
  WHERE alert = ${alert} ORDER BY raised_at DESC, subject`;

/** What is raised, with the alert that has found it. */
export type ListedRaised = RaisedAlert & Pick<Alert, 'kind' | 'name'>;

/** What all alerts of the owner have raised and is not over, latest first. */
export const listRaised = (sql: Queryable, { account, mode }: Owner, limit: number): Promise<ListedRaised[]> =>
  sql<ListedRaised[]>`
    SELECT r.alert, r.subject, r.code, r.domain, r.title, r.message, r.link, r.raised_at, a.kind, a.name
    FROM raised_alerts r JOIN alerts a ON a.id = r.alert
    WHERE r.account = ${account} AND r.mode = ${mode} ORDER BY r.raised_at DESC, r.alert, r.subject LIMIT ${limit}`;

/** How many things each alert of the owner has raised that are not over; alerts without any are left out. */
export async function countRaised(sql: Queryable, { account, mode }: Owner): Promise<Map<string, number>> {
  const rows = await sql<{ alert: string; count: number }[]>`
    SELECT alert, count(*)::int AS count FROM raised_alerts
    WHERE account = ${account} AND mode = ${mode} GROUP BY alert`;
  return new Map(rows.map(({ alert, count }) => [alert, count]));
}
