import type { Report } from '../../../events/report.ts';
import { dueAt, isTooLate, periodAfter, periodStarting, type ReportPeriod } from '../../../events/report-periods.ts';
import { mailKeyOf, subscribedRecipients, unsubscribingOf } from '../../accounts/mail-recipients.ts';
import type { Queryable, Transaction } from '../../lib/sql.ts';
import { mailBody } from '../../mail/body.ts';
import type { Attachment, Outbox } from '../../mail/outbox.ts';
import type { Renderer } from '../../render/renderer.ts';
import { writeReportCsv } from '../../reports/csv.ts';
import { fileNameOf, type ReportContent, writingIn } from '../../reports/report.ts';
import type { Service } from '../service.ts';
import { readReport } from './figures.ts';

export type ReportMailer = Pick<Service, 'sql' | 'warehouse' | 'clock' | 'addresses'> & {
  mail: Outbox;
  renderer: Renderer;
};

/** A report whose period has ended. `period` is the first day of it. */
export type DueReport = Report & { period: string };

/** Reports that are due, the longest first; none of suspended accounts. */
export const dueReports = (sql: Queryable, now: Date, limit: number): Promise<DueReport[]> =>
  sql<DueReport[]>`
    SELECT r.*, s.period FROM report_schedules s JOIN reports r ON r.id = s.report JOIN accounts a ON a.id = r.account
    WHERE s.due_at <= ${now} AND a.suspended_at IS NULL ORDER BY s.due_at LIMIT ${limit}`;

const retryMs = 5 * 60_000;

/** Lets other reports go first when one could not be made. */
export const postpone = (sql: Queryable, { id, period }: DueReport, now: Date) => sql`
  UPDATE report_schedules SET due_at = ${new Date(now.getTime() + retryMs)} WHERE report = ${id} AND period = ${period}`;

/**
 * Makes the report of a period and queues its mails, together with the next period, in one transaction: after any
 * crash, and with any number of processes, each recipient gets one mail for each period.
 */
export async function mailReport(parts: ReportMailer, report: DueReport): Promise<void> {
  const { sql, clock } = parts;
  const { every, timezone } = report;
  const period = periodStarting(report.period, every);
  const content = isTooLate(period, timezone, clock()) ? undefined : await readReport(parts, report, period);
  const attachment = content && (await attachmentOf(parts, report, content));
  await sql.begin(async (tx) => {
    if (!(await beginNextPeriod(tx, report, period))) return;
    if (content !== undefined && attachment !== undefined) await queueMails(tx, parts, report, content, attachment);
  });
}

/** Of which the outbox has room for one to each recipient. Only a logo with millions of colors makes a file larger. */
const maxAttachmentBytes = 2 * 1024 * 1024;

async function attachmentOf(
  { renderer }: ReportMailer,
  { account, format }: DueReport,
  content: ReportContent,
): Promise<Attachment> {
  const name = fileNameOf(content, format);
  if (format === 'csv') return { name, type: 'text/csv; charset=utf-8', content: writeReportCsv(content) };
  const draw = (drawn: ReportContent) => renderer.run('report', () => drawn, { account });
  const file = await draw(content);
  const isSmall = file.length <= maxAttachmentBytes;
  return { name, type: 'application/pdf', content: isSmall ? file : await draw({ ...content, logo: undefined }) };
}

/** Whether this call is the one that mails the period. */
async function beginNextPeriod(tx: Transaction, report: DueReport, period: ReportPeriod): Promise<boolean> {
  const next = periodAfter(period, report.every);
  const { count } = await tx`
    UPDATE report_schedules SET period = ${next.first}, due_at = ${dueAt(next, report.timezone)}
    WHERE report = ${report.id} AND period = ${report.period}`;
  return count === 1;
}

async function queueMails(
  tx: Transaction,
  { mail, addresses, clock }: ReportMailer,
  report: DueReport,
  content: ReportContent,
  attachment: Attachment,
): Promise<void> {
  const period = writingIn(content.language).period(content.period, content.every);
  for (const recipient of await subscribedRecipients(tx, report.id)) {
    const { email } = recipient;
    const { url, headers } = unsubscribingOf(recipient, addresses.publicUrl);
    const queued = await mail.enqueue(tx, {
      key: `${mailKeyOf(report.id)}${report.period}/${email.toLowerCase()}`,
      account: report.account,
      to: email,
      subject: `${content.name}: ${period}`,
      ...bodyOf(content, url),
      headers,
      attachments: [attachment],
    });
    // Undoes the transaction: all of it is tried again.
    if (queued === 'full') throw new Error('too many mails of the account wait');
  }
  await tx`UPDATE report_schedules SET sent_at = ${clock()} WHERE report = ${report.id}`;
}

function bodyOf(content: ReportContent, unsubscribeUrl: string) {
  const { name, owner, language, every, totals, totalsBefore, codes } = content;
  const { common, words, count, change, period, title } = writingIn(language);
  const withChange = (now: number, before: number) => `${count(now)} (${change(now, before)})`;
  return mailBody({
    language,
    heading: name,
    paragraphs: [`${title(every)}: ${period(content.period, every)}. ${words.attached}`],
    rows: [
      [common.scans, withChange(totals.scans, totalsBefore.scans)],
      [common.visitors, withChange(totals.visitors, totalsBefore.visitors)],
      ...codes.slice(0, 3).map(({ name: code, scans }) => [code, count(scans)] as const),
    ],
    reason: words.reason(owner),
    unsubscribeUrl,
  });
}
