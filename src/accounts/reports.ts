import type { Owner } from '../../events/owner.ts';
import { changeReport, type Report, type ReportSettings, removeReport as removal } from '../../events/report.ts';
import { dueAt, periodAt, periodStarting } from '../../events/report-periods.ts';
import { notFound } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { type By, changePart, refuseBeyond } from './account-parts.ts';
import {
  deleteRecipients,
  type Recipients,
  recipientColumns,
  recipientJoins,
  writeRecipients,
} from './mail-recipients.ts';

/** Reports that an account may have in one mode. */
export const maxReports = 50;
const limit = { table: 'reports', max: maxReports, plural: 'reports', advice: 'Remove some.' } as const;

/** A report as its owner sees it. */
export interface OwnedReport extends Report, Recipients {
  /** The first day of the period that is mailed next, when it is, and when the last one was. */
  period: string | null;
  due_at: Date | null;
  sent_at: Date | null;
}

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
  await changePart(sql, account, by, {
    load: (tx) => refuseBeyond(tx, owner, limit),
    decide: () => [{ type: 'report_created', data: { report, mode, ...settings } }],
    async write(tx) {
      const period = periodAt(by.now, settings.every, settings.timezone);
      await tx`
        INSERT INTO report_schedules (report, account, period, due_at)
        VALUES (${report}, ${account}, ${period.first}, ${dueAt(period, settings.timezone)})`;
      await writeRecipients(tx, { subject: report, account }, to);
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
  await changePart(sql, owner.account, by, {
    load: (tx) => requireReport(tx, owner, id),
    decide: (report) => changeReport(report, change, to !== undefined && String(to) !== String(report.to)),
    async write(tx, report) {
      const { every, timezone } = { ...report, ...settings };
      if (every !== report.every || timezone !== report.timezone) {
        const kept = every === report.every ? report.period : null;
        const period = kept === null ? periodAt(by.now, every, timezone) : periodStarting(kept, every);
        await tx`
          UPDATE report_schedules SET period = ${period.first}, due_at = ${dueAt(period, timezone)} WHERE report = ${id}`;
      }
      if (to !== undefined) await writeRecipients(tx, { subject: id, account: owner.account }, to);
    },
  });
  return requireReport(sql, owner, id);
}

/** Mails that wait are not sent any more either. Throws 404. */
export async function removeReport(sql: Sql, owner: Owner, id: string, by: By): Promise<void> {
  await changePart(sql, owner.account, by, {
    load: (tx) => requireReport(tx, owner, id),
    decide: removal,
    async write(tx) {
      await tx`DELETE FROM report_schedules WHERE report = ${id}`;
      await deleteRecipients(tx, id);
    },
  });
}

/** With the recipients and the schedule. */
const selectOwned = (sql: Queryable) => sql`
  SELECT t.*, s.period, s.due_at, s.sent_at, ${recipientColumns(sql)}
  FROM reports t LEFT JOIN report_schedules s ON s.report = t.id ${recipientJoins(sql, 'report')}`;

/** A report of the owner; throws 404. */
export async function requireReport(sql: Queryable, { account, mode }: Owner, id: string): Promise<OwnedReport> {
  const [report] = isId('rpt', id)
    ? await sql<OwnedReport[]>`
        ${selectOwned(sql)} WHERE t.id = ${id} AND t.account = ${account} AND t.mode = ${mode}`
    : [];
  if (report === undefined) throw notFound('report');
  return report;
}

/** All reports of the owner, newest first. */
export const listReports = (sql: Queryable, { account, mode }: Owner): Promise<OwnedReport[]> =>
  sql<OwnedReport[]>`
    ${selectOwned(sql)} WHERE t.account = ${account} AND t.mode = ${mode} ORDER BY t.id DESC`;
