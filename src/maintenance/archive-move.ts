import { archiveFormat } from '../archive/format.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import type { Timers } from '../lib/timers.ts';
import { LogInUse, lockPartitions, prepareDrop, retryDrop } from '../log/drop-partitions.ts';
import { ensureFloorAt } from '../log/floor.ts';
import { tryLock } from '../log/history.ts';
import { locks } from '../log/locks.ts';
import type { Partition } from '../log/partitions.ts';
import { rowHash } from '../log/scan-lines.ts';
import { appendServiceEvent } from '../log/service-event.ts';
import type { Fingerprint } from './archive-blocks.ts';
import { type ArchiveUnit, archivedTo } from './archive-plan.ts';
import type { StoredFile } from './archive-write.ts';
import { addLeaving, countLeaving } from './removed-scans.ts';

/** A file, and the scans in Postgres that it was written from. */
export interface FileOfScans extends StoredFile {
  fingerprint: Fingerprint;
}

/** Unless it is `moved`, nothing has changed. */
export type MoveOutcome =
  | { state: 'moved' }
  /** An erasure or the retention has deleted scans since the files were written. */
  | { state: 'changed' }
  /** Another transaction reads the log, or removes scans from it. */
  | { state: 'waiting'; for: string };

interface MoveOptions {
  target: string;
  now: Date;
  timers?: Timers | undefined;
}

const removalsWait = 'a backup, verify or the retention to end';

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
  { target, now, timers }: MoveOptions,
): Promise<MoveOutcome> =>
  sql
    .begin(async (tx): Promise<MoveOutcome> => {
      await tx`SET LOCAL statement_timeout = 0`;
      await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
      if (!(await tryLock(tx, locks.retention))) return { state: 'waiting', for: removalsWait };
      if (unit.partitions.length > 0) {
        await prepareDrop(tx);
        await lockPartitions(tx, unit.partitions);
      }
      const from = unit.ranges[0]?.from ?? 0;
      if ((await archivedTo(tx)) !== from - 1) throw new Changed();
      for (const file of files) await requireUnchanged(tx, file);
      const scans = files.reduce((sum, { about }) => sum + about.scans, 0);
      const counted = await countLeaving(
        tx,
        tx`SELECT position, code, is_unique, is_bot, rule FROM scans WHERE position >= ${from} AND position <= ${unit.to}`,
      );
      if (counted.scans !== scans) throw new Changed();
      const move = async (attempt: Transaction) => {
        await addToCatalogue(attempt, files, now);
        await addLeaving(attempt, 'archived_scans');
        await removeScans(attempt, { from, to: unit.to }, unit.partitions, scans);
        await ensureFloorAt(attempt, counted.newest);
        const data = { up_to_position: unit.to, scans, files: files.length, location: target };
        if (scans > 0) await appendServiceEvent(attempt, { type: 'scans_archived', data }, now);
      };
      if (unit.partitions.length > 0) await retryDrop(tx, move, timers);
      else await move(tx);
      return { state: 'moved' };
    })
    .catch((error) => {
      if (error instanceof Changed) return { state: 'changed' };
      if (error instanceof LogInUse) return { state: 'waiting', for: error.waitsFor };
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
