import { hashOfKey } from '../../accounts/keys.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Transaction } from '../../lib/sql.ts';
import type { CursorSource } from '../../log/cursor-source.ts';
import { parseLine } from '../compressed-lines.ts';
import type { FileKey } from './file-key.ts';
import { type AccountRecord, isRecordLine, isSecretRecord } from './records.ts';

/** Tables that records fill; `account` is whether a row names the account. */
export const recordTables = [
  'key_usage',
  'limited_scans',
  'dropped_scans',
  'imports',
  'logo_files',
  'visitor_keys',
  'code_passwords',
  'endpoint_secrets',
  'share_secrets',
  'report_schedules',
  'mail_recipients',
  'account_imports',
  'account_import_positions',
] as const;
type RecordTable = (typeof recordTables)[number];

interface TableRow {
  table: RecordTable;
  row: Record<string, unknown>;
}

/** The record of a line, decrypted. */
export function recordOf(line: string, key: FileKey, account: string): AccountRecord {
  const value = parseLine<unknown>(line);
  if (!isRecordLine(value)) throw new Error('it has a record in an unknown format');
  if (value.kind !== 'sealed') return value;
  const secret = parseLine<unknown>(key.open(value.text, account));
  if (!isSecretRecord(secret)) throw new Error('it has a secret in an unknown format');
  return secret;
}

/** The row that a record becomes, encrypted with the key of this service; undefined for what cursors are sealed with. */
export function rowOf(record: AccountRecord, account: string, box: SecretBox): TableRow | undefined {
  const { kind: _, ...row } = record;
  switch (record.kind) {
    case 'key_usage':
    case 'limited_scans':
    case 'dropped_scans':
      return { table: record.kind, row };
    case 'import':
      return { table: 'imports', row: { account, ...row } };
    case 'logo_file':
      return { table: 'logo_files', row: { account, ...row, content: `\\x${record.content}` } };
    case 'visitor_key': {
      const sealed = box.sealVisitorKey(Buffer.from(record.key, 'hex'), record.code);
      return { table: 'visitor_keys', row: { code: record.code, sealed: `\\x${sealed.toString('hex')}` } };
    }
    case 'code_password':
      return { table: 'code_passwords', row };
    case 'webhook_secret': {
      const endpoint = { account, webhook: record.webhook };
      const previous = record.previous === null ? null : box.seal(record.previous, endpoint);
      return {
        table: 'endpoint_secrets',
        row: { account, ...row, current: box.seal(record.current, endpoint), previous },
      };
    }
    case 'share_secret':
      return { table: 'share_secrets', row: { account, ...row, token_hash: hashOfKey(record.token) } };
    case 'report_schedule':
      return { table: 'report_schedules', row: { account, ...row } };
    case 'mail_recipient':
      return { table: 'mail_recipients', row: { account, ...row } };
    case 'move':
      return { table: 'account_imports', row: { account, ...row } };
    case 'move_positions':
      return { table: 'account_import_positions', row: { account, ...row } };
    case 'cursors':
      return undefined;
  }
}

/** Inserts records into the tables of the schema that is first in the search path; resolves to the source of cursors among them. */
export async function stageRecords(
  tx: Transaction,
  records: AccountRecord[],
  account: string,
  box: SecretBox,
): Promise<CursorSource | undefined> {
  const byTable = Map.groupBy(
    records.flatMap((record) => rowOf(record, account, box) ?? []),
    ({ table }) => table,
  );
  for (const [table, rows] of byTable)
    await tx`
      INSERT INTO ${tx(table)}
      SELECT * FROM jsonb_populate_recordset(NULL::${tx(table)}, ${JSON.stringify(rows.map(({ row }) => row))}::text::jsonb)`;
  return records.find((record) => record.kind === 'cursors')?.cursors;
}
