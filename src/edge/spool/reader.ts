import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { messageOf } from '../../lib/errors.ts';
import type { Segment, SpoolFolder } from './folder.ts';
import { frameBytes, headerBytes, isUnreadable, readAt, readFrame } from './segment.ts';

const readAheadBytes = 256 * 1024;

/** Reads the oldest record, which may be in the segment that is being written. */
export class SpoolReader {
  readonly #folder: SpoolFolder;
  #segment: Segment | undefined;
  #input: FileHandle | undefined;
  /** Where the oldest record begins. */
  #position = 0;
  #oldest: Uint8Array | undefined;
  #buffer: Buffer = Buffer.alloc(0);
  /** The position of the buffer in the segment. */
  #bufferStart = 0;
  #lastCall: Promise<unknown> = Promise.resolve();

  constructor(folder: SpoolFolder) {
    this.#folder = folder;
  }

  peek(): Promise<Uint8Array | undefined> {
    return this.#serialized(() => this.#load());
  }

  drop(): Promise<void> {
    return this.#serialized(() => this.#drop());
  }

  close(): Promise<void> {
    return this.#serialized(() => this.#closeInput());
  }

  /** Runs calls one after another. */
  #serialized<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#lastCall.then(call);
    this.#lastCall = result.catch(() => undefined);
    return result;
  }

  async #load(): Promise<Uint8Array | undefined> {
    while (this.#oldest === undefined) {
      const first = this.#folder.segments[0];
      if (first === undefined) return undefined;
      if (first !== this.#segment) await this.#switchTo(first);
      if (first.records > 0) this.#oldest = await this.#readRecord(first);
      else if (first.writing) return undefined;
      else await this.#folder.retire(first);
    }
    return this.#oldest;
  }

  async #drop(): Promise<void> {
    const record = await this.#load();
    const segment = this.#segment;
    if (record === undefined || segment === undefined) return;
    this.#oldest = undefined;
    this.#skip(segment, record.length);
    if (segment.records > 0) return;
    await this.#closeInput();
    // Records may have been appended meanwhile.
    if (segment.records === 0 && !segment.writing) await this.#folder.retire(segment);
  }

  async #switchTo(segment: Segment): Promise<void> {
    await this.#closeInput();
    this.#segment = segment;
    this.#position = headerBytes;
  }

  /** Returns undefined for a damaged record and skips it, or the rest of the segment if its frame is damaged. */
  async #readRecord(segment: Segment): Promise<Uint8Array | undefined> {
    const position = this.#position;
    try {
      const frame = readFrame(await this.#read(segment, position, frameBytes));
      if (frame === undefined || position + frameBytes + frame.length > segment.end)
        return await this.#abandon(segment, `there is no valid record at byte ${position}`);
      const record = await this.#read(segment, position + frameBytes, frame.length);
      if (record.length === frame.length && crc32(record) === frame.checksum) return record;
      segment.damage ??= `the record at byte ${position} has a wrong checksum`;
      this.#skip(segment, frame.length);
      return undefined;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return await this.#abandon(segment, `it cannot be read at byte ${position}: ${messageOf(error)}`);
    }
  }

  async #abandon(segment: Segment, reason: string): Promise<undefined> {
    segment.damage ??= reason;
    await segment.writing;
    segment.records = 0;
    segment.bytes = 0;
    await this.#closeInput();
    await this.#folder.retire(segment);
  }

  #skip(segment: Segment, length: number): void {
    this.#position += frameBytes + length;
    segment.records -= 1;
    segment.bytes -= length;
  }

  /** Returns fewer bytes only at the end of the file. Records are slices of a buffer, so no buffer is filled twice. */
  async #read(segment: Segment, position: number, length: number): Promise<Buffer> {
    const offset = position - this.#bufferStart;
    if (offset >= 0 && offset + length <= this.#buffer.length) return this.#buffer.subarray(offset, offset + length);
    this.#input ??= await open(segment.path, 'r');
    const readLength = Math.max(length, Math.min(readAheadBytes, segment.end - position));
    this.#buffer = await readAt(this.#input, position, readLength);
    this.#bufferStart = position;
    return this.#buffer.subarray(0, length);
  }

  async #closeInput(): Promise<void> {
    const input = this.#input;
    this.#input = undefined;
    this.#buffer = Buffer.alloc(0);
    await input?.close();
  }
}
