import { type Clock, systemClock } from '../../lib/clock.ts';
import { codeOf, messageOf, StartError } from '../../lib/errors.ts';
import { createFolder, inspectSegmentFile, listSegments, type SpoolEvent, SpoolFolder } from './folder.ts';
import { lockFolder, SpoolInUse } from './lock.ts';
import { SpoolReader } from './reader.ts';
import { SpoolWriter } from './writer.ts';

export type { SpoolEvent } from './folder.ts';
export { SpoolInUse } from './lock.ts';
export { SpoolFull } from './writer.ts';

/** A queue of opaque records on disk that survives `kill -9` and power failure. */
export interface Spool {
  /**
   * Resolves once the record is written and synced; it must not be changed until then. Rejects with `SpoolFull`
   * when it could not be stored. Later appends succeed as soon as there is space.
   */
  append(record: Uint8Array): Promise<void>;
  /** The oldest records that were not dropped: as many as fit into `maxBytes`, but at least one if there is any. */
  peek(maxBytes: number): Promise<Uint8Array[]>;
  /**
   * Removes the oldest record, or the `count` oldest. A segment is deleted from disk once it is full and all its records are dropped, so
   * after a restart `peek` returns the records of the oldest segment again: consumers must detect duplicates.
   */
  drop(count?: number): Promise<void>;
  /** Deletes the newest segment too, if all its records are dropped. Call it in a pause: the next append creates a file. */
  trim(): Promise<void>;
  /** Number and size of the records that were not dropped. */
  readonly waiting: { records: number; bytes: number };
  /** Waits for pending appends, then unlocks the folder. */
  close(): Promise<void>;
}

export interface SpoolOptions {
  /** Created if missing, and locked against other processes. */
  folder: string;
  /** The total size of all segments on disk. */
  maxBytes: number;
  /** Size of a segment: disk space is freed, and records are repeated after a restart, by whole segments. */
  segmentBytes?: number | undefined;
  /** Size of the new records that stay in memory, so that they are not read from disk. */
  memoryBytes?: number | undefined;
  onEvent?: ((event: SpoolEvent) => void) | undefined;
  clock?: Clock | undefined;
}

const maxSegmentBytes = 8 * 1024 * 1024;
/** So that a small spool has space again when a part of it is dropped. */
const minSegments = 4;
const defaultMemoryBytes = 32 * 1024 * 1024;

/** The spool's files cannot be read or written. */
export class SpoolUnusable extends StartError {
  constructor(folder: string, cause: unknown) {
    super(`The spool ${folder} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Opens a spool, including the records that an earlier process left in it. Throws `SpoolInUse` if another process has it
 * open, and `SpoolUnusable` if its files cannot be read or written.
 *
 * ```ts
 * const spool = await openSpool({ folder: 'data/spool', maxBytes: 1024 ** 3 });
 * await spool.append(batch);                       // on disk
 * for (let next = await spool.peek(65_536); next.length > 0; next = await spool.peek(65_536)) {
 *   await send(next);
 *   await spool.drop(next.length);
 * }
 * ```
 */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { folder: path, maxBytes, memoryBytes = defaultMemoryBytes, clock = systemClock } = options;
  const segmentBytes = options.segmentBytes ?? Math.min(maxSegmentBytes, Math.ceil(maxBytes / minSegments));
  const report = (event: SpoolEvent) => {
    try {
      options.onEvent?.(event);
    } catch {
      // An error in the listener must not prevent records from being stored.
    }
  };
  const { folder, unlock } = await openFolder(path, report, clock());
  const reader = new SpoolReader(folder, memoryBytes);
  const onStored: SpoolReader['keep'] = (segment, start, records) => reader.keep(segment, start, records);
  const writer = new SpoolWriter(folder, { maxBytes, segmentBytes, clock, onStored });
  let closing: Promise<void> | undefined;
  const whileOpen = <T>(work: () => Promise<T>): Promise<T> =>
    closing === undefined ? work() : Promise.reject(new Error('The spool is closed.'));

  async function close(): Promise<void> {
    try {
      await writer.settled();
      await reader.trim();
      await reader.close();
      await folder.close();
    } finally {
      unlock();
    }
  }

  return {
    append: (record) => whileOpen(() => writer.append(record)),
    peek: (maxBytes) => whileOpen(() => reader.peek(maxBytes)),
    drop: (count = 1) => whileOpen(() => reader.drop(count)),
    trim: () => whileOpen(() => reader.trim()),
    get waiting() {
      return folder.segments.reduce(
        (sum, { records, bytes }) => ({ records: sum.records + records, bytes: sum.bytes + bytes }),
        { records: 0, bytes: 0 },
      );
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

async function openFolder(path: string, report: (event: SpoolEvent) => void, now: Date) {
  let unlock: (() => void) | undefined;
  try {
    await createFolder(path);
    unlock = lockFolder(path);
    return { folder: await SpoolFolder.open(path, report, now), unlock };
  } catch (error) {
    unlock?.();
    throw error instanceof SpoolInUse ? error : new SpoolUnusable(path, error);
  }
}

export interface SpoolContents {
  records: number;
  /** Size of the records' contents. */
  bytes: number;
  segments: number;
  /** Files that were kept because they contain damaged records. */
  setAside: number;
  /** When the oldest segment with records was created. */
  oldest?: Date;
}

/**
 * Summarizes a spool without a lock, also while a service uses it. Counts all records of the oldest segment, including
 * dropped ones.
 */
export async function inspectSpool(folder: string): Promise<SpoolContents> {
  const contents: SpoolContents = { records: 0, bytes: 0, segments: 0, setAside: 0 };
  const listing = await listSegments(folder).catch(undefinedIfMissing);
  contents.setAside = listing?.setAside ?? 0;
  for (const path of listing?.paths ?? []) {
    const found = await inspectSegmentFile(path).catch(undefinedIfMissing);
    if (found === undefined) continue;
    contents.segments += 1;
    contents.records += found.records;
    contents.bytes += found.bytes;
    if (found.records > 0 && found.createdAt && !contents.oldest) contents.oldest = found.createdAt;
  }
  return contents;
}

function undefinedIfMissing(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT') return undefined;
  throw error;
}
