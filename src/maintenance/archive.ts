import { ArchiveError } from '../archive/errors.ts';
import { Refusal } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import { locks } from '../log/locks.ts';
import { vacuumScans } from '../log/partitions.ts';
import { type Fingerprint, scanBlocks } from './archive-blocks.ts';
import { type FileOfScans, moveScans } from './archive-move.ts';
import {
  type ArchivePlan,
  type ArchiveSizes,
  type ArchiveUnit,
  defaultSizes,
  nextUnit,
  planArchive,
} from './archive-plan.ts';
import { storeFile } from './archive-write.ts';
import { deleteLeftovers } from './delete-files.ts';

/** What a run is about to do. */
export type ArchiveStep =
  | { step: 'write'; from: number; to: number }
  | { step: 'move'; to: number; files: FileOfScans[] }
  /** Scans cannot be moved while a backup, `verify` or another long transaction reads the log. */
  | { step: 'wait'; for: string };

export interface ArchiveOptions {
  sql: Sql;
  /** A folder, or `s3://bucket/prefix`. */
  target: string;
  /** Scans from before this time are moved. */
  before: Date;
  now: Date;
  sizes?: ArchiveSizes;
  onStep?: (step: ArchiveStep) => unknown;
  onProgress?: (done: number, total: number) => void;
  timers?: Timers;
}

export interface Archived extends Pick<ArchivePlan, 'waitsFor'> {
  /** The last archived position. */
  to: number;
  scans: number;
  files: number;
  bytes: number;
  /** Files that no catalogue row names, and that could not be deleted; the next run tries again. */
  leftovers: string[];
}

/** An erasure or the retention changes a range at most a few times. */
const maxAttempts = 5;
const waitMs = 1_000;

/**
 * Moves the oldest scans from Postgres to archive files, in units. Each unit is written, read back and compared first, and
 * then moved in one transaction. A run that is killed has moved the units before; the next one continues.
 */
export async function archiveScans(options: ArchiveOptions): Promise<Archived> {
  const { sql, before } = options;
  return exclusively(sql, async () => {
    const leftovers = await deleteLeftovers(sql);
    const plan = await planArchive(sql, before);
    const done: Archived = { to: plan.after, scans: 0, files: 0, bytes: 0, leftovers, waitsFor: plan.waitsFor };
    for (;;) {
      const unit = await nextUnit(sql, { after: done.to, to: plan.to }, options.sizes ?? defaultSizes);
      if (unit === undefined) break;
      const files = await archiveUnit(options, unit, (scans) =>
        options.onProgress?.(Math.min(done.scans + scans, plan.scans), plan.scans),
      );
      done.to = unit.to;
      done.files += files.length;
      for (const { about, bytes } of files) {
        done.scans += about.scans;
        done.bytes += bytes;
      }
    }
    if (done.scans > 0) await vacuumScans(sql);
    return done;
  });
}

/** The transaction that holds the lock stays open and idle until the run is done. */
const exclusively = <T>(sql: Sql, run: () => Promise<T>): Promise<T> =>
  sql.begin(async (holder) => {
    await holder`SET LOCAL idle_in_transaction_session_timeout = 0`;
    const [lock] = await holder<[{ free: boolean }]>`SELECT pg_try_advisory_xact_lock(${locks.archive}) AS free`;
    if (!lock.free) throw new Refusal('conflict', 'Another archive run is under way: wait for it to end.');
    return run();
  }) as Promise<T>;

/** Writes the files of a unit until they could be moved. */
async function archiveUnit(
  options: ArchiveOptions,
  unit: ArchiveUnit,
  onScans: (scans: number) => void,
): Promise<FileOfScans[]> {
  const { sql, onStep, timers = systemTimers } = options;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const files = await writeUnit(options, unit, onScans);
    await onStep?.({ step: 'move', to: unit.to, files });
    let outcome = await moveScans(sql, unit, files, options);
    for (; outcome.state === 'waiting'; outcome = await moveScans(sql, unit, files, options)) {
      await onStep?.({ step: 'wait', for: outcome.for });
      await timers.sleep(waitMs);
    }
    if (outcome.state === 'moved') return files;
    await deleteLeftovers(sql);
  }
  throw new ArchiveError(
    `Scans up to position ${unit.to} are deleted by an erasure or the retention at the moment: run ./scanlog archive again later.`,
  );
}

async function writeUnit(
  { sql, target, now, sizes = defaultSizes, onStep }: ArchiveOptions,
  { ranges }: ArchiveUnit,
  onScans: (scans: number) => void,
): Promise<FileOfScans[]> {
  const files: FileOfScans[] = [];
  let scans = 0;
  for (const range of ranges) {
    await onStep?.({ step: 'write', ...range });
    const fingerprint: Fingerprint = { scans: 0, hash: 0n };
    const blocks = scanBlocks(sql, { range, positionsPerBlock: sizes.positionsPerBlock, fingerprint });
    const counted = async function* () {
      for await (const lines of blocks) {
        yield lines;
        scans += lines.length;
        onScans(scans);
      }
    };
    files.push({ ...(await storeFile({ sql, target, range, now }, counted())), fingerprint });
  }
  return files;
}
