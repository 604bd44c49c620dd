import type { Sql } from '../../src/lib/sql.ts';

/** Ends every rate limit window now, instead of waiting a minute. */
export async function endWindows(sql: Sql): Promise<void> {
  await sql`UPDATE rate_windows SET started_at = least(started_at, clock_timestamp()) - interval '61 seconds'`;
}

/** Keeps every rate limit window open for an hour, so that all requests of a test are in one on a slow machine, too. */
export async function holdWindows(sql: Sql): Promise<void> {
  await sql`UPDATE rate_windows SET started_at = started_at + interval '1 hour'`;
}
