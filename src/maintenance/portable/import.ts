import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../lib/errors.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Queryable, Sql } from '../../lib/sql.ts';
import { locks } from '../../log/locks.ts';
import { ensurePartitions } from '../../log/partitions.ts';
import { type FilePiece, openAccountFile } from './account-file.ts';
import { admit } from './admit.ts';
import { appendChunk, ChunkSize, chunksOf, type EntryChunk } from './append-entries.ts';
import { entryOf, type FileEntry } from './check-lines.ts';
import type { FileKey } from './file-key.ts';
import { finish } from './finish.ts';
import { createStaging, dropStaging, type Staged, stageFile, visitorOf } from './stage.ts';

/** What an import does next. Each of them begins with a committed state. */
export type ImportStep =
  | { step: 'check'; entries: number }
  | { step: 'append'; entries: number; total: number }
  | { step: 'show'; total: number };

export interface ImportOptions {
  sql: Sql;
  box: SecretBox;
  key: FileKey;
  now: Date;
  /** Awaited. */
  onStep?: (step: ImportStep) => unknown;
}

export interface Imported {
  account: string;
  name: string;
  entries: number;
  visitors: number;
  /** Names of the domains that must be proved again. */
  domains: string[];
  /** The longest time for which the append lock was held, in milliseconds; 0 without entries. */
  lockHeldMs: number;
}

/** An import that has begun. */
interface Unfinished {
  account: string;
  number: number;
  sha256: string;
  entries: number;
}

const visitorsPerInsert = 5_000;
/** Appended entries between two checks that the log has room for more. */
const entriesPerCheck = 1_000_000;

/**
 * Imports the account of a file, while the service runs. Until the last step the account is hidden; an import that was cut off is
 * continued by the next one of the same file. Refuses, and changes nothing, if the file cannot be read to its end, or if
 * anything of the account is taken.
 */
export const importAccount = (file: string, options: ImportOptions): Promise<Imported> =>
  exclusively(options.sql, async () => {
    const { sql, now, onStep = () => {} } = options;
    const { header } = await openAccountFile(file);
    const { account, name } = header;
    await refuseExisting(sql, account);
    await createStaging(sql);
    try {
      const onProgress = (entries: number) => onStep({ step: 'check', entries });
      const staged = await stageFile(file, { ...options, onProgress });
      await startImport(sql, account, staged, now);
      const unfinished = (await findUnfinished(sql, account)) as Unfinished;
      const lockHeldMs = await appendAll(file, unfinished, staged, options);
      await onStep({ step: 'show', total: staged.entries });
      await finish(sql, unfinished, now);
      const domains = await sql<{ name: string }[]>`
        SELECT name FROM domains WHERE account = ${account} AND status <> 'removed' ORDER BY name`;
      const { entries, visitors } = staged;
      return { account, name, entries, visitors, domains: domains.map((domain) => domain.name), lockHeldMs };
    } finally {
      // The next import drops it, too; the error of this one is of interest.
      await dropStaging(sql).catch(() => {});
    }
  });

/** The transaction that holds the locks stays open and idle until the import is done. */
const exclusively = <T>(sql: Sql, run: () => Promise<T>): Promise<T> =>
  sql.begin(async (holder) => {
    await holder`SET LOCAL idle_in_transaction_session_timeout = 0`;
    for (const lock of [locks.accountImport, locks.replayState]) {
      const [row] = await holder<[{ free: boolean }]>`SELECT pg_try_advisory_xact_lock(${lock}) AS free`;
      if (!row.free)
        throw new Refusal('conflict', 'Another import or a replay of the state is under way: wait for it to end.');
    }
    return run();
  }) as Promise<T>;

async function refuseExisting(sql: Queryable, account: string): Promise<void> {
  const [found] = await sql`SELECT 1 FROM accounts WHERE id = ${account}`;
  if (found !== undefined) throw new Refusal('conflict', `The account ${account} exists on this instance.`);
}

async function findUnfinished(sql: Queryable, account: string): Promise<Unfinished | undefined> {
  const [row] = await sql<Unfinished[]>`
    SELECT account, number, sha256, entries FROM account_imports WHERE account = ${account} AND done_at IS NULL`;
  return row;
}

/** Admits the account, unless an import of the same file has done so. */
async function startImport(sql: Sql, account: string, staged: Staged, now: Date): Promise<void> {
  const unfinished = await findUnfinished(sql, account);
  if (unfinished === undefined) return admit(sql, account, staged, now);
  if (unfinished.sha256 !== staged.sha256)
    throw new Refusal(
      'conflict',
      `An import of ${account} from another file was cut off: import that file again, which continues it.`,
    );
}

/**
 * Appends what is missing of the entries; resolves to the longest time for which the append lock was held. The next chunk is read
 * while Postgres appends the one before.
 */
async function appendAll(
  file: string,
  unfinished: Unfinished,
  { entries: total }: Staged,
  { sql, onStep = () => {} }: ImportOptions,
): Promise<number> {
  const { header, pieces } = await openAccountFile(file);
  const size = new ChunkSize();
  const entries = entriesAfterVisitors(sql, pieces);
  const chunks = chunksOf(entries, unfinished.entries, { size, scanLines: header.scan_lines });
  let maxHeldMs = 0;
  let checkAt = unfinished.entries + entriesPerCheck;
  const append = async (chunk: EntryChunk): Promise<void> => {
    const { freeMs, heldMs } = await appendChunk(sql, unfinished, chunk);
    maxHeldMs = Math.max(maxHeldMs, heldMs);
    size.adapt(heldMs);
    // All other appends wait for the lock: it is free for as long as the import had it.
    if (heldMs > freeMs) await sleep(heldMs - freeMs);
  };
  for (let next = await chunks.next(); !next.done; ) {
    const { value: chunk } = next;
    if (chunk.before >= checkAt) {
      // It fails while something else locks the table, and is repeated long before the log needs it.
      await ensurePartitions(sql).catch(() => {});
      checkAt = chunk.before + entriesPerCheck;
    }
    await onStep({ step: 'append', entries: chunk.before, total });
    [, next] = await Promise.all([append(chunk), chunks.next()]);
  }
  return maxHeldMs;
}

/** Inserts the visitors of a file, which come first, and yields its entries. */
async function* entriesAfterVisitors(sql: Sql, pieces: AsyncIterable<FilePiece>): AsyncGenerator<FileEntry[]> {
  let inserting: Promise<void> = Promise.resolve();
  for await (const { section, lines } of pieces) {
    if (section === 'visitors')
      for (let from = 0; from < lines.length; from += visitorsPerInsert) {
        const visitors = lines.slice(from, from + visitorsPerInsert).map(visitorOf);
        await inserting;
        inserting = insertVisitors(sql, visitors);
        // Awaited before the next one.
        inserting.catch(() => {});
      }
    if (section === 'entries') {
      await inserting;
      yield lines.map(entryOf);
    }
  }
  await inserting;
}

/** Sorted, like the visitors of appends, so that two transactions with the same visitors cannot deadlock. */
async function insertVisitors(sql: Sql, visitors: [code: string, visitor: string][]): Promise<void> {
  const array = (values: string[]) => `{${values.join(',')}}`;
  await sql`
    INSERT INTO visitors (code_hash, visitor)
    SELECT hashtextextended(code, 0) AS code_hash, visitor
    FROM unnest(${array(visitors.map(([code]) => code))}::text::text[], ${array(visitors.map(([, visitor]) => visitor))}::text::uuid[])
      AS v (code, visitor)
    ORDER BY code_hash, visitor
    ON CONFLICT DO NOTHING`;
}
