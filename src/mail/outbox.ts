import type { Clock } from '../lib/clock.ts';
import type { Queryable, Sql } from '../lib/sql.ts';

export interface Attachment {
  name: string;
  /** Media type. */
  type: string;
  content: Uint8Array;
}

export interface NewMail {
  /** Names the cause, such as `report/rpt_…/2026-11-09/ada@example.com`: a second mail with it is not queued. */
  key: string;
  /** Whom it is counted against; null for mails of the service itself. */
  account: string | null;
  /** One address: recipients do not learn of one another. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Besides those that every mail has, such as `List-Unsubscribe`. */
  headers?: Record<string, string>;
  attachments?: readonly Attachment[];
}

/** `duplicate`: its key is known. `full`: too many of the account wait, or have gone to this address, and this one is dropped. */
export type Queued = 'queued' | 'duplicate' | 'full';

const hourMs = 3_600_000;
/** Mails that wait for one account, and their bytes. Concurrent calls can exceed both by what they add. */
export const maxWaiting = 1_000;
export const maxWaitingBytes = 64 * 1024 * 1024;
/** Of the service itself, for all accounts together. */
const maxWaitingOfService = 20_000;
/** From one account to one address in an hour, waiting ones included: more than all of its reports, and anyone's address can be entered. */
export const maxToOneAddress = 60;
/** Mail servers refuse more, after base64, soon. */
export const maxMailBytes = 10 * 1024 * 1024;

const bytesOf = ({ subject, text, html, attachments = [] }: NewMail): number =>
  attachments.reduce(
    (sum, { content }) => sum + content.length,
    Buffer.byteLength(subject) + Buffer.byteLength(text) + Buffer.byteLength(html),
  );

/**
 * Where the parts of the service put their mails. A mail that is committed is sent by one process of the role `projections`,
 * and retried for days; nothing here waits for the mail server.
 *
 * @example
 * await service.mail?.enqueue(tx, { key: `alert/${id}`, account, to, subject, ...mailBody({ … }) });
 */
export class Outbox {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Queues a mail, in the transaction of its cause if it gets one: one statement, without a lock on other mails. */
  async enqueue(sql: Queryable, mail: NewMail): Promise<Queued> {
    const bytes = bytesOf(mail);
    if (bytes > maxMailBytes) throw new RangeError(`a mail of ${bytes} bytes is larger than ${maxMailBytes}`);
    const { key, account, to, subject, text, html, headers = {}, attachments = [] } = mail;
    const now = this.#clock();
    const hourAgo = new Date(now.getTime() - hourMs);
    const [limit, toOne] = account === null ? [maxWaitingOfService, null] : [maxWaiting, maxToOneAddress];
    // Two conditions: the index does not serve `IS NOT DISTINCT FROM`, which would read the mails that wait for all accounts.
    const isOwn = account === null ? sql`account IS NULL` : sql`account = ${account}`;
    const [row] = await sql<{ is_full: boolean; is_known: boolean; id: number | null }[]>`
      WITH waiting AS (
        SELECT count(*) >= ${limit} OR coalesce(sum(bytes), 0) + ${bytes} > ${maxWaitingBytes}
          OR coalesce(count(*) FILTER (WHERE lower(recipient) = lower(${to})) + (
            SELECT count(*) FROM mails WHERE ${isOwn} AND ended_at > ${hourAgo} AND lower(recipient) = lower(${to})
          ) >= ${toOne}, false) AS is_full
        FROM mails WHERE ${isOwn} AND ended_at IS NULL
      ), added AS (
        INSERT INTO mails (key, account, recipient, subject, plain_text, html, headers, bytes, due_at, created_at)
        SELECT ${key}, ${account}, ${to}, ${subject}, ${text}, ${html}, ${sql.json(headers)}, ${bytes}, ${now}, ${now}
        FROM waiting WHERE NOT is_full
        ON CONFLICT (key) DO NOTHING RETURNING id
      ), attached AS (
        INSERT INTO mail_attachments (mail, number, name, type, content)
        SELECT id, a.number, a.name, a.type, decode(a.content, 'base64')
        FROM added, jsonb_to_recordset(${sql.json(attachments.map(encoded))})
          AS a (number integer, name text, type text, content text)
      )
      SELECT is_full, EXISTS (SELECT FROM mails WHERE key = ${key}) AS is_known, (SELECT id FROM added) AS id FROM waiting`;
    if (row?.id != null) return 'queued';
    return row?.is_full && !row.is_known ? 'full' : 'duplicate';
  }
}

const encoded = ({ name, type, content }: Attachment, number: number) => ({
  number,
  name,
  type,
  content: Buffer.from(content).toString('base64'),
});

/** A mail that is to be sent now. */
export interface DueMail {
  id: number;
  key: string;
  recipient: string;
  subject: string;
  plain_text: string;
  html: string;
  headers: Record<string, string>;
  attachments: Attachment[];
  attempts: number;
  created_at: Date;
}

/** Mails of one account that are sent in an hour, those that are refused included; others wait. */
export const maxPerHour = 500;

/**
 * Takes mails that are due, accounts in turn; none of suspended and deleted accounts. No other call returns them for
 * `leaseMs`, nor does this one after a crash: by then they count as not sent.
 */
export async function takeDue(sql: Sql, now: Date, { limit, leaseMs }: { limit: number; leaseMs: number }) {
  const until = new Date(now.getTime() + leaseMs);
  const mails = await sql<Omit<DueMail, 'attachments'>[]>`
    WITH sent AS (
      SELECT account, count(*) AS mails FROM mails
      WHERE ended_at > ${new Date(now.getTime() - hourMs)} AND account IS NOT NULL GROUP BY account
    ), due AS (
      SELECT m.id, m.due_at, coalesce(s.mails, 0) AS sent, m.account,
        row_number() OVER (PARTITION BY m.account ORDER BY m.due_at, m.id) AS turn
      FROM mails m LEFT JOIN accounts a ON a.id = m.account LEFT JOIN sent s ON s.account = m.account
      WHERE m.status = 'waiting' AND m.due_at <= ${now}
        AND (m.account IS NULL OR (a.id IS NOT NULL AND a.suspended_at IS NULL))
    ), chosen AS (
      SELECT m.id FROM mails m JOIN due USING (id)
      WHERE (due.account IS NULL OR due.sent + due.turn <= ${maxPerHour}) AND m.status = 'waiting' AND m.due_at <= ${now}
      ORDER BY due.turn, due.due_at LIMIT ${limit} FOR UPDATE OF m SKIP LOCKED
    )
    UPDATE mails m SET due_at = ${until}, attempts = m.attempts + 1 FROM chosen WHERE m.id = chosen.id
    RETURNING m.id, m.key, m.recipient, m.subject, m.plain_text, m.html, m.headers, m.attempts, m.created_at`;
  return Promise.all(
    mails.map(async (mail): Promise<DueMail> => ({ ...mail, attachments: await attached(sql, mail) })),
  );
}

const attached = (sql: Sql, { id }: Pick<DueMail, 'id'>): Promise<Attachment[]> =>
  sql<Attachment[]>`SELECT name, type, content FROM mail_attachments WHERE mail = ${id} ORDER BY number`;
