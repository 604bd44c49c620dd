import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { lineVersion } from '../../../events/scan-line.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { codeOf, messageOf, notFound, StartError } from '../../lib/errors.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Sql, Transaction } from '../../lib/sql.ts';
import { withFixedHistory } from '../../log/history.ts';
import { headOfLog } from '../../log/read.ts';
import { CompressedLines } from '../compressed-lines.ts';
import { type FileEnd, type FileHeader, format, type Section, sectionLine } from './account-file.ts';
import { accountEntries } from './export-entries.ts';
import { accountRecords, accountVisitors, type FileLines } from './export-records.ts';
import { type FileKey, newFileKey } from './file-key.ts';

export interface ExportOptions {
  sql: Sql;
  box: SecretBox;
  account: string;
  now: Date;
  /** Awaited. */
  onProgress?: (position: number, head: number) => unknown;
}

export interface Exported extends Pick<FileEnd, 'entries' | 'visitors'> {
  name: string;
  /** The key of the secrets in the file, which is nowhere else. */
  key: string;
}

/**
 * Writes everything of an account to a file, while the service runs. The file appears only when it is complete, and only its owner
 * may read it. It is the state of one moment, like a backup (../backup.ts).
 */
export async function exportAccount(file: string, options: ExportOptions): Promise<Exported> {
  const partial = `${file}.${process.pid}.part`;
  const handle = await open(partial, 'w', 0o600).catch((error) => {
    throw new StartError(`${file} cannot be written: ${messageOf(error)}`);
  });
  try {
    const exported = await withFixedHistory(options.sql, () => writeTo(handle, options));
    await handle.sync();
    await rename(partial, file);
    return exported;
  } catch (error) {
    await rm(partial, { force: true });
    throw isOfFile(error)
      ? new StartError(`${file} cannot be written, and nothing is left of it: ${messageOf(error)}`)
      : error;
  } finally {
    await handle.close();
  }
}

/** Errors of a disk that is full, above a quota or broken. */
const isOfFile = (error: unknown) => ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS'].includes(codeOf(error));

async function writeTo(handle: FileHandle, options: ExportOptions): Promise<Exported> {
  const { sql, box, account, now, onProgress = () => {} } = options;
  const key = newFileKey();
  const lines = new CompressedLines(handle);
  const counts: Record<Section, number> = { records: 0, visitors: 0, entries: 0 };
  const write = async (section: Section, parts: AsyncIterable<FileLines>) => {
    await lines.write(sectionLine(section));
    for await (const { text, count } of parts) {
      await lines.write(text);
      counts[section] += count;
    }
  };
  try {
    const header = await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
      await tx`SET LOCAL statement_timeout = 0`;
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
      const first = await headerOf(tx, account, key, now);
      await lines.write(`${JSON.stringify(first)}\n`);
      await write('records', accountRecords(tx, account, { box, key }));
      await write('visitors', accountVisitors(tx, account));
      return first;
    });
    const { position: head, name } = header;
    await write(
      'entries',
      accountEntries(sql, account, head, (position) => onProgress(position, head)),
    );
    await onProgress(head, head);
    await lines.end((sha256) => JSON.stringify({ end: Object.assign(counts, { sha256 }) satisfies FileEnd }));
    return { name, key: key.text, entries: counts.entries, visitors: counts.visitors };
  } catch (error) {
    await lines.abandon();
    throw error;
  }
}

async function headerOf(tx: Transaction, account: string, key: FileKey, now: Date): Promise<FileHeader> {
  const [found] = await tx<{ name: string }[]>`SELECT name FROM accounts WHERE id = ${account}`;
  if (found === undefined) throw notFound('account');
  return {
    scanlog_account: format,
    version: packageJson.version,
    created_at: now.toISOString(),
    account,
    name: found.name,
    position: await headOfLog(tx),
    scan_lines: lineVersion,
    key: key.fingerprint,
  };
}
