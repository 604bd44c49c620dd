import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../log/connect.ts';

const everyMs = 60_000;

/** Forgets what has run out: windows, answers kept as long as promised, sessions. Any instance may do it. */
export async function sweep(sql: Sql): Promise<void> {
  await sql`DELETE FROM rate_windows WHERE started_at < now() - interval '2 minutes'`;
  await sql`DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours'`;
  await sql`DELETE FROM console_sessions WHERE ends_at < now()`;
}

export function sweepRegularly(sql: Sql, log: Logger): () => void {
  const timer = setInterval(() => {
    sweep(sql).catch((error) => log.warn({ error: messageOf(error) }, 'could not sweep'));
  }, everyMs);
  return () => clearInterval(timer);
}
