import { resolve } from 'node:path';
import { readConfig } from '../config/config.ts';
import { StartError } from '../lib/errors.ts';
import { createSecretBox } from '../lib/secret-box.ts';
import { listArchives } from '../log/archives.ts';
import { checkBackup, restoreBackup } from '../maintenance/restore.ts';
import { unreadableFiles } from '../maintenance/verify-archive.ts';
import { openDataDirectory, readSecrets } from '../stack/data-directory.ts';
import { withStoredDatabase } from './connection.ts';
import { progressBar } from './progress.ts';
import { green, print } from './terminal.ts';

/** Fills an empty database from a backup, after checking the whole file and the key. */
export async function restore(
  file: string,
  { data, lostKey = false }: { data: string; lostKey?: boolean },
): Promise<void> {
  const checked = await checkBackup(resolve(file));
  const { position, created_at, secret_key } = checked.header;
  if (secret_key !== null && !lostKey) refuseOtherKey(secret_key, data);
  const bar = progressBar('restoring');
  const unreadable = await withStoredDatabase(data, async (sql) => {
    await restoreBackup(sql, checked, bar.update);
    return unreadableFiles(await listArchives(sql));
  });
  bar.end();
  print(`${green('✓')} The log is restored as of ${created_at}, up to position ${position}.`);
  if (unreadable.length > 0) {
    process.exitCode = 1;
    print('  The backup was made without its archived scans, and these files cannot be read:');
    for (const message of unreadable) print(`  ${message}`);
  }
  if (lostKey) print('  Run ./scanlog secret reset before you start the service.');
  else print('  Start the service, which rebuilds analytics from the log; then run ./scanlog verify.');
}

/** A service with another key would not start on the restored database. */
function refuseOtherKey(fingerprint: string, data: string): void {
  const { secretKey, databaseUrl } = readConfig(process.env);
  const isOther = (key: string) => createSecretBox(key).fingerprint.toString('hex') !== fingerprint;
  if (secretKey !== undefined) {
    if (isOther(secretKey))
      throw new StartError(
        'SECRET_KEY is not the key of the backup: set it to the key of the service that was backed up.',
      );
  } else if (databaseUrl === undefined && isOther(readSecrets(openDataDirectory(data)).secretKey))
    throw new StartError(
      `The key in ${data}/secrets.json is not the key of the backup: copy secrets.json of the original folder into a new folder, and restore there.`,
    );
}
