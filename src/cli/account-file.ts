import { resolve } from 'node:path';
import { StartError } from '../lib/errors.ts';
import { exportAccount } from '../maintenance/portable/export.ts';
import { type FileKey, fileKeyOf } from '../maintenance/portable/file-key.ts';
import { importAccount } from '../maintenance/portable/import.ts';
import { requireAccount } from './account.ts';
import { boxOf, withDatabase } from './connection.ts';
import { progressBar, progressLine } from './progress.ts';
import { bold, counted, green, print, printJson } from './terminal.ts';

interface Options {
  data: string;
  json?: boolean;
}

/** Writes everything of an account to a file, and prints the key of the secrets in it. */
export async function accountExport(id: string, file: string, { data, json }: Options): Promise<void> {
  const bar = progressBar('exporting');
  const { name, key, entries, visitors } = await withDatabase(data, async (sql) => {
    await requireAccount(sql, id);
    const box = await boxOf(sql, data);
    return exportAccount(resolve(file), { sql, box, account: id, now: new Date(), onProgress: bar.update });
  });
  bar.end();
  if (json) return printJson({ account_id: id, name, file: resolve(file), key, entries, visitors });
  print(`${green('✓')} ${file} has ${id} (${name}): ${counted(entries, 'event')}, scans included.`);
  print(`\nkey of its secrets  ${bold(key)}`);
  print('\nThe key is printed only once, and the file cannot be imported without it: store it apart from the file.');
}

export async function accountImport(file: string, options: Options & { key?: string }): Promise<void> {
  const { data, json } = options;
  const key = readKey(options.key ?? process.env['ACCOUNT_FILE_KEY']);
  const [line, bar] = [progressLine(), progressBar('importing')];
  const imported = await withDatabase(data, async (sql) =>
    importAccount(resolve(file), {
      sql,
      box: await boxOf(sql, data),
      key,
      now: new Date(),
      onStep(step) {
        if (step.step === 'check') line.update(`checking: ${step.entries.toLocaleString('en')} events and scans`);
        if (step.step === 'append') bar.update(step.entries, step.total);
        if (step.step === 'show') bar.update(step.total, step.total);
      },
    }),
  );
  line.clear();
  bar.end();
  const { account, name, entries, visitors, domains, lockHeldMs } = imported;
  if (json)
    return printJson({ account_id: account, name, entries, visitors, domains, append_lock_held_ms: lockHeldMs });
  print(`${green('✓')} ${account} (${name}) is imported: ${counted(entries, 'event')}, scans included.`);
  if (domains.length > 0) print(`  To be proved here: ${domains.join(', ')}.`);
  print('  Its analytics are complete when the service has applied them: run ./scanlog verify.');
}

function readKey(text: string | undefined): FileKey {
  if (text === undefined)
    throw new StartError('The key that the export has printed is missing: set ACCOUNT_FILE_KEY, or pass --key.');
  const key = fileKeyOf(text);
  if (key === undefined) throw new StartError('This is not a key of an account file: it has 43 characters.');
  return key;
}
