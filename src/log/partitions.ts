import type { Queryable, Sql, Transaction } from './connect.ts';
import { locks } from './locks.ts';

/** Positions in one partition of the scans. The first two are made by a migration, with this size. */
const size = 20_000_000;
const ahead = 2;

/** Makes the partitions that scans will need next. Cheap when they are there; any instance may do it. */
export async function ensurePartitions(sql: Sql): Promise<void> {
  const [{ position }] = await sql<[{ position: number }]>`SELECT last_value AS position FROM log_position`;
  const current = Math.floor(position / size);
  const wanted = Array.from({ length: ahead + 1 }, (_, i) => current + i);
  const there = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relname = ANY(${wanted.map((number) => `scans_${number}`)})`;
  const known = new Set(there.map(({ name }) => name));
  const missing = wanted.filter((number) => !known.has(`scans_${number}`));
  if (missing.length === 0) return;
  await sql.begin((tx) => make(tx, missing));
}

/** Makes all partitions that a log which ends at `position` can have scans in. */
export const makePartitionsUpTo = (tx: Transaction, position: number): Promise<void> =>
  make(
    tx,
    Array.from({ length: Math.floor(position / size) + 1 }, (_, number) => number),
  );

async function make(tx: Transaction, numbers: number[]): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(${locks.partitions})`;
  for (const number of numbers)
    await tx.unsafe(
      `CREATE TABLE IF NOT EXISTS scans_${number} PARTITION OF scans
       FOR VALUES FROM (${number * size}) TO (${(number + 1) * size})`,
    );
}

export interface Partition {
  name: string;
  /** Its first position, and the first that is not in it. */
  from: number;
  to: number;
}

/** The partition that a position is in, or else the next one; those before it may have been dropped. */
export async function partitionAt(sql: Queryable, position: number): Promise<Partition | undefined> {
  const [partition] = await sql<Partition[]>`
    SELECT name, bounds[1]::bigint AS "from", bounds[2]::bigint AS "to" FROM (
      SELECT c.relname AS name,
        regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \\(''?(\\d+)''?\\) TO \\(''?(\\d+)''?\\)') AS bounds
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'scans'::regclass
    ) AS partitions
    WHERE bounds[2]::bigint > ${position} ORDER BY "to" LIMIT 1`;
  return partition;
}

/**
 * Keeps every partition until the transaction ends. A transaction that reads one state of the whole log calls this first,
 * before its snapshot is taken: a partition that is dropped after that would be missing from what it reads.
 */
export async function holdPartitions(tx: Transaction): Promise<void> {
  await tx`LOCK TABLE scans IN ACCESS SHARE MODE`;
}

/** Whether a transaction that is open for at least `ageMs` reads the log: a partition cannot be dropped before it ends. */
export async function isReadForLong(sql: Queryable, ageMs: number): Promise<boolean> {
  const [reader] = await sql`
    SELECT 1 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'relation' AND l.relation = 'scans'::regclass AND l.database = a.datid AND l.granted
      AND l.pid <> pg_backend_pid() AND a.xact_start <= clock_timestamp() - ${ageMs} * interval '1 millisecond'
    LIMIT 1`;
  return reader !== undefined;
}
