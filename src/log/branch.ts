import { randomInt } from 'node:crypto';
import type { Queryable, Transaction } from '../lib/sql.ts';
import { headOfLog } from './read.ts';

/**
 * Gives a restored log its own stream name and table versions. A restored log continues with other events at positions
 * that the original log may have used already, so the original's stream in NATS and tables in ClickHouse do not fit, and
 * the original service may still be using them.
 *
 * `log_branches` keeps where it happened, for cursors of the event feed that are older.
 *
 * `branch` and `log_floor` (floor.ts) are no secrets, but rows of the table `secrets`: instances of older versions read and
 * write them there. Moving them takes two releases, one that writes both tables and one that no longer reads `secrets`.
 */
export async function branchOff(tx: Transaction): Promise<void> {
  const branch = randomInt(1_000_000, 2_000_000_000);
  await tx`
    INSERT INTO secrets VALUES ('branch', int4send(${branch}))
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  await tx`SELECT setval(pg_get_serial_sequence('warehouse_tables', 'version'), ${branch})`;
  await noteBranch(tx, branch);
}

/** A backup of an older version has no `number`, or no table: it is then from before the first cursor. */
async function noteBranch(tx: Transaction, branch: number): Promise<void> {
  const columns = await tx<{ name: string }[]>`
    SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass('log_branches') AND attnum > 0`;
  const after = await headOfLog(tx);
  if (columns.some(({ name }) => name === 'number'))
    await tx`
      INSERT INTO log_branches (branch, after, number)
      SELECT ${branch}, ${after}, coalesce(max(number), 0) + 1 FROM log_branches`;
  else if (columns.length > 0) await tx`INSERT INTO log_branches (branch, after) VALUES (${branch}, ${after})`;
}

/** The name of the stream that this log is relayed to: the setting, with a suffix if the log was restored. */
export async function streamOfLog(sql: Queryable, stream: string): Promise<string> {
  const [row] = await sql<{ branch: string }[]>`
    SELECT encode(value, 'hex') AS branch FROM secrets WHERE name = 'branch'`;
  return row === undefined ? stream : `${stream}_${row.branch}`;
}
