import { setTimeout as sleep } from 'node:timers/promises';
import { ScanLine } from '../../events/scan-line.ts';
import { isFallback } from '../../events/targeting/resolver.ts';
import { checkSha256, linesOf, sourceOf } from '../archive/check.ts';
import { ArchiveError } from '../archive/errors.ts';
import { archiveFormat } from '../archive/format.ts';
import { codeOf, messageOf } from '../lib/errors.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import { type ArchiveFile, filesOf } from '../log/archives.ts';
import { tryLock } from '../log/history.ts';
import { locks } from '../log/locks.ts';
import { type StoredFile, storeFile } from './archive-write.ts';
import { abandonFiles, deleteLeftovers, deleteUnnamed, hasLeftovers, waitsForArchive } from './delete-files.ts';
import type { RemovedScans } from './removed-scans.ts';

/** What a rewrite is about to do. */
export type RewriteStep = 'write' | 'replace' | 'delete';

export interface RewriteHooks {
  signal?: AbortSignal | undefined;
  onStep?: ((step: RewriteStep) => unknown) | undefined;
}

interface RewriteOptions extends RewriteHooks {
  sql: Sql;
  file: ArchiveFile;
  now: Date;
  /** Whether a scan stays. */
  keeps(scan: ScanLine): boolean;
  /** Records in the transaction that replaces the file what has left; resolves to false if that is no longer due. */
  onReplace(tx: Transaction, removed: RemovedScans): Promise<boolean>;
}

export type RewriteOutcome =
  | { state: 'progressed' }
  /** Another process is rewriting a file. */
  | { state: 'busy' }
  | { state: 'waiting'; for: string };

const waitForLockMs = 100;
const stopped = Symbol('stopped');
/** While a file is being written: the disk is full or broken, or the folder for temporary files may not be used. */
const diskErrors = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EPERM']);

/**
 * Replaces an archive file by one without some of its scans, or by none if no scan is left. The new file has another name. It
 * is written, synced and read back; one transaction then makes the catalogue name it and queues the old one for deletion. A
 * process that is killed at any moment has changed nothing, or everything but the deletion, and `delete-files.ts` removes
 * what nothing names.
 */
export const rewriteFile = (options: RewriteOptions): Promise<RewriteOutcome> =>
  withRewriteLock(options.sql, { state: 'busy' }, async () => {
    try {
      return await rewrite(options);
    } catch (error) {
      if (!(error instanceof ArchiveError) && error !== stopped && !diskErrors.has(codeOf(error))) throw error;
      await abandonFiles(options.sql, options.now);
      return {
        state: 'waiting',
        for: error === stopped ? 'the service to start again' : waitsForArchive(messageOf(error)),
      };
    }
  });

/** Runs while no other process rewrites files, or resolves to `busy`. The lock is held by an idle transaction. */
export const withRewriteLock = <T>(sql: Sql, busy: T, run: () => Promise<T>): Promise<T> =>
  sql.begin(async (holder) => {
    await holder`SET LOCAL idle_in_transaction_session_timeout = 0`;
    const [lock] = await holder<[{ free: boolean }]>`SELECT pg_try_advisory_xact_lock(${locks.rewriteArchive}) AS free`;
    return lock.free ? run() : busy;
  }) as Promise<T>;

async function rewrite(options: RewriteOptions): Promise<RewriteOutcome> {
  const { sql, now, onStep } = options;
  await onStep?.('write');
  const removed: RemovedScans = new Map();
  const stored = await storeKept(options, removed);
  await onStep?.('replace');
  const isReplaced = await replaceFile(options, stored, removed);
  if (!isReplaced) await abandonFiles(sql, now);
  await onStep?.('delete');
  // What cannot be deleted now stays queued.
  await deleteUnnamed(sql);
  return { state: 'progressed' };
}

/** Writes the scans that stay to a new file, unless there are none, and counts the others. */
async function storeKept(options: RewriteOptions, removed: RemovedScans): Promise<StoredFile | undefined> {
  const { sql, file, now } = options;
  const { from, to, location } = file;
  const blocks = keptBlocks(options, removed);
  const first = await blocks.next();
  if (first.done) return undefined;
  const all = async function* () {
    yield first.value;
    yield* blocks;
  };
  const target = location.slice(0, location.lastIndexOf('/')) || '/';
  return storeFile({ sql, target, range: { from, to }, now }, all());
}

