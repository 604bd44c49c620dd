import { newShareToken } from '../lib/ids.ts';
import type { Queryable, Transaction } from '../lib/sql.ts';

interface ReportKey {
  report: string;
  account: string;
}

/**
 * Replaces the recipients of a report. Those who stay keep their link; one who has unsubscribed stays so, also if the owner
 * removes the address and adds it again.
 */
export async function writeRecipients(tx: Transaction, { report, account }: ReportKey, to: string[]): Promise<void> {
  await tx`
    DELETE FROM report_recipients
    WHERE report = ${report} AND unsubscribed_at IS NULL AND NOT lower(email) = ANY(${to.map(lower)})`;
  await tx`UPDATE report_recipients SET number = NULL WHERE report = ${report}`;
  for (const [number, email] of to.entries())
    await tx`
      INSERT INTO report_recipients (token, report, account, email, number)
      VALUES (${newShareToken()}, ${report}, ${account}, ${email}, ${number})
      ON CONFLICT (report, lower(email)) DO UPDATE SET email = excluded.email, number = excluded.number`;
}

const lower = (email: string) => email.toLowerCase();

/** A recipient, and the report that the link to unsubscribe is about. */
export interface Recipient {
  token: string;
  email: string;
  unsubscribed_at: Date | null;
  /** The name of the report. */
  report_name: string;
}

/** The recipient of a link; undefined if the report or the recipient was removed. */
export async function findRecipient(sql: Queryable, token: string): Promise<Recipient | undefined> {
  const [recipient] = await sql<Recipient[]>`
    SELECT p.token, p.email, p.unsubscribed_at, r.name AS report_name
    FROM report_recipients p JOIN reports r ON r.id = p.report WHERE p.token = ${token}`;
  return recipient;
}

/** Ends or resumes the mails to a recipient; mails that wait are not sent any more. */
export async function setSubscribed(sql: Queryable, token: string, isSubscribed: boolean, now: Date): Promise<void> {
  const [recipient] = await sql<{ report: string; email: string }[]>`
    UPDATE report_recipients SET unsubscribed_at = ${isSubscribed ? null : now}
    WHERE token = ${token} RETURNING report, email`;
  if (recipient === undefined || isSubscribed) return;
  await sql`
    DELETE FROM mails
    WHERE starts_with(key, ${`report/${recipient.report}/`}) AND recipient = ${recipient.email} AND status = 'waiting'`;
}
