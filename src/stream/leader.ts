import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { connect } from '../log/connect.ts';

const tryEveryMs = 500;
const heartbeatMs = 1_000;
/** A leader that Postgres does not answer for this long has lost the lead: its lock may be gone with its session. */
const heartbeatTimeoutMs = 5_000;
/** Postgres ends the session of a leader that it has not heard from for this long, and so releases its lock. */
const idleSessionTimeoutMs = 10_000;
const endWithinMs = 10_000;

export interface Leadership {
  stop(): Promise<void>;
}

interface Office {
  databaseUrl: string;
  /** An advisory lock of the database's session: gone with the connection, so a dead holder cannot keep it. */
  lock: number;
  name: string;
  log: Logger;
  /** Runs while this process holds the lock; must end soon after the signal. */
  lead(signal: AbortSignal): Promise<void>;
}

/** Sees to it that one process of all leads, and that another takes over within seconds when it is gone. */
export function seekLeadership({ databaseUrl, lock, name, log, lead }: Office): Leadership {
  async function term(stopping: AbortSignal): Promise<void> {
    const sql = connect(databaseUrl, { max: 1, name: `scanlog-${name}`, answerTimeoutMs: heartbeatTimeoutMs });
    const lost = new AbortController();
    const over = AbortSignal.any([stopping, lost.signal]);
    let led: Promise<void> | undefined;
    try {
      // A network that drops packets leaves the session open, with its lock, after the leader has given up.
      const [{ mine }] = await sql<[{ mine: boolean }]>`
        SELECT pg_try_advisory_lock(${lock}) AS mine, set_config('idle_session_timeout', ${`${idleSessionTimeoutMs}`}, false)`;
      if (!mine) return;
      log.info({ name }, 'leading');
      led = lead(over).finally(() => lost.abort());
      led.catch(() => {});
      while (!over.aborted) {
        await sleep(heartbeatMs, undefined, { signal: over }).catch(() => {});
        // Also notices that the connection was made anew, without the lock.
        if (!over.aborted && !(await holds(sql, lock))) lost.abort();
      }
      await led;
    } finally {
      lost.abort();
      // Whoever leads next, maybe this process again, must not find it still at work here.
      const ended = led?.catch(() => {}) ?? Promise.resolve();
      await withTimeout(ended, endWithinMs, () => {});
      await sql.end({ timeout: 1 }).catch(() => {});
    }
  }

  const holds = async (sql: ReturnType<typeof connect>, id: number): Promise<boolean> => {
    const [row] = await sql`
      SELECT 1 FROM pg_locks
      WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted AND objid = ${id} AND classid = 0`;
    return row !== undefined;
  };

  return every(tryEveryMs, term, {
    onError: (error) => log.warn({ name, error: messageOf(error) }, 'lost the lead'),
  });
}
