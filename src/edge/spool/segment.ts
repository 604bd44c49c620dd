/**
 * The format of a segment, one file of the spool. All numbers are little-endian.
 *
 * | part   | bytes                                                                                          |
 * |--------|------------------------------------------------------------------------------------------------|
 * | header | `SCANSPL1` (name and version), time of creation in ms (8), CRC-32 of these (4)                 |
 * | record | length (4), CRC-32 of the content (4), CRC-32 of these two (4), content                        |
 *
 * The length has its own checksum. So a file that ends inside its last record was certainly truncated by a crash, and is
 * not mistaken for one with a damaged length. The checksum also prevents zeros from being read as an empty record.
 */

import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { codeOf, messageOf } from '../../lib/errors.ts';

const segmentMagic = Buffer.from('SCANSPL1', 'latin1');
export const headerBytes = 20;
export const frameBytes = 12;
/** Read at once: the frames of many small records, or little of a large one whose content is skipped. */
const readChunkBytes = 64 * 1024;

/** Errors of the file itself, which no retry fixes: bad sectors, a damaged file system, a removed file. */
const unreadableCodes = new Set(['EIO', 'EBADMSG', 'EUCLEAN', 'ENOENT']);

export const isUnreadable = (error: unknown): boolean => unreadableCodes.has(codeOf(error));

/** Encodes records for appending to a segment; with `createdAt`, after the header of a new one. */
export function encodeRecords(records: readonly Uint8Array[], createdAt?: Date): Buffer {
  const headerLength = createdAt === undefined ? 0 : headerBytes;
  const block = Buffer.allocUnsafe(records.reduce((sum, { length }) => sum + frameBytes + length, headerLength));
  if (createdAt !== undefined) {
    segmentMagic.copy(block);
    block.writeBigUInt64LE(BigInt(createdAt.getTime()), 8);
    block.writeUInt32LE(crc32(block.subarray(0, 16)), 16);
  }
  let offset = headerLength;
  for (const record of records) {
    block.writeUInt32LE(record.length, offset);
    block.writeUInt32LE(crc32(record), offset + 4);
    block.writeUInt32LE(crc32(block.subarray(offset, offset + 8)), offset + 8);
    block.set(record, offset + frameBytes);
    offset += frameBytes + record.length;
  }
  return block;
}

/** Length and checksum of a record's content; undefined if the frame is incomplete or damaged. */
export function readFrame(frame: Buffer): { length: number; checksum: number } | undefined {
  if (frame.length < frameBytes || frame.readUInt32LE(8) !== crc32(frame.subarray(0, 8))) return undefined;
  return { length: frame.readUInt32LE(0), checksum: frame.readUInt32LE(4) };
}

/** Reads `length` bytes, or fewer at the end of the file. */
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

/** The contents of a segment according to the frames of its records. Their contents are not checked. */
export interface SegmentSummary {
  createdAt: Date | undefined;
  records: number;
  /** Size of the records' contents. */
  bytes: number;
  /** The offset after the last complete record. */
  end: number;
  /** What follows the last complete record: nothing, a record truncated by a crash, or damaged bytes. */
  ending: { kind: 'whole' } | { kind: 'torn' } | { kind: 'damaged'; reason: string };
}

export async function inspectSegment(file: FileHandle): Promise<SegmentSummary> {
  const found: SegmentSummary = { createdAt: undefined, records: 0, bytes: 0, end: 0, ending: { kind: 'whole' } };
  try {
    const { size } = await file.stat();
    found.ending = await readFrames(file, size, found);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    found.ending = { kind: 'damaged', reason: `it cannot be read: ${messageOf(error)}` };
  }
  return found;
}

async function readFrames(file: FileHandle, size: number, found: SegmentSummary): Promise<SegmentSummary['ending']> {
  const header = await readAt(file, 0, headerBytes);
  const magic = header.subarray(0, segmentMagic.length);
  if (!magic.equals(segmentMagic.subarray(0, magic.length)))
    return { kind: 'damaged', reason: 'it does not begin with the header of a segment' };
  if (header.length < headerBytes) return { kind: 'torn' };
  if (header.readUInt32LE(16) !== crc32(header.subarray(0, 16)))
    return { kind: 'damaged', reason: 'its header has a wrong checksum' };
  found.createdAt = new Date(Number(header.readBigUInt64LE(8)));
  found.end = headerBytes;

  let chunk: Buffer = Buffer.alloc(0);
  let chunkStart = 0;
  while (found.end < size) {
    if (size - found.end < frameBytes) return { kind: 'torn' };
    if (found.end + frameBytes > chunkStart + chunk.length) {
      chunkStart = found.end;
      chunk = await readAt(file, chunkStart, Math.min(readChunkBytes, size - chunkStart));
    }
    const frame = readFrame(chunk.subarray(found.end - chunkStart, found.end - chunkStart + frameBytes));
    if (frame === undefined) return { kind: 'damaged', reason: `there is no valid record at byte ${found.end}` };
    const next = found.end + frameBytes + frame.length;
    if (next > size) return { kind: 'torn' };
    found.records += 1;
    found.bytes += frame.length;
    found.end = next;
  }
  return { kind: 'whole' };
}
