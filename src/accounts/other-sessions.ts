import type { Mode } from '../../events/plans.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import type { Session } from './console-sessions.ts';
import { isValidKey } from './keys.ts';
import { endedEvent, withSessionEvents } from './session-events.ts';

export interface ListedSession {
  id: string;
  modes: Mode[];
  device: string;
  browser: string;
  is_own_device: boolean;
  created_at: Date;
  last_used_at: Date;
  ends_at: Date;
}

/** Sessions that `own` may see and end: a session without a live key must not affect those with one. */
const withinReach = (sql: Queryable, own: Session) => sql`
  s.account = ${own.account.id}
  AND (${own.keys.some(({ mode }) => mode === 'live')} OR s.live_key IS NULL OR s.id = ${own.id})`;

/** The sessions of the account, last used first. */
export const listSessions = (sql: Queryable, own: Session, now: Date): Promise<ListedSession[]> =>
  sql<ListedSession[]>`
    SELECT s.id, array_agg(k.mode ORDER BY k.mode) AS modes, s.device, s.browser, s.is_own_device, s.created_at,
      s.last_used_at, s.ends_at
    FROM console_sessions s JOIN api_keys k ON k.id IN (s.live_key, s.test_key) AND ${isValidKey(sql)}
    WHERE ${withinReach(sql, own)} AND s.ends_at > ${now}
    GROUP BY s.hash ORDER BY s.last_used_at DESC, s.id DESC`;

/** Ends one other session, or all of them without `id`; returns their ids. `actor` is the key of the own session. */
export const endOtherSessions = (
  sql: Sql,
  own: Session,
  { id, actor, now }: { id?: string; actor: string; now: Date },
): Promise<string[]> =>
  withSessionEvents(sql, own.account.id, now, async (tx) => {
    const rows = await tx<{ id: string; mode: Mode }[]>`
      UPDATE console_sessions s SET ends_at = ${now}, ended_at = ${now}
      WHERE ${withinReach(tx, own)} AND s.id <> ${own.id} AND s.ends_at > ${now}
        ${id === undefined ? tx`` : tx`AND s.id = ${id}`}
      RETURNING s.id, CASE WHEN s.live_key IS NULL THEN 'test' ELSE 'live' END AS mode`;
    return { result: rows.map((row) => row.id), events: rows.map((row) => endedEvent(row, actor, 'other_session')) };
  });
