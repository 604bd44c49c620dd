import type { Account, AccountEvent } from '../../events/account.ts';
import type { Owner } from '../../events/owner.ts';
import type { Actor } from '../../events/recorded.ts';
import { changeReport, type Report, type ReportSettings, removeReport as removal } from '../../events/report.ts';
import { dueAt, periodAt, periodStarting } from '../../events/report-periods.ts';
import { writeState } from '../../projections/state.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';
import { findAccount } from './accounts.ts';
import { writeRecipients } from './report-recipients.ts';

/** Reports that an account may have in one mode. */
export const maxReports = 50;

interface By {
  actor: Actor;
  now: Date;
}

/** A report as its owner sees it. */
export type OwnedReport = Report & {
  /** Addresses in the order in which they were given. */
  to: string[];
  unsubscribed: string[];
  /** The first day of the period that is mailed next, when it is, and when the last one was. */
  period: string | null;
  due_at: Date | null;
  sent_at: Date | null;
  /** Addresses whose last mail was refused or never taken, with the response of the mail server. */
  undelivered: { email: string; message: string; at: string }[];
};

export type NewReport = Omit<ReportSettings, 'recipients'> & { to: string[] };

/** Creates a report, which is mailed first after the present period; throws 403 if the account has `maxReports` already. */
export async function createReport(
  sql: Sql,
  owner: Owner,
  { to, ...request }: NewReport,
  by: By,
): Promise<OwnedReport> {
  const { account, mode } = owner;
  const report = newId('rpt', by.now.getTime());
  const settings = { ...request, recipients: to.length };
  await changeReports(sql, account, by, {
    load: () => refuseBeyond(sql, owner),
    decide: () => [{ type: 'report_created', data: { report, mode, ...settings } }],
    async write(tx) {
      const period = periodAt(by.now, settings.every, settings.timezone);
      await tx`
        INSERT INTO report_schedules (report, account, period, due_at)
        VALUES (${report}, ${account}, ${period.first}, ${dueAt(period, settings.timezone)})`;
      await writeRecipients(tx, { report, account }, to);
    },
  });
  return requireReport(sql, owner, report);
}

/** Changes what is given. Another interval begins with the present period, another time zone keeps the period. Throws 404. */
export async function updateReport(
  sql: Sql,
  owner: Owner,
  id: string,
  { to, ...settings }: Partial<NewReport>,
  by: By,
): Promise<OwnedReport> {
  const change = to === undefined ? settings : { ...settings, recipients: to.length };
  await changeReports(sql, owner.account, by, {
    load: () => requireReport(sql, owner, id),
    decide: (report) => changeReport(report, change, to !== undefined && String(to) !== String(report.to)),
    async write(tx, report) {
      const { every, timezone } = { ...report, ...settings };
      if (every !== report.every || timezone !== report.timezone) {
        const kept = every === report.every ? report.period : null;
        const period = kept === null ? periodAt(by.now, every, timezone) : periodStarting(kept, every);
        await tx`
          UPDATE report_schedules SET period = ${period.first}, due_at = ${dueAt(period, timezone)} WHERE report = ${id}`;
      }
      if (to !== undefined) await writeRecipients(tx, { report: id, account: owner.account }, to);
    },
  });
  return requireReport(sql, owner, id);
}

/** Mails that wait are not sent any more either. Throws 404. */
export async function removeReport(sql: Sql, owner: Owner, id: string, by: By): Promise<void> {
  await changeReports(sql, owner.account, by, {
    load: () => requireReport(sql, owner, id),
    decide: removal,
    async write(tx) {
      await tx`DELETE FROM report_schedules WHERE report = ${id}`;
      await tx`DELETE FROM report_recipients WHERE report = ${id}`;
      await tx`DELETE FROM mails WHERE starts_with(key, ${mailKeyOf(id)}) AND status = 'waiting'`;
    },
  });
}

/** What the keys of all mails of a report begin with. */
export const mailKeyOf = (report: string) => `report/${report}/`;

interface Change<S> {
  load(): Promise<S>;
  decide(loaded: S): AccountEvent[];
  /** Writes what is not in the log, in the same transaction. */
  write(tx: Transaction, loaded: S): PromiseLike<unknown>;
}

/** Appends to the stream of the account, whose version makes what was loaded still true. */
async function changeReports<S>(sql: Sql, id: string, by: By, { load, decide, write }: Change<S>): Promise<void> {
  await decideAndAppend<Account & { loaded: S }, AccountEvent>(sql, id, {
    async load() {
      const account = await findAccount(sql, id);
      if (account === undefined) throw notFound('account');
      return { ...account, loaded: await load() };
    },
    decide: ({ loaded }) => decide(loaded),
    async project(tx, { loaded, ...before }, events) {
      await write(tx, loaded);
      return writeState(tx, { accounts: [before] }, events);
    },
    by,
  });
}

async function refuseBeyond(sql: Queryable, { account, mode }: Owner): Promise<void> {
  const [row] = await sql<[{ count: number }]>`
    SELECT count(*)::int AS count FROM reports WHERE account = ${account} AND mode = ${mode}`;
  if (row.count >= maxReports)
    throw new Refusal(
      'quota_exceeded',
      `An account may have ${maxReports} reports, and ${row.count} exist. Remove some.`,
    );
}

/** With the recipients, the schedule and the last mail to each recipient that did not arrive. */
const selectOwned = (sql: Queryable) => sql`
  SELECT r.*, s.period, s.due_at, s.sent_at, coalesce(p.listed, '{}') AS "to", coalesce(p.unsubscribed, '{}') AS unsubscribed,
    coalesce(m.undelivered, '[]') AS undelivered
  FROM reports r LEFT JOIN report_schedules s ON s.report = r.id
  LEFT JOIN LATERAL (
    SELECT array_agg(email ORDER BY number) AS listed,
      array_agg(email ORDER BY number) FILTER (WHERE unsubscribed_at IS NOT NULL) AS unsubscribed
    FROM report_recipients WHERE report = r.id AND number IS NOT NULL
  ) p ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('email', last.recipient, 'message', last.error, 'at', last.ended_at)) AS undelivered
    FROM (
      SELECT DISTINCT ON (recipient) recipient, status, error, ended_at FROM mails
      WHERE key > 'report/' || r.id || '/' AND key < 'report/' || r.id || '0' AND ended_at IS NOT NULL
      ORDER BY recipient, ended_at DESC
    ) AS last WHERE last.status <> 'sent'
  ) m ON true`;

/** A report of the owner; throws 404. */
export async function requireReport(sql: Queryable, { account, mode }: Owner, id: string): Promise<OwnedReport> {
  const [report] = isId('rpt', id)
    ? await sql<OwnedReport[]>`
        ${selectOwned(sql)} WHERE r.id = ${id} AND r.account = ${account} AND r.mode = ${mode}`
    : [];
  if (report === undefined) throw notFound('report');
  return report;
}

/** All reports of the owner, newest first. */
export const listReports = (sql: Queryable, { account, mode }: Owner): Promise<OwnedReport[]> =>
  sql<OwnedReport[]>`
    ${selectOwned(sql)} WHERE r.account = ${account} AND r.mode = ${mode} ORDER BY r.id DESC`;
