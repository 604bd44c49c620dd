import type { SecretBox } from '../../lib/secret-box.ts';
import type { Queryable, Transaction } from '../../lib/sql.ts';
import { readCursorSource } from '../../log/cursor-source.ts';
import type { FileKey } from './file-key.ts';
import type { OpenRecord, SecretRecord } from './records.ts';

/** Lines of one section, and how many they are. */
export interface FileLines {
  text: string;
  count: number;
}

const linesOf = (lines: string[]): FileLines => ({
  text: lines.map((line) => `${line}\n`).join(''),
  count: lines.length,
});

/** Few, because a logo can have a megabyte. */
const rowsPerFetch = 200;
const visitorsPerFetch = 10_000;

interface Fetch {
  /** Of the cursor: another one for each query, since the driver keeps the columns of a statement by its text. */
  name: string;
  query: ReturnType<Queryable>;
  count?: number;
}

/** The rows of a query, some at a time. */
async function* fetched<T extends object>(
  tx: Transaction,
  { name, query, count = rowsPerFetch }: Fetch,
): AsyncGenerator<T[]> {
  const cursor = tx.unsafe(`portable_${name}`);
  await tx`DECLARE ${cursor} NO SCROLL CURSOR FOR ${query}`;
  for (;;) {
    const rows = await tx<T[]>`FETCH ${tx.unsafe(String(count))} FROM ${cursor}`;
    if (rows.length === 0) break;
    yield rows;
  }
  await tx`CLOSE ${cursor}`;
}

/** A query for each kind of record that is not secret: its line as JSON. */
const openQueries: Record<OpenRecord['kind'], (tx: Transaction, account: string) => ReturnType<Queryable>> = {
  key_usage: (tx, account) => tx`
    SELECT json_build_object('kind', 'key_usage', 'key', u.key, 'last_used_at', u.last_used_at)::text AS line
    FROM key_usage u JOIN api_keys k ON k.id = u.key WHERE k.account = ${account} ORDER BY u.key`,
  limited_scans: (tx, account) => tx`
    SELECT json_build_object('kind', 'limited_scans', 'code', l.code, 'used', l.used)::text AS line
    FROM limited_scans l JOIN codes c ON c.id = l.code WHERE c.account = ${account} ORDER BY l.code`,
  dropped_scans: (tx, account) => tx`
    SELECT json_build_object('kind', 'dropped_scans', 'code', d.code, 'total_scans', d.total_scans,
      'unique_scans', d.unique_scans, 'uncounted_scans', d.uncounted_scans)::text AS line
    FROM dropped_scans d JOIN codes c ON c.id = d.code WHERE c.account = ${account} ORDER BY d.code`,
  import: (tx, account) => tx`
    SELECT json_build_object('kind', 'import', 'source', source, 'source_id', source_id, 'code', code)::text AS line
    FROM imports WHERE account = ${account} ORDER BY source, source_id`,
  logo_file: (tx, account) => tx`
    SELECT json_build_object('kind', 'logo_file', 'hash', hash, 'type', type, 'content', encode(content, 'hex'))::text AS line
    FROM logo_files WHERE account = ${account} ORDER BY hash`,
  report_schedule: (tx, account) => tx`
    SELECT json_build_object('kind', 'report_schedule', 'report', report, 'period', period, 'due_at', due_at,
      'sent_at', sent_at)::text AS line
    FROM report_schedules WHERE account = ${account} ORDER BY report`,
  move_positions: (tx, account) => tx`
    SELECT json_build_object('kind', 'move_positions', 'number', number, 'position', position, 'sources', sources)::text
      AS line
    FROM account_import_positions WHERE account = ${account} ORDER BY number, position`,
};

/** Everything of the account that is neither in the log nor made from it. */
export async function* accountRecords(
  tx: Transaction,
  account: string,
  { box, key }: { box: SecretBox; key: FileKey },
): AsyncGenerator<FileLines> {
  for (const [name, query] of Object.entries(openQueries))
    for await (const rows of fetched<{ line: string }>(tx, { name, query: query(tx, account) }))
      yield linesOf(rows.map(({ line }) => line));
  for await (const records of secretRecords(tx, account, box))
    yield linesOf(
      records.map((record) => JSON.stringify({ kind: 'sealed', text: key.seal(JSON.stringify(record), account) })),
    );
}

