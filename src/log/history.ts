import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql, Transaction } from '../lib/sql.ts';
import { locks } from './locks.ts';

const retryMs = 50;

/**
 * Runs `read` while the history of the log stays as it is: archive, retention and erasure wait for its end, and appends go on.
 * Entries are never changed otherwise, and positions are assigned in the order of commits, so all statements of `read` find
 * the same entries up to a position that one of them has seen, in the same tables and archive files. They need no common
 * snapshot, which would keep every version of every row of the database for as long as `read` takes.
 *
 * The locks are held by an idle transaction, which has no snapshot. Rejects when its connection is lost: what `read` has
 * found may then be inconsistent.
 *
 * @example
 * const total = await withFixedHistory(sql, () => countByWindows(sql, await headOfLog(sql)));
 */
export const withFixedHistory = <T>(sql: Sql, read: () => Promise<T>): Promise<T> =>
  sql.begin(async (holder) => {
    await holder`SET LOCAL idle_in_transaction_session_timeout = 0`;
    // Polled, because a statement that waits for a lock has a snapshot.
    for (const lock of [locks.retention, locks.erasure]) while (!(await tryShared(holder, lock))) await sleep(retryMs);
    return read();
  }) as Promise<T>;

/** By the simple protocol (no parameters): the portal of the other one would keep the statement's snapshot. */
async function tryShared(tx: Transaction, lock: number): Promise<boolean> {
  const [row] = await tx.unsafe<[{ free: boolean }]>(`SELECT pg_try_advisory_xact_lock_shared(${lock}) AS free`);
  return row.free;
}

/** Takes a lock until the transaction ends, without waiting; resolves to whether it was free. */
export async function tryLock(tx: Transaction, lock: number): Promise<boolean> {
  const [row] = await tx<[{ free: boolean }]>`SELECT pg_try_advisory_xact_lock(${lock}) AS free`;
  return row.free;
}
