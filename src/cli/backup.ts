import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { migrate } from '../log/migrate.ts';
import { writeBackup } from '../maintenance/backup.ts';
import { findConfig, notFound, withStoredDatabase } from './connection.ts';
import { progressBar } from './progress.ts';
import { green, print } from './terminal.ts';

/** Writes a backup of the database, whether the service is running or not. */
export async function backup(file: string, { data }: { data: string }): Promise<void> {
  const { databaseUrl } = findConfig(data);
  if (databaseUrl === undefined && !existsSync(join(data, 'postgres'))) throw notFound(data, 'DATABASE_URL');
  const bar = progressBar('backing up');
  const { position, rows } = await withStoredDatabase(data, async (sql) => {
    await migrate(sql);
    return writeBackup(sql, resolve(file), { now: new Date(), onProgress: bar.update });
  });
  bar.end();
  print(`${green('✓')} ${file} contains the log up to position ${position}: ${rows.toLocaleString('en')} rows.`);
}
