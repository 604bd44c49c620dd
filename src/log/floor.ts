import type { Queryable, Transaction } from '../lib/sql.ts';
import { locks } from './locks.ts';

/**
 * The floor of a log that has lost its tail: a failover to an asynchronous replica, or a point-in-time recovery, removed
 * events that were already relayed, and other events reuse their positions. Everything up to the floor is read from the
 * log only, because the stream or a process may hold events of the lost tail at those positions. Why it is in the table
 * `secrets`: branch.ts.
 */
export async function floorOfLog(sql: Queryable): Promise<number> {
  const [row] = await sql<{ position: number }[]>`
    SELECT convert_from(value, 'UTF8')::bigint AS position FROM secrets WHERE name = 'log_floor'`;
  return row?.position ?? 0;
}

/**
 * Advances the log to a position that neither the log nor its lost tail has used, and makes that the floor. Takes the append
 * lock, so it must be the last step of its transaction, or be followed only by an append.
 */
export async function raiseFloor(tx: Transaction, lostTo: number): Promise<number> {
  // Sent without waiting for a response, because all appends wait for the lock.
  const [, [row]] = await Promise.all([
    tx`SELECT pg_advisory_xact_lock(${locks.append})`,
    tx<[{ floor: number }]>`
      SELECT setval('log_position', greatest(last_value, ${lostTo}) + 1) AS floor FROM log_position`,
    tx`
      INSERT INTO secrets SELECT 'log_floor', convert_to(last_value::text, 'UTF8') FROM log_position
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  ]);
  return row.floor;
}

/**
 * Raises the floor above scans that have left the table. They may still be in the stream, and the last of them may have been
 * the end of the log: without a higher floor, that would look like a lost tail.
 */
export async function ensureFloorAt(tx: Transaction, newest: number | null): Promise<void> {
  if (newest !== null && newest > (await floorOfLog(tx))) await raiseFloor(tx, newest);
}
