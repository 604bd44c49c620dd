import type { Sql } from '../../src/log/connect.ts';

/** Ends every rate limit window now, instead of waiting a minute. */
export async function endWindows(sql: Sql): Promise<void> {
  await sql`UPDATE rate_windows SET started_at = started_at - interval '61 seconds'`;
}
