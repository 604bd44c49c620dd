import type { Queryable, Sql } from '../lib/sql.ts';
import type { BackedUp } from './backup.ts';

const maxRecords = 20;

/** Notes that a backup was written, for the operator's console. */
export async function recordBackup(sql: Sql, { position, rows }: BackedUp, now: Date): Promise<void> {
  await sql`
    INSERT INTO backups (finished_at, position, rows) VALUES (${now}, ${position}, ${rows}) ON CONFLICT DO NOTHING`;
  await sql`
    DELETE FROM backups
    WHERE finished_at < (SELECT finished_at FROM backups ORDER BY finished_at DESC OFFSET ${maxRecords - 1} LIMIT 1)`;
}

/** The last backup that `./scanlog backup` has written. */
export async function lastBackup(
  sql: Queryable,
): Promise<{ finished_at: Date; position: number; rows: number } | undefined> {
  const [backup] = await sql<{ finished_at: Date; position: number; rows: number }[]>`
    SELECT finished_at, position, rows FROM backups ORDER BY finished_at DESC LIMIT 1`;
  return backup;
}
