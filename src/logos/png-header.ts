import { crc32 } from 'node:zlib';
import { BadImage, checkSize, type RasterHeader, Reader } from './bytes.ts';

const signatureLength = 8;
/** More than any encoder writes for a file of 1 MiB. */
const maxChunks = 4096;

/** Walks all chunks of a PNG: nothing may be cut off, damaged, animated, or appended. */
export function readPngHeader(bytes: Uint8Array): RasterHeader {
  const reader = new Reader(bytes);
  let at = signatureLength;
  let isEnded = false;
  let hasPixels = false;
  for (let count = 0; !isEnded; count++) {
    if (count === maxChunks) throw new BadImage('has too many chunks');
    const length = reader.u32(at);
    const type = reader.text(at + 4, 4);
    const crcAt = at + 8 + length;
    if (reader.u32(crcAt) !== crc32(bytes.subarray(at + 4, crcAt))) throw new BadImage('is damaged');
    if ((type === 'IHDR') !== (count === 0)) throw new BadImage('is damaged');
    if (type === 'acTL') throw new BadImage('is animated');
    if (type === 'IDAT') hasPixels = true;
    isEnded = type === 'IEND';
    at = crcAt + 4;
  }
  if (!hasPixels) throw new BadImage('has no pixels');
  if (at !== bytes.length) throw new BadImage('has other data after its end');
  const width = reader.u32(signatureLength + 8);
  const height = reader.u32(signatureLength + 12);
  return checkSize({ format: 'png', width, height, orientation: 1 });
}

const neededChunks = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);

/** Removes everything but the pixels, so that a decoder never unpacks compressed texts or profiles. */
export function withoutMetadata(bytes: Uint8Array): Uint8Array {
  const reader = new Reader(bytes);
  const parts = [bytes.subarray(0, signatureLength)];
  for (let at = signatureLength; at < bytes.length; ) {
    const end = at + 12 + reader.u32(at);
    if (neededChunks.has(reader.text(at + 4, 4))) parts.push(bytes.subarray(at, end));
    at = end;
  }
  return Buffer.concat(parts);
}
