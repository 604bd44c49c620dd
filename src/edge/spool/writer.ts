import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { closeOutput, type Segment, type SpoolFolder } from './folder.ts';
import { encodeRecords, frameBytes, headerBytes } from './segment.ts';

/** The record was not stored: the spool has reached its maximum size, or the disk returned an error. */
export class SpoolFull extends Error {}

interface WriterOptions {
  maxBytes: number;
  segmentBytes: number;
  clock: Clock;
  /** Called with records that are on disk now, before their appends resolve. `start` is the offset of the first. */
  onStored(segment: Segment, start: number, records: Uint8Array[]): void;
}

interface PendingAppend {
  record: Uint8Array;
  resolve: () => void;
  reject: (reason: SpoolFull) => void;
}

const framedLength = (record: Uint8Array) => frameBytes + record.length;
/** The maximum that a record adds to the spool: it may be the first of a new segment. */
const maxLength = (record: Uint8Array) => headerBytes + framedLength(record);

/** Appends records to the newest segment. A write ends when the disk has it; records that arrive meanwhile share the next one. */
export class SpoolWriter {
  readonly #folder: SpoolFolder;
  readonly #options: WriterOptions;
  readonly #queue: PendingAppend[] = [];
  #queuedBytes = 0;
  #running: Promise<void> | undefined;
  #current: Segment | undefined;
  #isFailing = false;

  constructor(folder: SpoolFolder, options: WriterOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  append(record: Uint8Array): Promise<void> {
    const { maxBytes } = this.#options;
    if (this.#folder.size() + this.#queuedBytes + maxLength(record) > maxBytes)
      return Promise.reject(new SpoolFull(`The spool is full: it may use ${maxBytes} bytes.`));
    return new Promise((resolve, reject) => {
      this.#queue.push({ record, resolve, reject });
      this.#queuedBytes += maxLength(record);
      this.#running ??= this.#run();
    });
  }

  /** Resolves when every record appended so far is stored or refused. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // Lets appends of the same turn of the event loop join the first group.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      if (!this.#hasRoom(this.#current)) await this.#startSegment();
      // No await between here and setting `writing`, or the reader could retire the segment.
      const segment = this.#current;
      if (!this.#hasRoom(segment)) continue;
      const group = this.#takeGroup(segment.end);
      segment.writing = this.#store(segment, segment.output, group);
      await segment.writing;
    }
    this.#running = undefined;
  }

  /** Whether the next record fits into this segment. A new one accepts a record of any size. */
  #hasRoom(segment: Segment | undefined): segment is Segment & { output: FileHandle } {
    const [next] = this.#queue;
    if (!next || segment?.output === undefined || segment.damage !== undefined) return false;
    return segment.end === 0 || segment.end + framedLength(next.record) <= this.#options.segmentBytes;
  }

  async #startSegment(): Promise<void> {
    const previous = this.#current;
    this.#current = undefined;
    try {
      if (previous) await closeOutput(previous);
      this.#current = await this.#folder.createSegment();
    } catch (error) {
      this.#refuse(this.#takeGroup(0), error);
    }
  }

  /** Takes as many records from the queue as fit into a segment that ends at `end`, but at least one. */
  #takeGroup(end: number): PendingAppend[] {
    let bytes = end === 0 ? headerBytes : end;
    let count = 0;
    for (const { record } of this.#queue) {
      bytes += framedLength(record);
      if (count > 0 && bytes > this.#options.segmentBytes) break;
      count += 1;
      this.#queuedBytes -= maxLength(record);
    }
    return this.#queue.splice(0, count);
  }

  async #store(segment: Segment, output: FileHandle, group: PendingAppend[]): Promise<void> {
    const folder = this.#folder;
    const { end } = segment;
    const isNew = end === 0;
    const records = group.map(({ record }) => record);
    const block = encodeRecords(records, isNew ? this.#options.clock() : undefined);
    segment.size = end + block.length;
    if (isNew) folder.segments.push(segment);
    try {
      await writeFully(output, block, end);
      if (isNew) await folder.sync();
    } catch (error) {
      await this.#undo(segment, output);
      return this.#refuse(group, error);
    }
    segment.end = segment.size;
    segment.records += group.length;
    segment.bytes += records.reduce((sum, { length }) => sum + length, 0);
    segment.writing = undefined;
    this.#options.onStored(segment, isNew ? headerBytes : end, records);
    if (this.#isFailing) folder.report({ kind: 'spool_writes_again' });
    this.#isFailing = false;
    for (const { resolve } of group) resolve();
  }

  #refuse(group: PendingAppend[], cause: unknown): void {
    if (!this.#isFailing) this.#folder.report({ kind: 'spool_write_failed', reason: messageOf(cause) });
    this.#isFailing = true;
    const reason = new SpoolFull(`The spool could not be written: ${messageOf(cause)}`, { cause });
    for (const { reject } of group) reject(reason);
  }

  /**
   * Removes what was written after the last complete record. The segment is not written again: after a failed sync the
   * contents of the disk are unknown, and if the truncation fails too, the torn record must stay the last of its segment.
   */
  async #undo(segment: Segment, output: FileHandle): Promise<void> {
    try {
      await output.truncate(segment.end);
      segment.size = segment.end;
    } catch {
      // Readers stop at `end`. After a restart, complete records after it may be sent although they were refused.
    }
    await closeOutput(segment);
    segment.writing = undefined;
    if (segment.records === 0) await this.#folder.retire(segment);
  }
}

async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}
