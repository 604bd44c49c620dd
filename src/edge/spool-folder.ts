import { chmod, type FileHandle, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf } from '../lib/errors.ts';
import { type Survey, survey } from './spool-segment.ts';

/** What happened to the spool that a person should know. Holds nothing of a record's content. */
export type SpoolEvent =
  /** The last append of an earlier process was cut short: that record was never acknowledged, and is left out. */
  | { kind: 'spool_tail_torn'; file: string; bytes: number }
  /** Records were damaged; the file is kept under this name for whoever wants to see what can be saved. */
  | { kind: 'spool_set_aside'; file: string; reason: string }
  /** Appends are refused from now on, until one is stored again. */
  | { kind: 'spool_write_failed'; reason: string }
  | { kind: 'spool_writes_again' }
  /** A file that is done with could not be removed: its records may come again after a restart. */
  | { kind: 'spool_not_removed'; file: string; reason: string };

/** One file of the spool while it is in use; what its reader and its writer know of each other. */
export interface Segment {
  readonly path: string;
  /** Up to here it holds whole records that are on disk. Nobody reads further. */
  end: number;
  /** What it takes on disk. */
  size: number;
  /** Records not yet dropped, and the bytes of their content. */
  records: number;
  bytes: number;
  /** There while records can be added. */
  output: FileHandle | undefined;
  /** There while records are being added. Never rejects. */
  writing: Promise<void> | undefined;
  damage: string | undefined;
}

export interface SpoolFolder {
  /** Oldest first. */
  readonly segments: Segment[];
  /** What all of them take on disk. */
  size(): number;
  /** A new segment, not yet among the others: it joins them with its first records. */
  begin(): Promise<Segment>;
  /** Removes a segment that has nothing more to give, or sets it aside when some of it was damaged. */
  retire(segment: Segment): Promise<void>;
  /** Makes the names in the folder as durable as the files. */
  sync(): Promise<void>;
  report(event: SpoolEvent): void;
  close(): Promise<void>;
}

/**
 * Older segments are set aside instead of sent. A segment is sent again from its beginning after a restart, and
 * `scan_writers`, which drops what was stored before, is pruned after 400 days (src/api/sweep.ts).
 */
const maxSegmentAgeDays = 390;
/** Before the first release: the machine's clock was not set when the segment was begun, so its age is not known. */
const earliestTime = Date.UTC(2026, 0, 1);

const isExpired = (begunAt: Date, now: Date): boolean =>
  begunAt.getTime() >= earliestTime && now.getTime() - begunAt.getTime() > maxSegmentAgeDays * 24 * 60 * 60 * 1000;

const NAME = /^(\d+)\.spool(\.corrupt)?$/;

interface Listing {
  /** Oldest first. */
  paths: string[];
  setAside: number;
  /** Higher than any in use, also by a file that was set aside: that must not be overwritten by another. */
  nextNumber: number;
}

export async function list(folder: string): Promise<Listing> {
  const files = (await readdir(folder)).flatMap((name) => {
    const [, number, corrupt] = NAME.exec(name) ?? [];
    return number === undefined ? [] : [{ path: join(folder, name), number: Number(number), corrupt: !!corrupt }];
  });
  files.sort((a, b) => a.number - b.number);
  return {
    paths: files.filter(({ corrupt }) => !corrupt).map(({ path }) => path),
    setAside: files.filter(({ corrupt }) => corrupt).length,
    nextNumber: (files.at(-1)?.number ?? 0) + 1,
  };
}

export async function surveyFile(path: string): Promise<Survey & { size: number }> {
  const file = await open(path, 'r');
  try {
    return { ...(await survey(file)), size: (await file.stat()).size };
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  await directory.sync().finally(() => directory.close());
}

export async function makeFolder(folder: string): Promise<void> {
  const path = resolve(folder);
  const firstMade = await mkdir(path, { recursive: true, mode: 0o700 });
  await chmod(path, 0o700);
  if (firstMade === undefined) return;
  for (let made = path; made.length >= firstMade.length; made = dirname(made)) await syncDirectory(dirname(made));
}

/** Nobody adds to the segment from now on. All of it was synced, so that a fault here says nothing about its records. */
export async function closeOutput(segment: Segment): Promise<void> {
  const { output } = segment;
  segment.output = undefined;
  await output?.close().catch(() => undefined);
}

const nothingIn = (path: string): Segment => ({
  path,
  end: 0,
  size: 0,
  records: 0,
  bytes: 0,
  output: undefined,
  writing: undefined,
  damage: undefined,
});

/** Opens a folder that is locked. What earlier processes wrote is only read; new records go to new segments. */
export async function openFolder(folder: string, report: (event: SpoolEvent) => void, now: Date): Promise<SpoolFolder> {
  const listing = await list(folder);
  const directory = await open(folder, 'r');
  const segments: Segment[] = [];
  let nextNumber = listing.nextNumber;

  async function remove(segment: Segment): Promise<void> {
    const { path, damage } = segment;
    await closeOutput(segment);
    if (damage === undefined) return unlink(path);
    await rename(path, `${path}.corrupt`);
    report({ kind: 'spool_set_aside', file: `${basename(path)}.corrupt`, reason: damage });
  }

  const opened: SpoolFolder = {
    segments,
    size: () => segments.reduce((sum, { size }) => sum + size, 0),

    async begin() {
      const name = `${String(nextNumber++).padStart(10, '0')}.spool`;
      const output = await open(join(folder, name), 'wx', 0o600);
      return { ...nothingIn(join(folder, name)), output };
    },

    async retire(segment) {
      const index = segments.indexOf(segment);
      if (index < 0) return;
      segments.splice(index, 1);
      try {
        await remove(segment);
        // Else a power failure could bring back many segments, not only the last.
        await directory.sync();
      } catch (error) {
        report({ kind: 'spool_not_removed', file: basename(segment.path), reason: messageOf(error) });
      }
    },

    sync: () => directory.sync(),
    report,
    async close() {
      for (const segment of segments) await closeOutput(segment);
      await directory.close();
    },
  };

  async function adopt(path: string): Promise<void> {
    const { begunAt, ending, records, bytes, end, size } = await surveyFile(path);
    if (begunAt !== undefined && isExpired(begunAt, now)) {
      const expired = { ...nothingIn(path), size, damage: `it is older than ${maxSegmentAgeDays} days` };
      segments.push(expired);
      return opened.retire(expired);
    }
    const damage = ending.kind === 'damaged' ? ending.reason : undefined;
    if (ending.kind === 'torn' && size > end)
      report({ kind: 'spool_tail_torn', file: basename(path), bytes: size - end });
    const segment = { ...nothingIn(path), end, size, records, bytes, damage };
    segments.push(segment);
    if (records === 0) await opened.retire(segment);
  }

  try {
    for (const path of listing.paths) await adopt(path);
  } catch (error) {
    // A handle that is not closed would end the process once it is garbage.
    await opened.close();
    throw error;
  }
  return opened;
}
