import type { Queryable, Transaction } from './connect.ts';
import { locks } from './locks.ts';

/**
 * The floor of a log that has lost its tail: a failover to an asynchronous replica, or a recovery to an earlier point in
 * time, took back events that had been relayed already, and their positions were drawn again by other events. Everything
 * up to the floor is read from the log only; what the stream or a process has of it may be of the lost tail.
 */
export async function floorOfLog(sql: Queryable): Promise<number> {
  const [row] = await sql<{ position: number }[]>`
    SELECT convert_from(value, 'UTF8')::bigint AS position FROM secrets WHERE name = 'log_floor'`;
  return row?.position ?? 0;
}

/** Ends the log at a position that no event has or had, of this log or of its lost tail, and makes that the floor. */
export async function raiseFloor(tx: Transaction, lostTo: number): Promise<number> {
  await tx`SELECT pg_advisory_xact_lock(${locks.append})`;
  const [row] = await tx<[{ floor: number }]>`
    SELECT setval('log_position', greatest(last_value, ${lostTo}) + 1) AS floor FROM log_position`;
  await tx`
    INSERT INTO secrets VALUES ('log_floor', convert_to(${String(row.floor)}::text, 'UTF8'))
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  return row.floor;
}
