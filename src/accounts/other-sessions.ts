import type { Mode } from '../../events/plans.ts';
import type { Actor } from '../../events/recorded.ts';
import type { SessionEndCause } from '../../events/session.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { modeOfSession, type Session } from './console-sessions.ts';
import { isValidKey } from './keys.ts';
import { endedEvent, withSessionEvents } from './session-events.ts';

export interface ListedSession {
  id: string;
  modes: Mode[];
  device: string;
  browser: string;
  is_own_device: boolean;
  is_new_device: boolean;
  created_at: Date;
  last_used_at: Date;
  ends_at: Date;
}

/**
 * Sessions that `own` may see and end: sessions of the same person in all accounts, or sessions with keys of the same account. A
 * session without a live key must not affect those with one.
 */
const withinReach = (sql: Queryable, own: Session) =>
  own.user === null
    ? sql`
        s.account = ${own.account.id} AND s.user_id IS NULL
        AND (${own.keys.some(({ mode }) => mode === 'live')} OR s.live_key IS NULL OR s.id = ${own.id})`
    : sql`s.user_id = ${own.user.id}`;

/** The sessions, last used first. */
export const listSessions = (sql: Queryable, own: Session, now: Date): Promise<ListedSession[]> =>
  sql<ListedSession[]>`
    SELECT s.id, CASE WHEN s.user_id IS NULL THEN array_agg(k.mode ORDER BY k.mode) ELSE '{live,test}' END AS modes,
      s.device, s.browser, s.is_own_device, s.is_new_device, s.created_at, s.last_used_at, s.ends_at
    FROM console_sessions s LEFT JOIN api_keys k ON k.id IN (s.live_key, s.test_key) AND ${isValidKey(sql)}
    WHERE ${withinReach(sql, own)} AND s.ends_at > ${now} AND (k.id IS NOT NULL OR s.user_id IS NOT NULL)
    GROUP BY s.hash ORDER BY s.last_used_at DESC, s.id DESC`;

/** Ends one other session, or all of them without `id`; returns their ids. */
export const endOtherSessions = async (
  sql: Sql,
  own: Session,
  { id, ...by }: { id?: string; actor: Actor; now: Date },
): Promise<string[]> => {
  const reach = sql`${withinReach(sql, own)} AND s.id <> ${own.id} ${id === undefined ? sql`` : sql`AND s.id = ${id}`}`;
  return endSessions(sql, reach, { ...by, cause: 'other_session' });
};

/** Ends the sessions of a person in all accounts, except one; returns their ids. */
export const endSessionsOf = (
  sql: Sql,
  user: string,
  { except, ...by }: { actor: Actor; now: Date; cause: SessionEndCause; except?: string | undefined },
): Promise<string[]> => endSessions(sql, sql`s.user_id = ${user} AND s.id <> ${except ?? ''}`, by);

/** Ends sessions, account by account, each with its event in the log of the account. */
async function endSessions(
  sql: Sql,
  reach: ReturnType<typeof withinReach>,
  { actor, now, cause }: { actor: Actor; now: Date; cause: SessionEndCause },
): Promise<string[]> {
  const accounts = await sql<{ account: string }[]>`
    SELECT DISTINCT s.account FROM console_sessions s WHERE ${reach} AND s.ends_at > ${now}`;
  const ended: string[] = [];
  for (const { account } of accounts)
    ended.push(
      ...(await withSessionEvents(sql, account, now, async (tx) => {
        const rows = await tx<{ id: string; mode: Mode }[]>`
          UPDATE console_sessions s SET ends_at = ${now}, ended_at = ${now}
          WHERE s.account = ${account} AND ${reach} AND s.ends_at > ${now}
          RETURNING s.id, ${modeOfSession(tx)} AS mode`;
        return { result: rows.map((row) => row.id), events: rows.map((row) => endedEvent(row, actor, cause)) };
      })),
    );
  return ended;
}
