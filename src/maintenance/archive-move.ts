import { blockSize, logBlocks } from '../../projections/log-blocks.ts';
import { archiveFormat } from '../archive/format.ts';
import { codeOf } from '../lib/errors.ts';
import type { Sql, Transaction } from '../log/connect.ts';
import { ensureFloorAt } from '../log/floor.ts';
import { tryLock } from '../log/history.ts';
import { locks } from '../log/locks.ts';
import { isReadForLong, type Partition } from '../log/partitions.ts';
import { rowHash } from '../log/scan-lines.ts';
import type { Fingerprint } from './archive-blocks.ts';
import { type ArchiveUnit, archivedTo } from './archive-plan.ts';
import type { StoredFile } from './archive-write.ts';
import { countRemoved } from './removed-scans.ts';
import { appendServiceEvent } from './service-event.ts';

/** A file, and the scans in Postgres that it was written from. */
export interface FileOfScans extends StoredFile {
  fingerprint: Fingerprint;
}

/** Unless it is `moved`, nothing has changed. */
export type MoveOutcome =
  | 'moved'
  /** An erasure or the retention has deleted scans since the files were written. */
  | 'changed'
  /** Another transaction reads the log, or the retention removes scans from it. */
  | 'busy';

/** While the drop of a partition waits for readers, redirects queue after it, so it waits no longer than this. */
const dropLockTimeout = '200ms';
const lockNotAvailable = '55P03';
/** A drop is not attempted while a transaction of this age reads the log. */
const longReadMs = 1_000;

class Changed extends Error {}

/**
 * Moves scans from `scans` to the catalogue in one transaction, if Postgres still has exactly those in the files. Scans never
 * change and old positions get no new ones, so a statement finds the scans of the one before it, or fewer: equal numbers
 * mean equal scans.
 */
export const moveScans = (
  sql: Sql,
  unit: ArchiveUnit,
  files: FileOfScans[],
  { target, now }: { target: string; now: Date },
): Promise<MoveOutcome> =>
  sql
    .begin(async (tx): Promise<MoveOutcome> => {
      await tx`SET LOCAL statement_timeout = 0`;
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
      if (!(await tryLock(tx, locks.retention))) return 'busy';
      if (unit.partitions.length > 0) {
        // Checked before a whole partition is read, and without a lock for which redirects would have to wait.
        if (await isReadForLong(tx, longReadMs)) return 'busy';
        await tx`SELECT set_config('lock_timeout', ${dropLockTimeout}, true)`;
        // Prevents that an erasure deletes scans of them. No scan is added to a partition that is complete.
        for (const { name } of unit.partitions) await tx`LOCK TABLE ${tx(name)} IN SHARE MODE`;
      }
      const from = unit.ranges[0]?.from ?? 0;
      if ((await archivedTo(tx)) !== from - 1) throw new Changed();
      for (const file of files) await requireUnchanged(tx, file);
      const scans = files.reduce((sum, { about }) => sum + about.scans, 0);
      await addToCatalogue(tx, files, now);
      const counted = await countRemoved(
        tx,
        'archived_scans',
        tx`
          SELECT position, code, is_unique, is_bot, rule FROM scans WHERE position >= ${from} AND position <= ${unit.to}`,
      );
      if (counted.scans !== scans) throw new Changed();
      await addLogBlocks(tx, unit.to);
      await removeScans(tx, { from, to: unit.to }, unit.partitions, scans);
      await ensureFloorAt(tx, counted.newest);
      const data = { up_to_position: unit.to, scans, files: files.length, location: target };
      if (scans > 0) await appendServiceEvent(tx, { type: 'scans_archived', data }, now);
      return 'moved';
    })
    .catch((error) => {
      if (error instanceof Changed) return 'changed';
      if (codeOf(error) === lockNotAvailable) return 'busy';
      throw error;
    });

async function requireUnchanged(tx: Transaction, { about: { from, to }, fingerprint }: FileOfScans): Promise<void> {
  const now = await fingerprintOf(tx, from, to);
  if (now.scans !== fingerprint.scans || now.hash !== fingerprint.hash) throw new Changed();
}

async function fingerprintOf(tx: Transaction, from: number, to: number): Promise<Fingerprint> {
  const [row] = await tx<[{ scans: number; hash: string }]>`
    SELECT count(*) AS scans, coalesce(sum(${tx.unsafe(rowHash)}), 0)::text AS hash FROM scans s
    WHERE s.position >= ${from} AND s.position <= ${to}`;
  return { scans: row.scans, hash: BigInt(row.hash) };
}

async function addToCatalogue(tx: Transaction, files: StoredFile[], now: Date): Promise<void> {
  const time = (iso: string) => (iso === '' ? null : iso);
  for (const { about, bytes, sha256, location } of files) {
    const { from, to, scans, earliest, latest } = about;
    await tx`
      INSERT INTO archives
        (from_position, to_position, scans, earliest, latest, bytes, sha256, location, format, archived_at)
      VALUES (${from}, ${to}, ${scans}, ${time(earliest)}::text::timestamptz, ${time(latest)}::text::timestamptz,
        ${bytes}, ${sha256}, ${location}, ${archiveFormat}, ${now})`;
  }
  const locations = files.map(({ location }) => location);
  // A file without its row may have been deleted by another run, after this one lost its connection with the lock.
  const { count } = await tx`DELETE FROM archive_leftovers WHERE location = ANY(${locations})`;
  if (count !== files.length) throw new Changed();
}

/** `log_blocks` is made from `scans`, and has only complete blocks of it: the accounts of later ones are added here. */
async function addLogBlocks(tx: Transaction, to: number): Promise<void> {
  await tx`
    INSERT INTO log_blocks (account, mode, block, has_scans, has_changes)
    SELECT DISTINCT account, mode, ((position - 1) / ${blockSize})::integer, true, false FROM scans
    WHERE position > ${await logBlocks.checkpoint(tx)} AND position <= ${to}
    ON CONFLICT (account, mode, block) DO UPDATE SET has_scans = true`;
}

/** Drops the partitions, and deletes the scans after them; throws unless these are `expected` scans. */
async function removeScans(
  tx: Transaction,
  { from, to }: { from: number; to: number },
  partitions: Partition[],
  expected: number,
): Promise<void> {
  const end = partitions.at(-1)?.to ?? from;
  if (end <= to) {
    const [{ dropped }] = await tx<[{ dropped: number }]>`
      SELECT count(*) AS dropped FROM scans WHERE position >= ${from} AND position < ${end}`;
    // With this setting, the triggers on the log allow the deletion of scans that the catalogue has, and of nothing else.
    await tx`SELECT set_config('scanlog.archiving', 'true', true)`;
    const { count } = await tx`DELETE FROM scans WHERE position >= ${end} AND position <= ${to}`;
    await tx`SELECT set_config('scanlog.archiving', '', true)`;
    if (dropped + count !== expected) throw new Changed();
  }
  for (const { name } of partitions) await tx`DROP TABLE ${tx(name)}`;
}
