import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { messageOf } from '../../lib/errors.ts';
import { closeOutput, type Segment, type SpoolFolder } from './folder.ts';
import { frameBytes, headerBytes, isUnreadable, readAt, readFrame } from './segment.ts';

const readAheadBytes = 256 * 1024;

interface Loaded {
  segment: Segment;
  record: Uint8Array;
}

/**
 * Returns the oldest records. New records stay in memory, up to `memoryBytes`; beyond that they are read from disk, up to
 * the end of the segment that is being written.
 */
export class SpoolReader {
  readonly #folder: SpoolFolder;
  readonly #memoryBytes: number;
  /** The oldest records that were not dropped, without gaps. */
  readonly #loaded: Loaded[] = [];
  #loadedBytes = 0;
  /** Where the first record that is not loaded begins. */
  #segmentNumber = 0;
  #position = headerBytes;
  #isLoading = false;
  #input: { file: FileHandle; segment: Segment } | undefined;
  #buffer: Buffer = Buffer.alloc(0);
  /** The position of the buffer in the segment. */
  #bufferStart = 0;
  #lastCall: Promise<unknown> = Promise.resolve();

  constructor(folder: SpoolFolder, memoryBytes: number) {
    this.#folder = folder;
    this.#memoryBytes = memoryBytes;
  }

  peek(maxBytes: number): Promise<Uint8Array[]> {
    return this.#serialized(async () => {
      while (this.#loadedBytes < maxBytes && (await this.#loadNext()));
      let bytes = 0;
      const end = this.#loaded.findIndex(({ record }, i) => {
        bytes += record.length;
        return bytes > maxBytes && i > 0;
      });
      return this.#loaded.slice(0, end < 0 ? undefined : end).map(({ record }) => record);
    });
  }

  drop(count: number): Promise<void> {
    return this.#serialized(async () => {
      while (this.#loaded.length < count && (await this.#loadNext()));
      for (const { segment, record } of this.#loaded.splice(0, count)) {
        segment.records -= 1;
        segment.bytes -= record.length;
        this.#loadedBytes -= record.length;
      }
      await this.#retireEmpty();
    });
  }

  /** Also removes the segment that is being written, if it has no records left. The next append starts a new one. */
  trim(): Promise<void> {
    return this.#serialized(() => this.#retireEmpty(true));
  }

  close(): Promise<void> {
    return this.#serialized(() => this.#closeInput());
  }

  /** Keeps records that were appended at `start`, unless older ones have to be read from disk first. */
  keep(segment: Segment, start: number, records: Uint8Array[]): void {
    if (this.#isLoading || this.#nextSegment() !== segment || this.#positionIn(segment) !== start) return;
    const bytes = records.reduce((sum, { length }) => sum + length, 0);
    if (this.#loadedBytes + bytes > this.#memoryBytes) return;
    for (const record of records) this.#loaded.push({ segment, record });
    this.#loadedBytes += bytes;
    this.#segmentNumber = segment.number;
    this.#position = segment.end;
  }

  /** Runs calls one after another. */
  #serialized<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#lastCall.then(call);
    this.#lastCall = result.catch(() => undefined);
    return result;
  }

  /** The segment with the first record that is not loaded. */
  #nextSegment(): Segment | undefined {
    return this.#folder.segments.find(
      (segment) => segment.number >= this.#segmentNumber && this.#positionIn(segment) < segment.end,
    );
  }

  #positionIn(segment: Segment): number {
    return segment.number === this.#segmentNumber ? this.#position : headerBytes;
  }

  /** Returns false when all records are loaded. */
  async #loadNext(): Promise<boolean> {
    this.#isLoading = true;
    try {
      for (let segment = this.#nextSegment(); segment !== undefined; segment = this.#nextSegment()) {
        this.#position = this.#positionIn(segment);
        this.#segmentNumber = segment.number;
        const record = await this.#readRecord(segment);
        if (record === undefined) continue;
        this.#position += frameBytes + record.length;
        this.#loaded.push({ segment, record });
        this.#loadedBytes += record.length;
        return true;
      }
      return false;
    } finally {
      this.#isLoading = false;
    }
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
      this.#position += frameBytes + frame.length;
      segment.records -= 1;
      segment.bytes -= frame.length;
      await this.#retireEmpty();
      return undefined;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return await this.#abandon(segment, `it cannot be read at byte ${position}: ${messageOf(error)}`);
    }
  }

  /** Leaves the rest of a segment unread. */
  async #abandon(segment: Segment, reason: string): Promise<undefined> {
    segment.damage ??= reason;
    await segment.writing;
    await closeOutput(segment);
    const left = this.#loaded.filter((loaded) => loaded.segment === segment);
    segment.records = left.length;
    segment.bytes = left.reduce((sum, { record }) => sum + record.length, 0);
    this.#position = segment.end;
    await this.#retireEmpty();
  }

  /** Removes the segments without records; the one that is being written only if `alsoCurrent`. */
  async #retireEmpty(alsoCurrent = false): Promise<void> {
    for (const segment of [...this.#folder.segments]) {
      const isCurrent = segment.output !== undefined && segment.damage === undefined;
      // Checked for each segment at its turn: records may have been appended meanwhile.
      if (segment.records > 0 || segment.writing !== undefined || (isCurrent && !alsoCurrent)) continue;
      if (this.#input?.segment === segment) await this.#closeInput();
      if (segment.records === 0 && segment.writing === undefined) await this.#folder.retire(segment);
    }
  }

  /** Returns fewer bytes only at the end of the file. Records are slices of a buffer, so no buffer is filled twice. */
  async #read(segment: Segment, position: number, length: number): Promise<Buffer> {
    if (this.#input?.segment !== segment) {
      await this.#closeInput();
      this.#input = { file: await open(segment.path, 'r'), segment };
    }
    const offset = position - this.#bufferStart;
    if (offset >= 0 && offset + length <= this.#buffer.length) return this.#buffer.subarray(offset, offset + length);
    const readLength = Math.max(length, Math.min(readAheadBytes, segment.end - position));
    this.#buffer = await readAt(this.#input.file, position, readLength);
    this.#bufferStart = position;
    return this.#buffer.subarray(0, length);
  }

  async #closeInput(): Promise<void> {
    const input = this.#input;
    this.#input = undefined;
    this.#buffer = Buffer.alloc(0);
    this.#bufferStart = 0;
    await input?.file.close();
  }
}
