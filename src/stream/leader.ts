import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { connect } from '../log/connect.ts';

const retryMs = 500;
/** How often the lock is checked, per `timeouts.leaderHeartbeatMs`. */
const heartbeatsPerTimeout = 2.5;
/** How long `lead` may take to end after its signal. */
const stopTimeoutMs = 10_000;

export interface Leadership {
  stop(): Promise<void>;
}

interface LeaderOptions {
  databaseUrl: string;
  /** An advisory lock of a Postgres session: it is released with the connection, so a dead process cannot keep it. */
  lock: number;
  name: string;
  log: Logger;
  /** Runs while this process holds the lock; must end soon after the signal is aborted. */
  lead(signal: AbortSignal): Promise<void>;
}

/** Runs `lead` in one process at a time; another process takes over within seconds when the leader is gone. */
export function seekLeadership({ databaseUrl, lock, name, log, lead }: LeaderOptions): Leadership {
  async function term(stopping: AbortSignal): Promise<void> {
    const sql = connect(databaseUrl, {
      max: 1,
      name: `scanlog-${name}`,
      responseTimeoutMs: timeouts.leaderHeartbeatMs,
    });
    const lost = new AbortController();
    const ended = AbortSignal.any([stopping, lost.signal]);
    let leading: Promise<void> | undefined;
    try {
      if (!(await acquire(sql, lock, stopping))) return;
      log.info({ name }, 'elected leader');
      leading = lead(ended).finally(() => lost.abort());
      leading.catch(() => {});
      while (!ended.aborted) {
        await sleep(timeouts.leaderHeartbeatMs / heartbeatsPerTimeout, undefined, { signal: ended }).catch(() => {});
        // Also detects that the driver has reconnected, which releases the lock.
        if (!ended.aborted && !(await holds(sql, lock))) lost.abort();
      }
      await leading;
    } finally {
      lost.abort();
      // `lead` must end before the lock is released, so that it does not overlap with the next leader.
      await withTimeout(leading?.catch(() => {}) ?? Promise.resolve(), stopTimeoutMs, () => {});
      await sql.end({ timeout: 1 }).catch(() => {});
    }
  }

  /** Tries again on the same connection, because a new one for each try would cost every waiting process 10 ms of CPU. */
  async function acquire(sql: ReturnType<typeof connect>, id: number, stopping: AbortSignal): Promise<boolean> {
    // Otherwise a network that drops packets would leave the session open, with its lock, after the leader stepped down.
    const idleSessionTimeoutMs = 2 * timeouts.leaderHeartbeatMs;
    while (!stopping.aborted) {
      const [{ acquired }] = await sql<[{ acquired: boolean }]>`
        SELECT pg_try_advisory_lock(${id}) AS acquired,
          set_config('idle_session_timeout', ${`${idleSessionTimeoutMs}`}, false)`;
      if (acquired) return true;
      await sleep(retryMs, undefined, { signal: stopping }).catch(() => {});
    }
    return false;
  }

  const holds = async (sql: ReturnType<typeof connect>, id: number): Promise<boolean> => {
    const [row] = await sql`
      SELECT 1 FROM pg_locks
      WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted AND objid = ${id} AND classid = 0`;
    return row !== undefined;
  };

  return every(retryMs, term, {
    onError: (error) => log.warn({ name, error: messageOf(error) }, 'leadership lost or election failed, trying again'),
  });
}
