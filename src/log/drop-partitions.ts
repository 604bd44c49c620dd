import { codeOf } from '../lib/errors.ts';
import type { Queryable, Transaction } from '../lib/sql.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { locks } from './locks.ts';

/** While the drop of a partition waits for readers, redirects queue after it, so it waits no longer than this. */
const lockTimeout = '200ms';
const lockNotAvailable = '55P03';
/** A drop is not attempted while a transaction of this age reads the log. */
const longReadMs = 1_000;
/** Short reads end within these attempts. A backup does not, and should not keep the erasures waiting. */
const maxAttempts = 5;
const retryMs = 1_000;

/** Other transactions use the log, and partitions cannot be dropped now. */
export class LogInUse extends Error {
  /** As in "waits for …". */
  readonly waitsFor: string;

  constructor(reader: string | undefined) {
    super('partitions of the log cannot be dropped while other transactions use it');
    this.waitsFor = `${reader ?? 'other transactions'} to stop using the log`;
  }
}

/**
 * The oldest transaction that reads the log and has been open for at least `ageMs`, such as "scanlog-cli (Postgres process
 * 4711, transaction since 2026-03-01T02:00:00Z)".
 */
export async function findReader(sql: Queryable, ageMs = longReadMs): Promise<string | undefined> {
  const [reader] = await sql<{ name: string; pid: number; since: Date }[]>`
    SELECT coalesce(nullif(a.application_name, ''), a.backend_type) AS name, a.pid, a.xact_start AS since
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE a.datname = current_database() AND l.locktype = 'relation' AND l.relation = 'scans'::regclass
      AND l.database = a.datid AND l.granted AND l.pid <> pg_backend_pid()
      AND a.xact_start <= clock_timestamp() - ${ageMs} * interval '1 millisecond'
    ORDER BY a.xact_start LIMIT 1`;
  return reader && `${reader.name} (Postgres process ${reader.pid}, transaction since ${reader.since.toISOString()})`;
}

/**
 * Keeps erasures from deleting scans until the transaction ends. Without it, a DELETE would hold a lock on `scans`, for which
 * a drop waits, while it waits for a lock on the partition. Throws `LogInUse` during a long read, without a lock for which
 * redirects would have to wait.
 */
export async function prepareDrop(tx: Transaction): Promise<void> {
  const reader = await findReader(tx);
  if (reader !== undefined) throw new LogInUse(reader);
  await tx`SELECT pg_advisory_xact_lock(${locks.dropPartition})`;
}

/**
 * Also prevents that an older version, which does not know the lock of `prepareDrop`, deletes scans of these partitions. No
 * scan is added to a partition that is complete.
 */
export async function lockPartitions(tx: Transaction, partitions: { name: string }[]): Promise<void> {
  const isLocked = await gotLocks(tx, async (attempt) => {
    for (const { name } of partitions) await attempt`LOCK TABLE ${attempt(name)} IN SHARE MODE`;
  });
  if (!isLocked) throw new LogInUse(await findReader(tx, 0));
  await tx`SELECT set_config('lock_timeout', '0', true)`;
}

/** Whether the transaction may delete scans: resolves to false while another one, which has called `prepareDrop`, is open. */
export async function mayDeleteScans(tx: Transaction): Promise<boolean> {
  const [lock] = await tx<[{ free: boolean }]>`
    SELECT pg_try_advisory_xact_lock_shared(${locks.dropPartition}) AS free`;
  return lock.free;
}

/**
 * Runs `drop` in a savepoint, and again if it did not get its locks. What the transaction has done before, such as counting a
 * partition for minutes, is kept, and no lock of `drop` is held between attempts. Throws `LogInUse` after the last one.
 */
export async function retryDrop(
  tx: Transaction,
  drop: (tx: Transaction) => Promise<void>,
  timers: Timers = systemTimers,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    let reader = await findReader(tx);
    if (reader === undefined) {
      if (await gotLocks(tx, drop)) return;
      reader = await findReader(tx, 0);
    }
    if (attempt === maxAttempts) throw new LogInUse(reader);
    await timers.sleep(retryMs);
  }
}

/** Runs `change` in a savepoint; resolves to whether it got its locks, without which nothing is changed. */
const gotLocks = (tx: Transaction, change: (tx: Transaction) => Promise<void>): Promise<boolean> =>
  tx
    .savepoint(async (attempt) => {
      await attempt`SELECT set_config('lock_timeout', ${lockTimeout}, true)`;
      await change(attempt);
      return true;
    })
    .catch((error) => {
      if (codeOf(error) !== lockNotAvailable) throw error;
      return false;
    });
