import type { Account, AccountEvent } from '../../events/account.ts';
import {
  type Alert,
  type AlertKind,
  type AlertOutcome,
  type AlertOutcomeEvent,
  type AlertSettings,
  changeAlert,
  decideOutcome,
  isAlertOutcome,
  type RaisedAlert,
  removeAlert,
} from '../../events/alert.ts';
import type { Owner } from '../../events/owner.ts';
import { type Actor, type Pending, type Recorded, service } from '../../events/recorded.ts';
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

/** What is set about an alert beside the log: whom it is mailed to. */
export interface Recipients {
  to: string[];
}

/** An alert as its owner sees it. */
export type OwnedAlert = Alert & Recipients;

/** Creates an alert, which is checked at once; throws 403 if the account has `maxAlerts` in this mode already. */
export async function createAlert(
  sql: Sql,
  owner: Owner,
  { to, ...request }: AlertSettings & Recipients & { kind: AlertKind },
  by: By,
): Promise<OwnedAlert> {
  const { account, mode } = owner;
  const id = newId('alr', by.now.getTime());
  await changeAlerts(sql, account, by, {
    load: (tx) => refuseBeyond(tx, owner),
    decide: () => [{ type: 'alert_created', data: { alert: id, mode, ...request } }],
    async write(tx) {
      await checkNow(tx, id, account, by.now);
      await setRecipients(tx, id, to);
    },
  });
  return { id, account, mode, ...request, created_at: by.now, to };
}

/** Changes what is given; throws 404. */
export async function updateAlert(
  sql: Sql,
  owner: Owner,
  id: string,
  { to, ...settings }: Partial<AlertSettings & Recipients>,
  by: By,
): Promise<OwnedAlert> {
  const { account } = owner;
  await changeAlerts(sql, account, by, {
    load: (tx) => requireAlert(tx, owner, id),
    decide: ({ to: _, ...alert }) => changeAlert(alert, settings),
    write: (tx) => checkNow(tx, id, account, by.now),
  });
  // Recipients are in no event, so this needs no version.
  if (to !== undefined) await setRecipients(sql, id, to);
  return requireAlert(sql, owner, id);
}

/** Sets whom an alert is mailed to. The row is locked, so that no address is left of an alert that is deleted meanwhile. */
const setRecipients = (sql: Queryable, id: string, to: string[]) => sql`
  INSERT INTO alert_recipients (alert, account, emails)
  SELECT id, account, ${to}::text[] FROM alerts WHERE id = ${id} FOR KEY SHARE
  ON CONFLICT (alert) DO UPDATE SET emails = excluded.emails`;

/** Deletes an alert with what it has raised; throws 404. */
export async function deleteAlert(sql: Sql, owner: Owner, id: string, by: By): Promise<void> {
  await changeAlerts(sql, owner.account, by, {
    load: (tx) => requireAlert(tx, owner, id),
    decide: removeAlert,
    async write(tx) {
      await tx`DELETE FROM alert_checks WHERE alert = ${id}`;
      await tx`DELETE FROM alert_recipients WHERE alert = ${id}`;
    },
  });
}

/** Mails what a check has found, in the transaction that appends it. */
export type MailOutcome = (tx: Transaction, alert: OwnedAlert, events: Pending<AlertOutcomeEvent>[]) => Promise<void>;

/** Appends what the check of an alert changes: nothing, if the alert was changed or deleted since the check began. */
export async function recordOutcome(
  sql: Sql,
  checked: Alert,
  outcome: AlertOutcome,
  { now, mail }: { now: Date; mail: MailOutcome | undefined },
): Promise<Recorded<AccountEvent>[]> {
  const { id, account, mode } = checked;
  const by = { actor: service, now };
  return changeAlerts(sql, account, by, {
    load: async (tx) => {
      const found = await findAlert(tx, { account, mode }, id);
      return { found, raised: await raisedBy(tx, id) };
    },
    decide: ({ found, raised }) => (isSame(found, checked) ? decideOutcome(checked, raised, outcome) : []),
    async write(tx, { found }, events) {
      if (found !== undefined && found.to.length > 0) await mail?.(tx, found, events.filter(isAlertOutcome));
    },
  });
}

function isSame(found: OwnedAlert | undefined, checked: Alert): boolean {
  if (found === undefined) return false;
  const { to: _, ...alert } = found;
  return JSON.stringify(alert) === JSON.stringify(checked);
}

interface Change<S> {
  load(tx: Queryable): Promise<S>;
  decide(loaded: S): AccountEvent[];
  /** Writes what is not in the log, in the same transaction. */
  write(tx: Transaction, loaded: S, events: Pending<AccountEvent>[]): PromiseLike<unknown>;
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
    async project(tx, { account, loaded }, events) {
      await writeState(tx, { accounts: [account] }, events);
      await write(tx, loaded, events);
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

/** SQL for alerts with their recipients. */
const selectOwned = (sql: Queryable) => sql`
  SELECT a.*, coalesce(r.emails, '{}') AS "to" FROM alerts a LEFT JOIN alert_recipients r ON r.alert = a.id`;

async function findAlert(sql: Queryable, { account, mode }: Owner, id: string): Promise<OwnedAlert | undefined> {
  const [alert] = isId('alr', id)
    ? await sql<OwnedAlert[]>`
        ${selectOwned(sql)} WHERE a.id = ${id} AND a.account = ${account} AND a.mode = ${mode}`
    : [];
  return alert;
}

/** An alert of the owner; throws 404. */
export async function requireAlert(sql: Queryable, owner: Owner, id: string): Promise<OwnedAlert> {
  const alert = await findAlert(sql, owner, id);
  if (alert === undefined) throw notFound('alert');
  return alert;
}

/** All alerts of the owner, newest first. */
export const listAlerts = (sql: Queryable, { account, mode }: Owner): Promise<OwnedAlert[]> =>
  sql<OwnedAlert[]>`${selectOwned(sql)} WHERE a.account = ${account} AND a.mode = ${mode} ORDER BY a.id DESC`;

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

/** How many findings of each alert of the owner are not over; alerts without any are left out. */
export async function countRaised(sql: Queryable, { account, mode }: Owner): Promise<Map<string, number>> {
  const rows = await sql<{ alert: string; count: number }[]>`
    SELECT alert, count(*)::int AS count FROM raised_alerts
    WHERE account = ${account} AND mode = ${mode} GROUP BY alert`;
  return new Map(rows.map(({ alert, count }) => [alert, count]));
}
