import type { Sql, Transaction } from './connect.ts';
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
