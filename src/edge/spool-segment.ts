/**
 * The bytes of a segment, one file of the spool. All numbers are little endian.
 *
 * | part   | bytes                                                                                          |
 * |--------|------------------------------------------------------------------------------------------------|
 * | header | `SCANSPL1` (name and version), time it was begun in ms (8), CRC-32 of these (4)                |
 * | record | length (4), CRC-32 of the content (4), CRC-32 of these two (4), content                        |
 *
 * The length has a checksum of its own: a file that ends before its last record does was cut off by a crash, for certain,
 * and a length that rotted cannot pass for that. It also keeps zeros from being read as an empty record.
 */

import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { codeOf, messageOf } from '../lib/errors.ts';

const MAGIC = Buffer.from('SCANSPL1', 'latin1');
export const HEADER_BYTES = 20;
export const FRAME_BYTES = 12;
/** What one look at a file reads at least: many small records, or little of a large one that is passed over. */
const LOOK_BYTES = 64 * 1024;

/** Faults of the file itself, which no retry mends: bad sectors, a damaged file system, a file that somebody removed. */
const UNREADABLE = new Set(['EIO', 'EBADMSG', 'EUCLEAN', 'ENOENT']);

export const isUnreadable = (error: unknown): boolean => UNREADABLE.has(codeOf(error));

/** The bytes that add these records to a segment, its header before them when it is new. */
export function encode(records: readonly Uint8Array[], begunAt?: Date): Buffer {
  const header = begunAt === undefined ? 0 : HEADER_BYTES;
  const block = Buffer.allocUnsafe(records.reduce((sum, { length }) => sum + FRAME_BYTES + length, header));
  if (begunAt !== undefined) {
    MAGIC.copy(block);
    block.writeBigUInt64LE(BigInt(begunAt.getTime()), 8);
    block.writeUInt32LE(crc32(block.subarray(0, 16)), 16);
  }
  let at = header;
  for (const record of records) {
    block.writeUInt32LE(record.length, at);
    block.writeUInt32LE(crc32(record), at + 4);
    block.writeUInt32LE(crc32(block.subarray(at, at + 8)), at + 8);
    block.set(record, at + FRAME_BYTES);
    at += FRAME_BYTES + record.length;
  }
  return block;
}

/** Length and checksum of a record's content, or nothing when these bytes are not what was written. */
export function readFrame(frame: Buffer): { length: number; checksum: number } | undefined {
  if (frame.length < FRAME_BYTES || frame.readUInt32LE(8) !== crc32(frame.subarray(0, 8))) return undefined;
  return { length: frame.readUInt32LE(0), checksum: frame.readUInt32LE(4) };
}

/** Reads `length` bytes; fewer only where the file ends. */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** What a segment holds, told from the frames of its records; their content is not looked at. */
export interface Survey {
  begunAt: Date | undefined;
  records: number;
  /** Of content. */
  bytes: number;
  /** Where its whole records end. */
  end: number;
  /** What follows there: nothing, a record cut short by a crash, or bytes that are not what was written. */
  ending: { kind: 'whole' } | { kind: 'torn' } | { kind: 'damaged'; reason: string };
}

export async function survey(file: FileHandle): Promise<Survey> {
  const found: Survey = { begunAt: undefined, records: 0, bytes: 0, end: 0, ending: { kind: 'whole' } };
  try {
    const { size } = await file.stat();
    found.ending = await walk(file, size, found);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    found.ending = { kind: 'damaged', reason: `it cannot be read: ${messageOf(error)}` };
  }
  return found;
}

async function walk(file: FileHandle, size: number, found: Survey): Promise<Survey['ending']> {
  const header = await readAt(file, 0, HEADER_BYTES);
  const name = header.subarray(0, MAGIC.length);
  if (!name.equals(MAGIC.subarray(0, name.length)))
    return { kind: 'damaged', reason: 'it does not begin like a segment of this version' };
  if (header.length < HEADER_BYTES) return { kind: 'torn' };
  if (header.readUInt32LE(16) !== crc32(header.subarray(0, 16)))
    return { kind: 'damaged', reason: 'its header has a wrong checksum' };
  found.begunAt = new Date(Number(header.readBigUInt64LE(8)));
  found.end = HEADER_BYTES;

  let seen: Buffer = Buffer.alloc(0);
  let seenFrom = 0;
  while (found.end < size) {
    if (size - found.end < FRAME_BYTES) return { kind: 'torn' };
    if (found.end + FRAME_BYTES > seenFrom + seen.length) {
      seenFrom = found.end;
      seen = await readAt(file, seenFrom, Math.min(LOOK_BYTES, size - seenFrom));
    }
    const frame = readFrame(seen.subarray(found.end - seenFrom, found.end - seenFrom + FRAME_BYTES));
    if (frame === undefined) return { kind: 'damaged', reason: `what follows byte ${found.end} is no record` };
    const next = found.end + FRAME_BYTES + frame.length;
    if (next > size) return { kind: 'torn' };
    found.records += 1;
    found.bytes += frame.length;
    found.end = next;
  }
  return { kind: 'whole' };
}
