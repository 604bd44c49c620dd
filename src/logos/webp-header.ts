import { BadImage, checkSize, type RasterHeader, Reader } from './bytes.ts';

const animationFlag = 0x02;
const maxChunks = 256;

/** Walks all chunks of a WebP: nothing may be cut off, animated, or appended. */
export function readWebpHeader(bytes: Uint8Array): RasterHeader {
  const reader = new Reader(bytes);
  const end = 8 + reader.u32(4, true);
  if (end > bytes.length) throw new BadImage('is cut off');
  if (end < bytes.length) throw new BadImage('has other data after its end');
  let canvas: { width: number; height: number } | undefined;
  let image: { width: number; height: number } | undefined;
  let count = 0;
  for (let at = 12; at < end; count++) {
    if (count === maxChunks) throw new BadImage('has too many chunks');
    const type = reader.text(at, 4);
    const length = reader.u32(at + 4, true);
    const data = at + 8;
    if (data + length > end) throw new BadImage('is cut off');
    if (type === 'ANIM' || type === 'ANMF') throw new BadImage('is animated');
    if (type === 'VP8X') {
      if ((reader.u8(data) & animationFlag) !== 0) throw new BadImage('is animated');
      canvas = { width: 1 + reader.u24(data + 4), height: 1 + reader.u24(data + 7) };
    }
    if (type === 'VP8 ' || type === 'VP8L') {
      // Decoders read the first one.
      if (image !== undefined) throw new BadImage('contains more than one image');
      image = type === 'VP8 ' ? readLossy(reader, data) : readLossless(reader, data);
    }
    at = data + length + (length % 2);
  }
  if (image === undefined) throw new BadImage('has no pixels');
  if (canvas !== undefined && (canvas.width !== image.width || canvas.height !== image.height))
    throw new BadImage('is damaged');
  return checkSize({ format: 'webp', ...image, orientation: 1 });
}

function readLossy(reader: Reader, data: number): { width: number; height: number } {
  if (reader.u24(data + 3) !== 0x2a019d) throw new BadImage('is damaged');
  return { width: reader.u16(data + 6, true) & 0x3fff, height: reader.u16(data + 8, true) & 0x3fff };
}

function readLossless(reader: Reader, data: number): { width: number; height: number } {
  if (reader.u8(data) !== 0x2f) throw new BadImage('is damaged');
  const bits = reader.u32(data + 1, true);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}