async function* keptBlocks(
  { file: { location, bytes, sha256 }, keeps, signal }: RewriteOptions,
  removed: RemovedScans,
): AsyncGenerator<string[]> {
  const source = await sourceOf(await filesOf(location), location, bytes);
  // Damage would otherwise be copied, with a checksum that is right.
  await checkSha256(source, sha256);
  for await (const lines of linesOf(source)) {
    if (signal?.aborted) throw stopped;
    const kept = lines.filter((line) => {
      const scan = new ScanLine(line);
      if (keeps(scan)) return true;
      count(removed, scan);
      return false;
    });
    if (kept.length > 0) yield kept;
  }
}

function count(removed: RemovedScans, { code, is_unique, is_bot, rule }: ScanLine): void {
  const counts = removed.get(code) ?? { total: 0, unique: 0, uncounted: 0 };
  counts.total++;
  if (is_unique) counts.unique++;
  if (is_bot || isFallback(rule)) counts.uncounted++;
  removed.set(code, counts);
}

class Changed extends Error {}

/** Resolves to whether the catalogue now names the new file. */
async function replaceFile(
  { sql, file, now, onReplace, signal }: RewriteOptions,
  stored: StoredFile | undefined,
  removed: RemovedScans,
): Promise<boolean> {
  for (;;) {
    const outcome = await sql
      .begin(async (tx) => {
        // Held by every transaction that changes the catalogue. Polled, since the retention, a backup or verify can hold it for minutes.
        if (!(await tryLock(tx, locks.retention))) return 'busy';
        if (!(await onReplace(tx, removed))) throw new Changed();
        if (removed.size === 0) return 'same';
        await updateCatalogue(tx, file, stored, now);
        return 'replaced';
      })
      .catch((error) => {
        if (error instanceof Changed) return 'changed';
        throw error;
      });
    if (outcome !== 'busy') return outcome === 'replaced';
    if (signal?.aborted) throw stopped;
    await sleep(waitForLockMs);
  }
}

async function updateCatalogue(
  tx: Transaction,
  { from, location }: ArchiveFile,
  stored: StoredFile | undefined,
  now: Date,
): Promise<void> {
  const time = (iso: string | undefined) => iso || null;
  const { count } = await tx`
    UPDATE archives SET scans = ${stored?.about.scans ?? 0}, earliest = ${time(stored?.about.earliest)}::text::timestamptz,
      latest = ${time(stored?.about.latest)}::text::timestamptz, bytes = ${stored?.bytes ?? 0},
      sha256 = ${stored?.sha256 ?? ''}, location = ${stored?.location ?? null}, format = ${archiveFormat}
    WHERE from_position = ${from} AND location = ${location}`;
  if (count !== 1) throw new Changed();
  await tx`INSERT INTO archive_deletions VALUES (${location}, ${now}, true)`;
  if (stored === undefined) return;
  // An archive run that has started meanwhile may have deleted the new file.
  const written = await tx`DELETE FROM archive_leftovers WHERE location = ${stored.location}`;
  if (written.count !== 1) throw new Changed();
}

/**
 * Deletes all files that nothing names, which may have scans that have left the log. An archive run that is under way deletes
 * its own, unless it is killed.
 */
export const deleteAllLeftovers = (sql: Sql): Promise<RewriteOutcome | { state: 'archiving' }> =>
  withRewriteLock<RewriteOutcome | { state: 'archiving' }>(sql, { state: 'busy' }, () =>
    sql.begin(async (holder) => {
      await holder`SET LOCAL idle_in_transaction_session_timeout = 0`;
      const [lock] = await holder<[{ free: boolean }]>`SELECT pg_try_advisory_xact_lock(${locks.archive}) AS free`;
      const [failed] = await (lock.free ? deleteLeftovers(sql) : deleteUnnamed(sql));
      if (failed !== undefined) return { state: 'waiting', for: waitsForArchive(failed) };
      return { state: lock.free || !(await hasLeftovers(sql)) ? 'progressed' : 'archiving' };
    }),
  );
