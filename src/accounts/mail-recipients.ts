import { newShareToken } from '../lib/ids.ts';
import type { Queryable, Transaction } from '../lib/sql.ts';

/** Whom reports and alerts are mailed to. Addresses are in `mail_recipients`, never in the log. */

/** What is mailed: the id of a report or alert. */
interface Subject {
  subject: string;
  account: string;
}

/** The recipients of something as its owner sees them. */
export interface Recipients {
  /** Addresses in the order in which they were given. */
  to: string[];
  unsubscribed: string[];
  /** Addresses whose last mail was refused or never taken, with the answer of the mail server. */
  undelivered: { email: string; message: string; at: string }[];
}

/** What the keys of all mails of a report or alert begin with. */
export const mailKeyOf = (subject: string): string => `${subject.startsWith('rpt_') ? 'report' : 'alert'}/${subject}/`;

/** SQL that adds `Recipients` to the rows of a table `t`; goes between its columns and `FROM`, and after it. */
export const recipientColumns = (sql: Queryable) => sql`
  coalesce(p.listed, '{}') AS "to", coalesce(p.unsubscribed, '{}') AS unsubscribed,
  coalesce(m.undelivered, '[]') AS undelivered`;
export const recipientJoins = (sql: Queryable, kind: 'report' | 'alert') => sql`
  LEFT JOIN LATERAL (
    SELECT array_agg(email ORDER BY number) AS listed,
      array_agg(email ORDER BY number) FILTER (WHERE unsubscribed_at IS NOT NULL) AS unsubscribed
    FROM mail_recipients WHERE subject = t.id AND number IS NOT NULL
  ) p ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('email', last.recipient, 'message', last.error, 'at', last.ended_at)) AS undelivered
    FROM (
      SELECT DISTINCT ON (recipient) recipient, status, error, ended_at FROM mails
      WHERE key > ${kind} || '/' || t.id || '/' AND key < ${kind} || '/' || t.id || '0' AND ended_at IS NOT NULL
      ORDER BY recipient, ended_at DESC
    ) AS last WHERE last.status <> 'sent'
  ) m ON true`;

/**
 * Replaces the recipients of a report or alert. Those who stay keep their link; one who has unsubscribed stays so, also if the owner
 * removes the address and adds it again.
 */
export async function writeRecipients(tx: Transaction, { subject, account }: Subject, to: string[]): Promise<void> {
  await tx`
    DELETE FROM mail_recipients
    WHERE subject = ${subject} AND unsubscribed_at IS NULL AND NOT lower(email) = ANY(${to.map(lower)})`;
  await tx`UPDATE mail_recipients SET number = NULL WHERE subject = ${subject}`;
  for (const [number, email] of to.entries())
    await tx`
      INSERT INTO mail_recipients (token, subject, account, email, number)
      VALUES (${newShareToken()}, ${subject}, ${account}, ${email}, ${number})
      ON CONFLICT (subject, lower(email)) DO UPDATE SET email = excluded.email, number = excluded.number`;
}

const lower = (email: string) => email.toLowerCase();

/** Forgets the recipients of a report or alert that is deleted; mails that wait are not sent any more. */
export async function deleteRecipients(tx: Transaction, subject: string): Promise<void> {
  await tx`DELETE FROM mail_recipients WHERE subject = ${subject}`;
  await tx`DELETE FROM mails WHERE starts_with(key, ${mailKeyOf(subject)}) AND status = 'waiting'`;
}

interface MailedRecipient {
  email: string;
  token: string;
}

/** Those who are listed and have not unsubscribed. */
export const subscribedRecipients = (sql: Queryable, subject: string): Promise<MailedRecipient[]> =>
  sql<MailedRecipient[]>`
    SELECT email, token FROM mail_recipients
    WHERE subject = ${subject} AND number IS NOT NULL AND unsubscribed_at IS NULL ORDER BY number`;

/** The link by which a recipient unsubscribes, and the headers by which mail programs show a button of their own (RFC 8058). */
export function unsubscribingOf({ token }: MailedRecipient, publicUrl: string) {
  const url = `${publicUrl}/u/${token}`;
  return { url, headers: { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } };
}

/** A recipient, and the report or alert that the link to unsubscribe is about. */
export interface Recipient {
  token: string;
  email: string;
  unsubscribed_at: Date | null;
  /** The name of the report or alert. */
  name: string;
}

/** The recipient of a link; undefined if the report, the alert or the recipient was removed. */
export async function findRecipient(sql: Queryable, token: string): Promise<Recipient | undefined> {
  const [recipient] = await sql<Recipient[]>`
    SELECT p.token, p.email, p.unsubscribed_at, coalesce(r.name, a.name) AS name
    FROM mail_recipients p LEFT JOIN reports r ON r.id = p.subject LEFT JOIN alerts a ON a.id = p.subject
    WHERE p.token = ${token} AND coalesce(r.id, a.id) IS NOT NULL`;
  return recipient;
}

/** Ends or resumes the mails to a recipient; mails that wait are not sent any more. */
export async function setSubscribed(sql: Queryable, token: string, isSubscribed: boolean, now: Date): Promise<void> {
  const [recipient] = await sql<{ subject: string; email: string }[]>`
    UPDATE mail_recipients SET unsubscribed_at = ${isSubscribed ? null : now}
    WHERE token = ${token} RETURNING subject, email`;
  if (recipient === undefined || isSubscribed) return;
  await sql`
    DELETE FROM mails
    WHERE starts_with(key, ${mailKeyOf(recipient.subject)}) AND recipient = ${recipient.email} AND status = 'waiting'`;
}
