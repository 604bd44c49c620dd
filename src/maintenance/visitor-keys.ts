import { insertSealed } from '../codes/visitor-keys.ts';
import { codeOf, messageOf } from '../lib/errors.ts';
import { every, type Loop } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable, Sql } from '../lib/sql.ts';

const intervalMs = 60_000;
const maxBatchSize = 1_000;
const lockNotAvailable = '55P03';

/**
 * Encrypts up to 1,000 keys that an older version stored unencrypted, in one transaction; returns how many. Several
 * processes may do this at once: each skips the rows that another has locked.
 */
export const sealBatch = (sql: Sql, box: SecretBox): Promise<number> =>
  sql.begin(async (tx) => {
    const keys = await tx<{ code: string; key: Uint8Array }[]>`
      DELETE FROM unsealed_visitor_keys WHERE code IN (
        SELECT code FROM unsealed_visitor_keys ORDER BY code LIMIT ${maxBatchSize} FOR UPDATE SKIP LOCKED
      ) RETURNING code, key`;
    if (keys.length === 0) return 0;
    await insertSealed(
      tx,
      keys.map(({ code, key }) => ({ code, sealed: box.sealVisitorKey(key, code) })),
    );
    return keys.length;
  });

/** Once all keys are encrypted, truncates the table of unencrypted ones, which removes them from disk. */
export async function dropUnsealedFile(sql: Sql): Promise<void> {
  if (!(await isEmptiedFile(sql))) return;
  await sql
    .begin(async (tx) => {
      // Route lookups queue behind a waiting lock, and a backup can hold it up for minutes: then the next run retries.
      await tx`SET LOCAL lock_timeout = '200ms'`;
      await tx`LOCK TABLE unsealed_visitor_keys IN ACCESS EXCLUSIVE MODE`;
      if (await isEmptiedFile(tx)) await tx`TRUNCATE unsealed_visitor_keys`;
    })
    .catch((error) => {
      if (codeOf(error) !== lockNotAvailable) throw error;
    });
}

async function isEmptiedFile(sql: Queryable): Promise<boolean> {
  const [row] = await sql<[{ emptied: boolean }]>`
    SELECT pg_relation_size('unsealed_visitor_keys') > 0 AND NOT EXISTS (SELECT FROM unsealed_visitor_keys) AS emptied`;
  return row.emptied;
}

/** Vacuums destroyed keys, so that new rows overwrite them. Does not block reads or writes. */
export async function vacuumVisitorKeys(sql: Sql): Promise<void> {
  const [{ dead }] = await sql<[{ dead: number }]>`SELECT pg_stat_get_dead_tuples('visitor_keys'::regclass) AS dead`;
  // Skips the table while another process vacuums it.
  if (dead > 0) await sql.unsafe('VACUUM (SKIP_LOCKED) visitor_keys');
}

/** Encrypts unencrypted keys and vacuums destroyed ones, now and every minute. Several processes may run it. */
export function keepVisitorKeys({ sql, box, log }: { sql: Sql; box: SecretBox; log: Logger }): Loop {
  async function once(signal: AbortSignal): Promise<void> {
    let total = 0;
    for (let sealed = -1; sealed !== 0 && !signal.aborted; total += sealed) sealed = await sealBatch(sql, box);
    if (total > 0) log.info({ visitor_keys: total }, 'visitor keys encrypted with SECRET_KEY');
    await dropUnsealedFile(sql);
    await vacuumVisitorKeys(sql);
  }

  return every(intervalMs, once, {
    onError: (error) =>
      log.warn({ error: messageOf(error) }, 'visitor keys could not be encrypted or vacuumed: retrying in 60 s'),
  });
}
