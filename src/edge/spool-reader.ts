import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { messageOf } from '../lib/errors.ts';
import type { Segment, SpoolFolder } from './spool-folder.ts';
import { FRAME_BYTES, HEADER_BYTES, isUnreadable, readAt, readFrame } from './spool-segment.ts';

const READ_AHEAD_BYTES = 256 * 1024;

export interface SpoolReader {
  peek(): Promise<Uint8Array | undefined>;
  drop(): Promise<void>;
  close(): Promise<void>;
}

/** Gives out the oldest record, following the writer when they are in the same segment. */
export function readFrom(folder: SpoolFolder): SpoolReader {
  let segment: Segment | undefined;
  let input: FileHandle | undefined;
  /** Where the oldest record begins. */
  let at = 0;
  let oldest: Uint8Array | undefined;
  let ahead: Buffer = Buffer.alloc(0);
  let aheadFrom = 0;
  let turn: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  }

  async function load(): Promise<Uint8Array | undefined> {
    while (oldest === undefined) {
      const first = folder.segments[0];
      if (first === undefined) return undefined;
      if (first !== segment) await turnTo(first);
      if (first.records > 0) oldest = await readRecord(first);
      else if (first.writing) return undefined;
      else await folder.retire(first);
    }
    return oldest;
  }

  async function turnTo(next: Segment): Promise<void> {
    await closeInput();
    segment = next;
    at = HEADER_BYTES;
  }

  /** The record at `at`; nothing when it is damaged, which leaves it behind: alone if its length can be trusted. */
  async function readRecord(from: Segment): Promise<Uint8Array | undefined> {
    try {
      const frame = readFrame(await bytesAt(from, at, FRAME_BYTES));
      if (frame === undefined || at + FRAME_BYTES + frame.length > from.end)
        return await giveUp(from, `what follows byte ${at} is no record`);
      const record = await bytesAt(from, at + FRAME_BYTES, frame.length);
      if (record.length === frame.length && crc32(record) === frame.checksum) return record;
      from.damage ??= `the record at byte ${at} has a wrong checksum`;
      leaveBehind(from, frame.length);
      return undefined;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return await giveUp(from, `it cannot be read at byte ${at}: ${messageOf(error)}`);
    }
  }

  async function giveUp(from: Segment, reason: string): Promise<undefined> {
    from.damage ??= reason;
    await from.writing;
    from.records = 0;
    from.bytes = 0;
    await closeInput();
    await folder.retire(from);
  }

  function leaveBehind(from: Segment, length: number): void {
    at += FRAME_BYTES + length;
    from.records -= 1;
    from.bytes -= length;
  }

  /** Fewer bytes than asked for only where the file ends. Each buffer is filled once, so that records can lie in it. */
  async function bytesAt(from: Segment, position: number, length: number): Promise<Buffer> {
    const begin = position - aheadFrom;
    if (begin >= 0 && begin + length <= ahead.length) return ahead.subarray(begin, begin + length);
    input ??= await open(from.path, 'r');
    const wanted = Math.max(length, Math.min(READ_AHEAD_BYTES, from.end - position));
    ahead = await readAt(input, position, wanted);
    aheadFrom = position;
    return ahead.subarray(0, length);
  }

  async function closeInput(): Promise<void> {
    const open = input;
    input = undefined;
    ahead = Buffer.alloc(0);
    await open?.close();
  }

  return {
    peek: () => inTurn(load),
    drop: () =>
      inTurn(async () => {
        const record = await load();
        if (record === undefined || segment === undefined) return;
        oldest = undefined;
        leaveBehind(segment, record.length);
        if (segment.records > 0) return;
        await closeInput();
        // More may have come meanwhile.
        if (segment.records === 0 && !segment.writing) await folder.retire(segment);
      }),
    close: () => inTurn(closeInput),
  };
}
