import { randomInt } from 'node:crypto';
import type { Queryable, Transaction } from './connect.ts';

/**
 * A log that was restored is another one from there on: positions behind its end come again, with other events. What
 * still stands under the old names, in NATS and in ClickHouse, is of a future that this log never had, and may even be
 * in use by the service that was backed up. So a restored log takes names of its own for both.
 */
export async function branchOff(tx: Transaction): Promise<void> {
  const branch = randomInt(1_000_000, 2_000_000_000);
  await tx`
    INSERT INTO secrets VALUES ('branch', int4send(${branch}))
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  await tx`SELECT setval(pg_get_serial_sequence('warehouse_tables', 'version'), ${branch})`;
}

/** The stream that this log is relayed to: as the setting says, and apart from that of any log it was restored from. */
export async function streamOfLog(sql: Queryable, stream: string): Promise<string> {
  const [row] = await sql<{ branch: string }[]>`
    SELECT encode(value, 'hex') AS branch FROM secrets WHERE name = 'branch'`;
  return row === undefined ? stream : `${stream}_${row.branch}`;
}
