import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { listArchives } from '../log/archives.ts';
import { migrate } from '../log/migrate.ts';
import { writeBackup } from '../maintenance/backup.ts';
import { recordBackup } from '../maintenance/backup-record.ts';
import { findConfig, notFound, withStoredDatabase } from './connection.ts';
import { progressBar } from './progress.ts';
import { counted, green, print } from './terminal.ts';

/** Writes a backup of the database, whether the service is running or not. */
export async function backup(
  file: string,
  { data, withoutArchive = false }: { data: string; withoutArchive?: boolean },
): Promise<void> {
  const withArchive = !withoutArchive;
  const { databaseUrl } = findConfig(data);
  if (databaseUrl === undefined && !existsSync(join(data, 'postgres'))) throw notFound(data, 'DATABASE_URL');
  const bar = progressBar('backing up');
  const { position, rows, filesNeeded } = await withStoredDatabase(data, async (sql) => {
    await migrate(sql);
    const written = await writeBackup(sql, resolve(file), { now: new Date(), withArchive, onProgress: bar.update });
    await recordBackup(sql, written, new Date());
    return { ...written, filesNeeded: withArchive ? 0 : (await listArchives(sql)).length };
  });
  bar.end();
  print(`${green('✓')} ${file} contains the log up to position ${position}: ${rows.toLocaleString('en')} rows.`);
  if (filesNeeded > 0)
    print(
      `  It does not contain the scans in ${counted(filesNeeded, 'archive file')}: keep these, a restored service reads them.`,
    );
}
