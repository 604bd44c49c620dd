import type { Report } from '../../../events/report.ts';
import { dueAt, isTooLate, periodAfter, periodStarting, type ReportPeriod } from '../../../events/report-periods.ts';
import { mailKeyOf } from '../../accounts/reports.ts';
import type { Queryable, Transaction } from '../../lib/sql.ts';
import { mailBody } from '../../mail/body.ts';
import type { Attachment, Outbox } from '../../mail/outbox.ts';
import type { Renderer } from '../../render/renderer.ts';
import { writeReportCsv } from '../../reports/csv.ts';
import { changeText, countText, fileNameOf, periodText, type ReportContent, titleText } from '../../reports/report.ts';
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

interface RecipientRow {
  email: string;
  token: string;
}

async function queueMails(
  tx: Transaction,
  { mail, addresses, clock }: ReportMailer,
  report: DueReport,
  content: ReportContent,
  attachment: Attachment,
): Promise<void> {
  const recipients = await tx<RecipientRow[]>`
    SELECT email, token FROM report_recipients
    WHERE report = ${report.id} AND number IS NOT NULL AND unsubscribed_at IS NULL ORDER BY number`;
  for (const { email, token } of recipients) {
    const unsubscribeUrl = `${addresses.publicUrl}/u/${token}`;
    const queued = await mail.enqueue(tx, {
      key: `${mailKeyOf(report.id)}${report.period}/${email.toLowerCase()}`,
      account: report.account,
      to: email,
      subject: `${content.name}: ${periodText(content.period, content.every)}`,
      ...bodyOf(content, unsubscribeUrl),
      // RFC 8058: mail programs show a button, which sends a POST.
      headers: { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
      attachments: [attachment],
    });
    // Undoes the transaction: all of it is tried again.
    if (queued === 'full') throw new Error('too many mails of the account wait');
  }
  await tx`UPDATE report_schedules SET sent_at = ${clock()} WHERE report = ${report.id}`;
}

function bodyOf(content: ReportContent, unsubscribeUrl: string) {
  const { name, owner, every, period, totals, totalsBefore, codes } = content;
  const withChange = (now: number, before: number) => `${countText(now)} (${changeText(now, before)})`;
  return mailBody({
    heading: name,
    paragraphs: [`${titleText(content)}: ${periodText(period, every)}. The attached file has the whole report.`],
    rows: [
      ['Scans', withChange(totals.scans, totalsBefore.scans)],
      ['Visitors', withChange(totals.visitors, totalsBefore.visitors)],
      ...codes.slice(0, 3).map(({ name: code, scans }) => [code, countText(scans)] as const),
    ],
    reason: `You get this report because ${owner} added your address to it.`,
    unsubscribeUrl,
  });
}
