import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { locks } from './locks.ts';

/** Positions per partition of `scans`. A migration creates the first two with this size, so it must not change. */
const partitionSize = 20_000_000;
const partitionsAhead = 2;

/** A lock that is not granted within this time is tried again by the next call, which comes long before it is needed. */
const lockTimeout = '200ms';

/**
 * Creates the partitions that scans will need next. Only reads when they exist; safe to call from any process. Rejects when
 * something else locks the table, such as a vacuum; appends and reads go on meanwhile.
 */
export async function ensurePartitions(sql: Sql): Promise<void> {
  const [{ position }] = await sql<[{ position: number }]>`SELECT last_value AS position FROM log_position`;
  const current = Math.floor(position / partitionSize);
  const wanted = Array.from({ length: partitionsAhead + 1 }, (_, i) => current + i);
  const existing = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relname = ANY(${wanted.map((number) => `scans_${number}`)})`;
  const names = new Set(existing.map(({ name }) => name));
  const missing = wanted.filter((number) => !names.has(`scans_${number}`));
  if (missing.length === 0) return;
  await sql.begin(async (tx) => {
    await tx`SELECT set_config('lock_timeout', ${lockTimeout}, true)`;
    await createPartitions(tx, missing);
  });
}

/** Creates all partitions of a log that ends at `position`. */
export const makePartitionsUpTo = (tx: Transaction, position: number): Promise<void> =>
  createPartitions(
    tx,
    Array.from({ length: Math.floor(position / partitionSize) + 1 }, (_, number) => number),
  );

async function createPartitions(tx: Transaction, numbers: number[]): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(${locks.partitions})`;
  for (const number of numbers) await createPartition(tx, `scans_${number}`, number * partitionSize);
}

/**
 * Attaches a new table, because creating it as a partition would need a lock on `scans` that waits for every reader, a backup
 * included, while all appends wait for that lock.
 */
async function createPartition(tx: Transaction, name: string, from: number): Promise<void> {
  const [{ exists }] = await tx<[{ exists: boolean }]>`SELECT to_regclass(${name}) IS NOT NULL AS exists`;
  if (exists) return;
  await tx.unsafe(`CREATE TABLE ${name} (LIKE scans INCLUDING ALL)`);
  await tx.unsafe(`ALTER TABLE scans ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${from + partitionSize})`);
}

export interface Partition {
  name: string;
  from: number;
  /** Exclusive. */
  to: number;
}

/** The partition of a position, or the next one when the retention has dropped that partition. */
export async function partitionAt(sql: Queryable, position: number): Promise<Partition | undefined> {
  return (await listPartitions(sql)).find(({ to }) => to > position);
}

/** All partitions in the order of their positions. */
export const listPartitions = (sql: Queryable): Promise<Partition[]> => sql<Partition[]>`
  SELECT name, bounds[1]::bigint AS "from", bounds[2]::bigint AS "to" FROM (
    SELECT c.relname AS name,
      regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \\(''?(\\d+)''?\\) TO \\(''?(\\d+)''?\\)') AS bounds
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'scans'::regclass
  ) AS partitions
  ORDER BY "to"`;

/** Makes the space of deleted scans reusable. Does not block reads or writes. */
export async function vacuumScans(sql: Sql): Promise<void> {
  const connection = await sql.reserve();
  try {
    await connection`SET statement_timeout = 0`;
    await connection.unsafe('VACUUM (SKIP_LOCKED) scans');
  } finally {
    await connection`RESET statement_timeout`;
    connection.release();
  }
}
