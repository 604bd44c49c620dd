import { type Clock, systemClock } from '../lib/clock.ts';
import { codeOf, messageOf, StartError } from '../lib/errors.ts';
import { list, makeFolder, openFolder, type SpoolEvent, surveyFile } from './spool-folder.ts';
import { lockFolder, SpoolInUse } from './spool-lock.ts';
import { readFrom } from './spool-reader.ts';
import { writeTo } from './spool-writer.ts';

export type { SpoolEvent } from './spool-folder.ts';
export { SpoolInUse } from './spool-lock.ts';
export { SpoolFull } from './spool-writer.ts';

/** A queue of records on disk that survives `kill -9` and power failure. What the records are is not its business. */
export interface Spool {
  /**
   * Resolves once the record is on disk (written and synced); it must not be changed until then. Rejects with `SpoolFull`
   * when it could not be stored; the next append tries anew, and succeeds as soon as there is space.
   */
  append(record: Uint8Array): Promise<void>;
  /** The oldest record not yet dropped, or nothing when there is none. */
  peek(): Promise<Uint8Array | undefined>;
  /**
   * The oldest record was dealt with. Only when all of a segment was dropped does the disk know: after a restart the
   * oldest segment comes again from its beginning, so whoever takes a record must recognise one that he had before.
   */
  drop(): Promise<void>;
  /** What was not dropped yet; bytes of content. */
  readonly waiting: { records: number; bytes: number };
  /** Stores what was appended, then gives the folder back. */
  close(): Promise<void>;
}

export interface SpoolOptions {
  /** Made when it is not there. One process at a time. */
  folder: string;
  /** How much all segments together may take on disk. */
  maxBytes: number;
  /** After how much the next file is begun: what may come again after a restart, and the step in which space comes back. */
  segmentBytes?: number | undefined;
  onEvent?: ((event: SpoolEvent) => void) | undefined;
  clock?: Clock | undefined;
}

const SEGMENT_BYTES = 8 * 1024 * 1024;

/** The spool's files cannot be read or written. */
export class SpoolUnusable extends StartError {
  constructor(folder: string, cause: unknown) {
    super(`The spool ${folder} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Opens a spool, with what an earlier process left in it. Throws `SpoolInUse` when another process has it, and
 * `SpoolUnusable` when its files cannot be read or written.
 *
 * ```ts
 * const spool = await openSpool({ folder: 'data/spool', maxBytes: 1024 ** 3 });
 * await spool.append(batch);                       // on disk
 * for (let next = await spool.peek(); next; next = await spool.peek()) {
 *   await send(next);
 *   await spool.drop();
 * }
 * ```
 */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { folder: path, maxBytes, segmentBytes = SEGMENT_BYTES, clock = systemClock } = options;
  const report = (event: SpoolEvent) => {
    try {
      options.onEvent?.(event);
    } catch {
      // Whoever listens must not keep records from being stored.
    }
  };
  const { folder, unlock } = await takeFolder(path, report, clock());
  const writer = writeTo(folder, { maxBytes, segmentBytes, clock });
  const reader = readFrom(folder);
  let closing: Promise<void> | undefined;
  const whileOpen = <T>(work: () => Promise<T>): Promise<T> =>
    closing === undefined ? work() : Promise.reject(new Error('The spool is closed.'));

  async function close(): Promise<void> {
    try {
      await writer.settled();
      await reader.close();
      await folder.close();
    } finally {
      unlock();
    }
  }

  return {
    append: (record) => whileOpen(() => writer.append(record)),
    peek: () => whileOpen(reader.peek),
    drop: () => whileOpen(reader.drop),
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

async function takeFolder(path: string, report: (event: SpoolEvent) => void, now: Date) {
  let unlock: (() => void) | undefined;
  try {
    await makeFolder(path);
    unlock = lockFolder(path);
    return { folder: await openFolder(path, report, now), unlock };
  } catch (error) {
    unlock?.();
    throw error instanceof SpoolInUse ? error : new SpoolUnusable(path, error);
  }
}

export interface SpoolContents {
  records: number;
  /** Of content. */
  bytes: number;
  segments: number;
  /** Files kept because records in them were damaged. */
  setAside: number;
  /** When the oldest segment that holds records was begun. */
  oldest?: Date;
}

/**
 * What waits in a folder, for people to look at while a service uses it: it takes no lock and changes nothing. Records of
 * the oldest segment count until all of it was dropped.
 */
export async function inspectSpool(folder: string): Promise<SpoolContents> {
  const contents: SpoolContents = { records: 0, bytes: 0, segments: 0, setAside: 0 };
  const listing = await list(folder).catch(unlessGone);
  contents.setAside = listing?.setAside ?? 0;
  for (const path of listing?.paths ?? []) {
    const found = await surveyFile(path).catch(unlessGone);
    if (found === undefined) continue;
    contents.segments += 1;
    contents.records += found.records;
    contents.bytes += found.bytes;
    if (found.records > 0 && found.begunAt && !contents.oldest) contents.oldest = found.begunAt;
  }
  return contents;
}

function unlessGone(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT') return undefined;
  throw error;
}
