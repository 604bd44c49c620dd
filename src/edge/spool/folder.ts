import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import { inspectSegment, type SegmentSummary } from './segment.ts';

/** An event for the operator. Contains nothing of a record's content. */
export type SpoolEvent =
  /** The last append of an earlier process is incomplete. That record was never acknowledged, and is skipped. */
  | { kind: 'spool_tail_torn'; file: string; bytes: number }
  /** Records are damaged. The file is kept under this name, so that an operator can try to recover them. */
  | { kind: 'spool_set_aside'; file: string; reason: string }
  /** Appends fail from now on, until `spool_writes_again`. */
  | { kind: 'spool_write_failed'; reason: string }
  | { kind: 'spool_writes_again' }
  /** A file could not be removed after all its records were sent: they may be sent again after a restart. */
  | { kind: 'spool_not_removed'; file: string; reason: string };

/** One file of the spool, with the state that its reader and writer share. */
export interface Segment {
  readonly path: string;
  /** Segments are written and read in the order of their numbers. */
  readonly number: number;
  /** The offset after the last complete record that is on disk. Readers stop here. */
  end: number;
  /** Size on disk. */
  size: number;
  /** Number of records that were not dropped, and the size of their contents. */
  records: number;
  bytes: number;
  /** Defined while records can be appended. */
  output: FileHandle | undefined;
  /** Defined while records are being appended. Never rejects. */
  writing: Promise<void> | undefined;
  /** The first damage found, as a reason to set the file aside. */
  damage: string | undefined;
}

/**
 * Older segments are set aside instead of sent. After a restart a segment is sent again from its beginning, and
 * `scan_writers`, which detects the duplicates, is pruned after 400 days (src/maintenance/sweep.ts).
 */
const maxSegmentAgeDays = 390;
/** Before the first release. An earlier time of creation means that the machine's clock was not set. */
const earliestTime = Date.UTC(2026, 0, 1);

const isExpired = (createdAt: Date, now: Date): boolean =>
  createdAt.getTime() >= earliestTime && now.getTime() - createdAt.getTime() > maxSegmentAgeDays * 24 * 60 * 60 * 1000;

/** A new file, of which a write ends when the disk has it: one call, and one turn of the event loop, instead of two. */
const newAndSynced = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;

const numberOf = (path: string) => Number.parseInt(basename(path), 10);

const segmentName = /^(\d+)\.spool(\.corrupt)?$/;

interface Listing {
  /** Oldest first. */
  paths: string[];
  setAside: number;
  /** Higher than the number of any file, including files set aside, which must not be overwritten. */
  nextNumber: number;
}

export async function listSegments(folder: string): Promise<Listing> {
  const files = (await readdir(folder)).flatMap((name) => {
    const [, number, corrupt] = segmentName.exec(name) ?? [];
    return number === undefined ? [] : [{ path: join(folder, name), number: Number(number), corrupt: !!corrupt }];
  });
  files.sort((a, b) => a.number - b.number);
  return {
    paths: files.filter(({ corrupt }) => !corrupt).map(({ path }) => path),
    setAside: files.filter(({ corrupt }) => corrupt).length,
    nextNumber: (files.at(-1)?.number ?? 0) + 1,
  };
}

