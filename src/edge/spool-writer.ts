import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { closeOutput, type Segment, type SpoolFolder } from './spool-folder.ts';
import { encode, FRAME_BYTES, HEADER_BYTES } from './spool-segment.ts';

/** The record was not stored: the spool is as large as it may be, or the disk did not take it. */
export class SpoolFull extends Error {}

export interface SpoolWriter {
  append(record: Uint8Array): Promise<void>;
  /** Resolves when everything appended so far is stored or refused. */
  settled(): Promise<void>;
}

interface WriterOptions {
  maxBytes: number;
  segmentBytes: number;
  clock: Clock;
}

interface Pending {
  record: Uint8Array;
  stored: () => void;
  refused: (reason: SpoolFull) => void;
}

const framed = (record: Uint8Array) => FRAME_BYTES + record.length;
/** What a record may take at most: it could be the first of a new segment. */
const reserved = (record: Uint8Array) => HEADER_BYTES + framed(record);

/** Records that come while a sync is under way collect, and go together with one write and one sync. */
export function writeTo(folder: SpoolFolder, { maxBytes, segmentBytes, clock }: WriterOptions): SpoolWriter {
  const queue: Pending[] = [];
  let queuedBytes = 0;
  let running: Promise<void> | undefined;
  let current: Segment | undefined;
  let failing = false;

  function append(record: Uint8Array): Promise<void> {
    if (folder.size() + queuedBytes + reserved(record) > maxBytes)
      return Promise.reject(new SpoolFull(`The spool may hold ${maxBytes} bytes, and has no room for this record.`));
    return new Promise((stored, refused) => {
      queue.push({ record, stored, refused });
      queuedBytes += reserved(record);
      running ??= run();
    });
  }

  async function run(): Promise<void> {
    // Whoever appends in the same turn of the event loop comes along.
    await Promise.resolve();
    while (queue.length > 0) {
      if (!hasRoom(current)) await begin();
      // Nothing is awaited from here until the segment is marked as being written, or its reader could retire it.
      if (!hasRoom(current)) continue;
      const group = takeGroup(current.end);
      current.writing = store(current, current.output, group);
      await current.writing;
    }
    running = undefined;
  }

  /** Whether the next record goes to this segment. One that was just begun takes any. */
  function hasRoom(segment: Segment | undefined): segment is Segment & { output: FileHandle } {
    const [next] = queue;
    if (!next || segment?.output === undefined || segment.damage !== undefined) return false;
    return segment.end === 0 || segment.end + framed(next.record) <= segmentBytes;
  }

  async function begin(): Promise<void> {
    const previous = current;
    current = undefined;
    try {
      if (previous) await closeOutput(previous);
      current = await folder.begin();
    } catch (error) {
      refuse(takeGroup(0), error);
    }
  }

  /** From the queue as much as a segment that ends here has room for, and one record at least. */
  function takeGroup(end: number): Pending[] {
    let bytes = end === 0 ? HEADER_BYTES : end;
    let count = 0;
    for (const { record } of queue) {
      bytes += framed(record);
      if (count > 0 && bytes > segmentBytes) break;
      count += 1;
      queuedBytes -= reserved(record);
    }
    return queue.splice(0, count);
  }

  async function store(segment: Segment, output: FileHandle, group: Pending[]): Promise<void> {
    const { end } = segment;
    const isNew = end === 0;
    const block = encode(
      group.map(({ record }) => record),
      isNew ? clock() : undefined,
    );
    segment.size = end + block.length;
    if (isNew) folder.segments.push(segment);
    try {
      await writeFully(output, block, end);
      const syncs = await Promise.allSettled([output.datasync(), isNew ? folder.sync() : undefined]);
      for (const sync of syncs) if (sync.status === 'rejected') throw sync.reason;
    } catch (error) {
      await undo(segment, output);
      return refuse(group, error);
    }
    segment.end = segment.size;
    segment.records += group.length;
    segment.bytes += group.reduce((sum, { record }) => sum + record.length, 0);
    segment.writing = undefined;
    if (failing) folder.report({ kind: 'spool_writes_again' });
    failing = false;
    for (const { stored } of group) stored();
  }

  function refuse(group: Pending[], cause: unknown): void {
    if (!failing) folder.report({ kind: 'spool_write_failed', reason: messageOf(cause) });
    failing = true;
    const reason = new SpoolFull(`The spool could not be written: ${messageOf(cause)}`, { cause });
    for (const { refused } of group) refused(reason);
  }

  /**
   * Takes back what was written after the last good record. Such a segment is never written again: after a failed sync
   * nobody can say what the disk holds, and where the cut fails too, the torn place must be the last of its segment.
   */
  async function undo(segment: Segment, output: FileHandle): Promise<void> {
    try {
      await output.truncate(segment.end);
      segment.size = segment.end;
    } catch {
      // Readers stop at `end`. After a restart, whole records behind it may come although they were refused.
    }
    await closeOutput(segment);
    segment.writing = undefined;
    if (segment.records === 0) await folder.retire(segment);
  }

  return { append, settled: async () => running };
}

async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}
