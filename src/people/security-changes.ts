import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import type { Outbox } from '../mail/outbox.ts';
import type { By } from './members.ts';
import type { SecurityChange } from './security-kinds.ts';
import { mailSecurityChange } from './security-mails.ts';

/** Where people are told by mail about what could hand over their user. */
export interface SecurityMail {
  outbox: Outbox;
  publicUrl: string;
}

/** Who changes how a person signs in, and where. */
export interface Origin extends By {
  /** The device of the person; undefined for an operator. */
  from?: { device: string; browser: string } | undefined;
  /** Undefined without SMTP_URL. */
  mail?: SecurityMail | undefined;
}

/** Bounds the list of a person, which has no pages. */
export const maxChanges = 200;

interface NewChange {
  user: string;
  change: SecurityChange;
  detail?: string | undefined;
  /** The address that is told, if it is no longer that of the person. */
  email?: string;
}

/**
 * Records a change for the person, in its transaction, and mails the person what could hand over their user.
 *
 * @example await noteChange(tx, { user, change: 'passkey_added', detail: name }, origin);
 */
export async function noteChange(
  tx: Transaction,
  { user, change, detail, email }: NewChange,
  { actor, now, from, mail }: Origin,
): Promise<void> {
  // Locks the person, so that two changes at the same time get two numbers.
  const [person] = await tx<{ email: string }[]>`SELECT email FROM users WHERE id = ${user} FOR NO KEY UPDATE`;
  const [{ number }] = await tx<[{ number: number }]>`
    INSERT INTO security_changes (user_id, number, change, detail, actor, device, browser, changed_at)
    SELECT ${user}, coalesce(max(number), 0) + 1, ${change}, ${detail ?? null}, ${actor}, ${from?.device ?? null},
      ${from?.browser ?? null}, ${now}::timestamptz
    FROM security_changes WHERE user_id = ${user} RETURNING number`;
  await tx`DELETE FROM security_changes WHERE user_id = ${user} AND number <= ${number - maxChanges}`;
  if (mail === undefined || person === undefined) return;
  const { outbox, publicUrl } = mail;
  await mailSecurityChange(outbox, tx, {
    user,
    change,
    detail,
    isOwn: actor === user,
    from,
    email: email ?? person.email,
    url: `${publicUrl}/console/you`,
    now,
  });
}

/** Records that sessions of a person were ended, if there were any. */
export async function noteEndedSessions(sql: Sql, user: string, ended: string[], origin: Origin): Promise<void> {
  if (ended.length === 0) return;
  const detail = String(ended.length);
  await sql.begin((tx) => noteChange(tx, { user, change: 'sessions_ended', detail }, origin));
}

export interface ListedChange {
  number: number;
  change: SecurityChange;
  detail: string | null;
  actor: string;
  device: string | null;
  browser: string | null;
  changed_at: Date;
}

/** Who made a change, as the person sees it: which of the operators it was is in their audit. */
export const byOf = (actor: string, user: string): 'you' | 'operator' => (actor === user ? 'you' : 'operator');

/** The changes of a person, newest first. */
export const listChanges = (sql: Queryable, user: string): Promise<ListedChange[]> =>
  sql<ListedChange[]>`
    SELECT number, change, detail, actor, device, browser, changed_at FROM security_changes
    WHERE user_id = ${user} ORDER BY number DESC`;
