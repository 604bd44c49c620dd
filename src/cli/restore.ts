import { resolve } from 'node:path';
import { readConfig } from '../config.ts';
import { StartError } from '../lib/errors.ts';
import { createSecretBox } from '../lib/secret-box.ts';
import { checkBackup, restoreBackup } from '../log/restore.ts';
import { openDataDirectory, readSecrets } from '../stack/data-directory.ts';
import { withStoredDatabase } from './connection.ts';
import { progressBar } from './progress.ts';
import { green, say } from './terminal.ts';

/** Fills an empty database from a backup. Everything that can be wrong with the file or the key is found out before. */
export async function restore(
  file: string,
  { data, lostKey = false }: { data: string; lostKey?: boolean },
): Promise<void> {
  const checked = await checkBackup(resolve(file));
  const { position, created_at, secret_key } = checked.header;
  if (secret_key !== null && !lostKey) refuseOtherKey(secret_key, data);
  const bar = progressBar('restoring');
  await withStoredDatabase(data, (sql) => restoreBackup(sql, checked, bar.update));
  bar.end();
  say(`${green('✓')} The log is as it was at ${created_at}, up to position ${position}.`);
  if (lostKey) say('  Run ./scanlog secret reset before you start the service.');
  else say('  Start the service: it fills the warehouse by itself. ./scanlog verify then compares everything.');
}

/** A service with another key would not start on the restored database. */
function refuseOtherKey(fingerprint: string, data: string): void {
  const { secretKey, databaseUrl } = readConfig(process.env);
  const isOther = (key: string) => createSecretBox(key).fingerprint.toString('hex') !== fingerprint;
  if (secretKey !== undefined) {
    if (isOther(secretKey)) throw new StartError('SECRET_KEY is not the one that the backup was made under.');
  } else if (databaseUrl === undefined && isOther(readSecrets(openDataDirectory(data)).secretKey))
    throw new StartError(
      `The key in ${data}/secrets.json is not the one that the backup was made under: put the secrets.json of the folder that was backed up into a new folder, and restore there.`,
    );
}
