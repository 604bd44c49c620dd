import type { Queryable, Sql } from '../lib/sql.ts';
import type { DueMail } from './outbox.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Pauses after attempts that the server refused for now, such as by greylisting; the last one repeats. */
const retryMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 4 * hourMs];
/** After an attempt that did not reach the server: others go first, should this mail be the reason. */
const unreachableMs = 30_000;
/** How long a mail is tried. */
export const maxAgeMs = 3 * 24 * hourMs;
/** How long the outcome of a mail is kept. */
const keptMs = 90 * 24 * hourMs;

/** What the mail server did with one mail. */
export type Outcome =
  | { kind: 'sent' }
  /** For good: a bounce. */
  | { kind: 'refused'; reason: string }
  /** For now. */
  | { kind: 'deferred'; reason: string }
  /** The server itself failed, so that the others would fail too. */
  | { kind: 'unreachable'; reason: string };

export type Ending = 'sent' | 'refused' | 'expired';

/** What becomes of a mail after an attempt: its end, or when it is tried again. */
export function afterAttempt(mail: Pick<DueMail, 'attempts' | 'created_at'>, outcome: Outcome, now: Date) {
  if (outcome.kind === 'sent' || outcome.kind === 'refused') return { ending: outcome.kind };
  if (now.getTime() - mail.created_at.getTime() >= maxAgeMs) return { ending: 'expired' as const };
  const pauseMs =
    outcome.kind === 'unreachable' ? unreachableMs : (retryMs[mail.attempts - 1] ?? retryMs.at(-1) ?? hourMs);
  return { dueAt: new Date(now.getTime() + pauseMs) };
}

/** Records an attempt. The content of a mail goes with its last one. */
export async function record(sql: Sql, mail: DueMail, outcome: Outcome, now: Date): Promise<Ending | undefined> {
  const reason = outcome.kind === 'sent' ? null : outcome.reason;
  const next = afterAttempt(mail, outcome, now);
  if (next.ending === undefined) {
    // An attempt that never reached the server does not make the next pause longer.
    const attempts = outcome.kind === 'unreachable' ? mail.attempts - 1 : mail.attempts;
    await sql`
      UPDATE mails SET due_at = ${next.dueAt}, attempts = ${attempts}, error = ${reason}
      WHERE id = ${mail.id} AND status = 'waiting'`;
    return undefined;
  }
  await sql`
    WITH ended AS (
      UPDATE mails SET status = ${next.ending}, ended_at = ${now}, error = ${reason}, due_at = NULL, plain_text = NULL,
        html = NULL, headers = '{}'
      WHERE id = ${mail.id} AND status = 'waiting' RETURNING id
    )
    DELETE FROM mail_attachments WHERE mail IN (SELECT id FROM ended)`;
  return next.ending;
}

/** Deletes what is kept of mails that ended long ago. */
export const forgetOld = (sql: Queryable, now: Date) =>
  sql`DELETE FROM mails WHERE ended_at < ${new Date(now.getTime() - keptMs)}`;

export interface Backlog {
  waiting: number;
  /** How long the mail that is due the longest has been waiting. */
  delaySeconds: number;
}

export async function measureBacklog(sql: Queryable, now: Date): Promise<Backlog> {
  const [row] = await sql<[{ waiting: number; oldest: Date | null }]>`
    SELECT count(*)::int AS waiting, min(due_at) AS oldest FROM mails WHERE status = 'waiting'`;
  const delayMs = row.oldest === null ? 0 : now.getTime() - row.oldest.getTime();
  return { waiting: row.waiting, delaySeconds: Math.max(0, delayMs / 1_000) };
}
