import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { connect, isPostgresUnavailable } from '../log/connect.ts';
import { migrate } from '../log/migrate.ts';

const retryMs = 500;

/** Migrates the database. Retries while it is unavailable; any other error is thrown at once. */
export async function migrateWhenAvailable(databaseUrl: string, log: Logger, signal: AbortSignal): Promise<void> {
  // A separate connection without a timeout: a migration, or waiting for another instance to migrate, may take minutes.
  const sql = connect(databaseUrl, { max: 1, name: 'scanlog-migrate', responseTimeoutMs: 'none' });
  const onLocked = () =>
    log.warn('a table that a migration changes is locked, by a backup for example: it is tried again every second');
  signal.addEventListener('abort', () => void sql.end({ timeout: 0 }), { once: true });
  try {
    for (;;) {
      try {
        const applied = await migrate(sql, { onLocked });
        if (applied.length > 0) log.info({ migrations: applied }, 'database migrated');
        return;
      } catch (error) {
        if (!isPostgresUnavailable(error) || signal.aborted) throw error;
        log.warn({ error: messageOf(error) }, 'Postgres is unavailable, retrying the migration');
        await sleep(retryMs, undefined, { signal });
      }
    }
  } finally {
    await sql.end({ timeout: 1 });
  }
}