async function* secretRecords(tx: Transaction, account: string, box: SecretBox): AsyncGenerator<SecretRecord[]> {
  const passwords: ReturnType<Queryable> = tx`
    SELECT p.code, p.hash FROM code_passwords p JOIN codes c ON c.id = p.code WHERE c.account = ${account} ORDER BY p.code`;
  for await (const rows of fetched<{ code: string; hash: string }>(tx, { name: 'passwords', query: passwords }))
    yield rows.map(({ code, hash }) => ({ kind: 'code_password', code, hash }));
  yield* visitorKeys(tx, account, box);
  yield await webhookSecrets(tx, account, box);
  yield (
    await tx<{ share: string; token: string; password_hash: string | null }[]>`
      SELECT share, token, password_hash FROM share_secrets WHERE account = ${account} ORDER BY share`
  ).map((row) => Object.assign(row, { kind: 'share_secret' as const }));
  yield (
    await tx<Omit<Extract<SecretRecord, { kind: 'mail_recipient' }>, 'kind'>[]>`
      SELECT token, subject, email, number, to_json(unsubscribed_at) #>> '{}' AS unsubscribed_at
      FROM mail_recipients WHERE account = ${account} ORDER BY subject, token`
  ).map((row) => Object.assign(row, { kind: 'mail_recipient' as const }));
  yield (
    await tx<Omit<Extract<SecretRecord, { kind: 'move' }>, 'kind'>[]>`
      SELECT number, sha256, after_position, to_position, entries, cursors, to_json(started_at) #>> '{}' AS started_at,
        to_json(done_at) #>> '{}' AS done_at
      FROM account_imports WHERE account = ${account} ORDER BY number`
  ).map((row) => Object.assign(row, { kind: 'move' as const }));
  yield [{ kind: 'cursors', cursors: await readCursorSource(tx) }];
}

interface StoredKey {
  code: string;
  sealed: Buffer | null;
  key: Buffer | null;
}

async function* visitorKeys(tx: Transaction, account: string, box: SecretBox): AsyncGenerator<SecretRecord[]> {
  // A key that an older version stored is not encrypted until src/maintenance/visitor-keys.ts has done so.
  const keys: ReturnType<Queryable> = tx`
    SELECT c.id AS code, k.sealed, u.key FROM codes c
    LEFT JOIN visitor_keys k ON k.code = c.id LEFT JOIN unsealed_visitor_keys u ON u.code = c.id
    WHERE c.account = ${account} AND num_nonnulls(k.sealed, u.key) > 0 ORDER BY c.id`;
  for await (const rows of fetched<StoredKey>(tx, { name: 'visitor_keys', query: keys }))
    yield rows.flatMap(({ code, sealed, key }) => {
      const plain = sealed === null ? key : box.openVisitorKey(sealed, code);
      return plain === null ? [] : [{ kind: 'visitor_key' as const, code, key: plain.toString('hex') }];
    });
}

async function webhookSecrets(tx: Transaction, account: string, box: SecretBox): Promise<SecretRecord[]> {
  const rows = await tx<{ webhook: string; current: string; previous: string | null; previous_until: string | null }[]>`
    SELECT webhook, current, previous, to_json(previous_until) #>> '{}' AS previous_until
    FROM endpoint_secrets WHERE account = ${account} ORDER BY webhook`;
  return rows.map(({ webhook, current, previous, previous_until }) => ({
    kind: 'webhook_secret',
    webhook,
    current: box.open(current, { account, webhook }),
    previous: previous === null ? null : box.open(previous, { account, webhook }),
    previous_until,
  }));
}

/** Who has scanned the codes of the account. Visitors of deleted codes are being removed. */
export async function* accountVisitors(tx: Transaction, account: string): AsyncGenerator<FileLines> {
  const visitors: ReturnType<Queryable> = tx`
    SELECT c.id AS code, v.visitor FROM codes c JOIN visitors v ON v.code_hash = hashtextextended(c.id, 0)
    WHERE c.account = ${account} AND c.status <> 'deleted'`;
  for await (const rows of fetched<{ code: string; visitor: string }>(tx, {
    name: 'visitors',
    query: visitors,
    count: visitorsPerFetch,
  }))
    yield linesOf(rows.map(({ code, visitor }) => `${code}\t${visitor}`));
}
