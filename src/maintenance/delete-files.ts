import { access } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { ArchiveError } from '../archive/errors.ts';
import { messageOf } from '../lib/errors.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { filesOf } from '../log/archives.ts';

/** Deletes files that a run or a rewrite has left behind, and those that were replaced; resolves to the errors. */
export async function deleteLeftovers(sql: Sql): Promise<string[]> {
  // In this order: a run that is about to add such a file to the catalogue finds its row missing, and writes another file.
  await sql`
    WITH abandoned AS (
      DELETE FROM archive_leftovers l
      WHERE NOT EXISTS (SELECT FROM archives a WHERE a.location = l.location) RETURNING location, since
    )
    INSERT INTO archive_deletions SELECT location, since, false FROM abandoned ON CONFLICT DO NOTHING`;
  return deleteUnnamed(sql);
}

/**
 * Deletes the files that nothing names any more; resolves to the errors. The others are tried again by the next call. A backup
 * or `verify` reads none of them: no file is replaced while one runs (src/log/history.ts).
 */
export async function deleteUnnamed(sql: Sql): Promise<string[]> {
  const rows = await sql<{ location: string; is_replaced: boolean }[]>`
    SELECT location, is_replaced FROM archive_deletions ORDER BY since, location`;
  const failed: string[] = [];
  for (const { location, is_replaced } of rows) {
    try {
      if (is_replaced) await requireFolder(location);
      await (await filesOf(location)).delete(location);
      await sql`DELETE FROM archive_deletions WHERE location = ${location}`;
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      failed.push(messageOf(error));
    }
  }
  return failed;
}

/** The deletion of a missing file succeeds, but a file on a disk that is not mounted is not deleted. */
async function requireFolder(location: string): Promise<void> {
  if (!isAbsolute(location)) return;
  await access(dirname(location)).catch((error) => {
    throw new ArchiveError(`The archive file ${location} cannot be deleted: ${messageOf(error)}`);
  });
}

/** Deletes the files of a rewrite that has failed, as far as that is possible now; all of them have its time. */
export async function abandonFiles(sql: Sql, since: Date): Promise<void> {
  await sql`
    WITH abandoned AS (DELETE FROM archive_leftovers WHERE since = ${since} RETURNING location, since)
    INSERT INTO archive_deletions SELECT location, since, false FROM abandoned ON CONFLICT DO NOTHING`;
  await deleteUnnamed(sql);
}

/** Whether files remain that nothing names. */
export async function hasLeftovers(sql: Queryable): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM archive_deletions
    UNION ALL SELECT 1 FROM archive_leftovers l WHERE NOT EXISTS (SELECT FROM archives a WHERE a.location = l.location)
    LIMIT 1`;
  return row !== undefined;
}

/** An error of the archive as what a step waits for. */
export const waitsForArchive = (reason: string) => `the archive (${reason.replace(/\.$/, '')})`;
