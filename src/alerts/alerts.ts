import type { AccountEvent } from '../../events/account.ts';
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
import { type Pending, type Recorded, service } from '../../events/recorded.ts';
import { type By, changePart, refuseBeyond } from '../accounts/account-parts.ts';
import {
  deleteRecipients,
  type Recipients,
  recipientColumns,
  recipientJoins,
  writeRecipients,
} from '../accounts/mail-recipients.ts';
import { notFound } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';

/** Alerts that an account may have in one mode. */
export const maxAlerts = 50;
const limit = { table: 'alerts', max: maxAlerts, plural: 'alerts', advice: 'Delete some.' } as const;

/** What the owner sets about an alert; addresses are beside the log. */
export type NewAlert = AlertSettings & { to: string[] };

/** An alert as its owner sees it. */
export type OwnedAlert = Alert & Recipients;

/** Creates an alert, which is checked at once; throws 403 if the account has `maxAlerts` in this mode already. */
export async function createAlert(
  sql: Sql,
  owner: Owner,
  { to, ...request }: NewAlert & { kind: AlertKind },
  by: By,
): Promise<OwnedAlert> {
  const { account, mode } = owner;
  const id = newId('alr', by.now.getTime());
  await changePart(sql, account, by, {
    load: (tx) => refuseBeyond(tx, owner, limit),
    decide: () => [{ type: 'alert_created', data: { alert: id, mode, ...request } }],
    async write(tx) {
      await checkNow(tx, id, account, by.now);
      await writeRecipients(tx, { subject: id, account }, to);
    },
  });
  return requireAlert(sql, owner, id);
}

/** Changes what is given; throws 404. */
export async function updateAlert(
  sql: Sql,
  owner: Owner,
  id: string,
  { to, ...settings }: Partial<NewAlert>,
  by: By,
): Promise<OwnedAlert> {
  const { account } = owner;
  await changePart(sql, account, by, {
    load: (tx) => requireAlert(tx, owner, id),
    decide: (alert) => changeAlert(alert, settings),
    write: (tx) => checkNow(tx, id, account, by.now),
  });
  // No event tells of it, so it needs no version.
  if (to !== undefined)
    await sql.begin(async (tx) => {
      // Locked: another change waits, and no address stays behind an alert that is deleted meanwhile.
      const [alert] = await tx`SELECT FROM alerts WHERE id = ${id} FOR NO KEY UPDATE`;
      if (alert !== undefined) await writeRecipients(tx, { subject: id, account }, to);
    });
  return requireAlert(sql, owner, id);
}

/** Deletes an alert with what it has raised; throws 404. */
export async function deleteAlert(sql: Sql, owner: Owner, id: string, by: By): Promise<void> {
  await changePart(sql, owner.account, by, {
    load: (tx) => requireAlert(tx, owner, id),
    decide: removeAlert,
    async write(tx) {
      await tx`DELETE FROM alert_checks WHERE alert = ${id}`;
      await deleteRecipients(tx, id);
    },
  });
}

/** Mails what a check has found, in the transaction that appends it. */
export type MailOutcome = (tx: Transaction, alert: Alert, events: Pending<AlertOutcomeEvent>[]) => Promise<void>;

/** Appends what the check of an alert changes: nothing, if the alert was changed or deleted since the check began. */
export async function recordOutcome(
  sql: Sql,
  checked: Alert,
  outcome: AlertOutcome,
  { now, mail }: { now: Date; mail: MailOutcome | undefined },
): Promise<Recorded<AccountEvent>[]> {
  const { id, account } = checked;
  const by = { actor: service, now };
  return changePart(sql, account, by, {
    load: async (tx) => {
      const [found] = await tx<Alert[]>`SELECT * FROM alerts WHERE id = ${id}`;
      return { isSame: JSON.stringify(found) === JSON.stringify(checked), raised: await raisedBy(tx, id) };
    },
    decide: ({ isSame, raised }) => (isSame ? decideOutcome(checked, raised, outcome) : []),
    write: async (tx, _, events) => mail?.(tx, checked, events.filter(isAlertOutcome)),
  });
}

const checkNow = (tx: Transaction, id: string, account: string, now: Date) => tx`
  INSERT INTO alert_checks (alert, account, next_at) VALUES (${id}, ${account}, ${now})
  ON CONFLICT (alert) DO UPDATE SET next_at = excluded.next_at`;

const selectOwned = (sql: Queryable) => sql`
  SELECT t.*, ${recipientColumns(sql)} FROM alerts t ${recipientJoins(sql, 'alert')}`;

/** An alert of the owner; throws 404. */
export async function requireAlert(sql: Queryable, { account, mode }: Owner, id: string): Promise<OwnedAlert> {
  const [alert] = isId('alr', id)
    ? await sql<OwnedAlert[]>`
        ${selectOwned(sql)} WHERE t.id = ${id} AND t.account = ${account} AND t.mode = ${mode}`
    : [];
  if (alert === undefined) throw notFound('alert');
  return alert;
}

/** All alerts of the owner, newest first. */
export const listAlerts = (sql: Queryable, { account, mode }: Owner): Promise<OwnedAlert[]> =>
  sql<OwnedAlert[]>`${selectOwned(sql)} WHERE t.account = ${account} AND t.mode = ${mode} ORDER BY t.id DESC`;

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
