import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../lib/sql.ts';

const intervalMs = 60_000;

/** Deletes expired rows. Safe to run on several instances at once. */
export async function sweep(sql: Sql): Promise<void> {
  await sql`DELETE FROM rate_windows WHERE started_at < now() - interval '2 minutes'`;
  await sql`DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours'`;
  // Ended sessions are kept for a while, so that the console can say why they ended.
  await sql`DELETE FROM console_sessions WHERE ends_at < now() - interval '30 days'`;
  await sql`DELETE FROM console_sign_in_links WHERE expires_at < now()`;
  await sql`DELETE FROM one_time_links WHERE expires_at < now()`;
  await sql`DELETE FROM completed_steps WHERE expires_at < now()`;
  await sql`DELETE FROM invitations WHERE expires_at < now()`;
  await sql`DELETE FROM security_changes WHERE changed_at < now() - interval '1 year'`;
  // Must be longer than maxSegmentAgeDays (src/edge/spool/folder.ts) plus any clock skew: without its row, a batch that
  // a spool sends again would be stored twice. No index, since every append would have to maintain it.
  await sql`DELETE FROM scan_writers WHERE written_at < now() - interval '400 days'`;
  await sql`DELETE FROM endpoint_tests WHERE until < now()`;
  await sql`DELETE FROM instances WHERE seen_at < now() - interval '1 hour'`;
}

/** Sweeps once a minute; returns the function that stops it. */
export function sweepRegularly(sql: Sql, log: Logger): () => Promise<void> {
  const onError = (error: unknown) =>
    log.warn({ error: messageOf(error) }, 'expired rows could not be deleted: retrying in 60 s');
  return every(intervalMs, () => sweep(sql), { onError, waitFirst: true }).stop;
}
