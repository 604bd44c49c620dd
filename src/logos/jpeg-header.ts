import { BadImage, checkSize, type RasterHeader, Reader } from './bytes.ts';

const marker = { soi: 0xd8, eoi: 0xd9, sos: 0xda, app1: 0xe1, tem: 0x01, dht: 0xc4, jpg: 0xc8, dac: 0xcc } as const;
const isRestart = (code: number) => code >= 0xd0 && code <= 0xd7;
/** A progressive image has about 10 scans; each costs a pass over all pixels. */
const maxScans = 64;

/** Walks all segments of a JPEG: nothing may be cut off or appended. */
export function readJpegHeader(bytes: Uint8Array): RasterHeader {
  const reader = new Reader(bytes);
  let frame: { width: number; height: number } | undefined;
  let orientation = 1;
  let scans = 0;
  let at = 2;
  for (;;) {
    if (reader.u8(at) !== 0xff) throw new BadImage('is damaged');
    const code = reader.u8(at + 1);
    if (code === 0xff) {
      at++;
      continue;
    }
    if (code === marker.eoi) break;
    if (code === marker.soi || code === marker.tem || isRestart(code)) {
      at += 2;
      continue;
    }
    const length = reader.u16(at + 2);
    if (length < 2) throw new BadImage('is damaged');
    if (isFrame(code)) {
      if (frame !== undefined) throw new BadImage('is damaged');
      frame = readFrame(reader, at);
    }
    if (code === marker.app1) orientation = readOrientation(reader, at + 4, length - 2) ?? orientation;
    at += 2 + length;
    if (code === marker.sos) {
      if (++scans > maxScans) throw new BadImage(`has more than ${maxScans} scans`);
      at = endOfScan(bytes, at);
    }
  }
  if (frame === undefined || scans === 0) throw new BadImage('has no pixels');
  // Some cameras fill the last block of the file with zeros.
  if (bytes.subarray(at + 2).some((byte) => byte !== 0)) throw new BadImage('has other data after its end');
  return checkSize({ format: 'jpeg', ...frame, orientation });
}

const isFrame = (code: number) =>
  code >= 0xc0 && code <= 0xcf && code !== marker.dht && code !== marker.jpg && code !== marker.dac;

function readFrame(reader: Reader, at: number): { width: number; height: number } {
  if (reader.u8(at + 4) !== 8) throw new BadImage('does not have 8 bits per color');
  const colors = reader.u8(at + 9);
  if (colors === 4) throw new BadImage('has CMYK colors, for print; export it with RGB colors');
  if (colors !== 1 && colors !== 3) throw new BadImage('is damaged');
  return { width: reader.u16(at + 7), height: reader.u16(at + 5) };
}

/** The position of the next marker after the compressed data of a scan. */
function endOfScan(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const code = bytes[at + 1];
    if (code !== undefined && code !== 0 && code !== 0xff && !isRestart(code)) return at;
  }
  throw new BadImage('is cut off');
}

const orientationTag = 0x0112;

function readOrientation(reader: Reader, start: number, length: number): number | undefined {
  if (length < 14 || reader.text(start, 6) !== 'Exif\0\0') return undefined;
  const tiff = start + 6;
  const end = start + length;
  const isLittle = reader.u16(tiff) === 0x4949;
  const directory = tiff + reader.u32(tiff + 4, isLittle);
  if (directory + 2 > end) return undefined;
  const entries = reader.u16(directory, isLittle);
  for (let i = 0; i < entries; i++) {
    const entry = directory + 2 + i * 12;
    if (entry + 12 > end) return undefined;
    if (reader.u16(entry, isLittle) !== orientationTag) continue;
    const value = reader.u16(entry + 8, isLittle);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return undefined;
}