export async function inspectSegmentFile(path: string): Promise<SegmentSummary & { size: number }> {
  const file = await open(path, 'r');
  try {
    return { ...(await inspectSegment(file)), size: (await file.stat()).size };
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  await directory.sync().finally(() => directory.close());
}

/** Creates the folder durably: syncs the parent of each folder that it creates. */
export async function createFolder(folder: string): Promise<void> {
  const path = resolve(folder);
  const firstCreated = await mkdir(path, { recursive: true, mode: 0o700 });
  await chmod(path, 0o700);
  if (firstCreated === undefined) return;
  for (let created = path; created.length >= firstCreated.length; created = dirname(created))
    await syncDirectory(dirname(created));
}

/** Ends appending to the segment. Its records are synced already, so an error of close does not matter. */
export async function closeOutput(segment: Segment): Promise<void> {
  const { output } = segment;
  segment.output = undefined;
  await output?.close().catch(() => undefined);
}

const emptySegment = (path: string): Segment => ({
  path,
  number: numberOf(path),
  end: 0,
  size: 0,
  records: 0,
  bytes: 0,
  output: undefined,
  writing: undefined,
  damage: undefined,
});

/** The segments of a spool on disk. What earlier processes wrote is only read; new records go to new segments. */
export class SpoolFolder {
  /** Oldest first. */
  readonly segments: Segment[] = [];
  readonly report: (event: SpoolEvent) => void;
  readonly #path: string;
  readonly #directory: FileHandle;
  #nextNumber: number;

  /** For `open` only. */
  constructor(path: string, directory: FileHandle, nextNumber: number, report: (event: SpoolEvent) => void) {
    this.#path = path;
    this.#directory = directory;
    this.#nextNumber = nextNumber;
    this.report = report;
  }

  /** Opens a folder that this process has locked. */
  static async open(path: string, report: (event: SpoolEvent) => void, now: Date): Promise<SpoolFolder> {
    const { paths, nextNumber } = await listSegments(path);
    const folder = new SpoolFolder(path, await open(path, 'r'), nextNumber, report);
    try {
      for (const segmentPath of paths) await folder.#adopt(segmentPath, now);
    } catch (error) {
      // A file handle that is garbage-collected while open ends the process.
      await folder.close();
      throw error;
    }
    return folder;
  }

  /** The size of all segments on disk. */
  size(): number {
    return this.segments.reduce((sum, { size }) => sum + size, 0);
  }

  /** Creates a segment. The writer adds it to `segments` with its first records. */
  async createSegment(): Promise<Segment> {
    const path = join(this.#path, `${String(this.#nextNumber++).padStart(10, '0')}.spool`);
    const output = await open(path, newAndSynced, 0o600);
    return { ...emptySegment(path), output };
  }

  /** Removes a segment without records, or sets its file aside if it contains damaged ones. */
  async retire(segment: Segment): Promise<void> {
    const index = this.segments.indexOf(segment);
    if (index < 0) return;
    this.segments.splice(index, 1);
    try {
      await this.#remove(segment);
      // Without it, a power failure could restore many segments, not only the last.
      await this.#directory.sync();
    } catch (error) {
      this.report({ kind: 'spool_not_removed', file: basename(segment.path), reason: messageOf(error) });
    }
  }

  /** Makes created and removed files durable. */
  sync(): Promise<void> {
    return this.#directory.sync();
  }

  async close(): Promise<void> {
    for (const segment of this.segments) await closeOutput(segment);
    await this.#directory.close();
  }

  async #remove(segment: Segment): Promise<void> {
    const { path, damage } = segment;
    await closeOutput(segment);
    if (damage === undefined) return unlink(path);
    await rename(path, `${path}.corrupt`);
    this.report({ kind: 'spool_set_aside', file: `${basename(path)}.corrupt`, reason: damage });
  }

  async #adopt(path: string, now: Date): Promise<void> {
    const { createdAt, ending, records, bytes, end, size } = await inspectSegmentFile(path);
    if (createdAt !== undefined && isExpired(createdAt, now)) {
      const expired = { ...emptySegment(path), size, damage: `it is older than ${maxSegmentAgeDays} days` };
      this.segments.push(expired);
      return this.retire(expired);
    }
    const damage = ending.kind === 'damaged' ? ending.reason : undefined;
    if (ending.kind === 'torn' && size > end)
      this.report({ kind: 'spool_tail_torn', file: basename(path), bytes: size - end });
    const segment = { ...emptySegment(path), end, size, records, bytes, damage };
    this.segments.push(segment);
    if (records === 0) await this.retire(segment);
  }
}
