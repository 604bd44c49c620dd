import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { upFilter } from './png-filters.ts';
import type { Raster } from './raster.ts';

const compress = promisify<Uint8Array, { level: number; chunkSize: number }, Uint8Array>(deflate);

/** zlib returns to the event loop after each chunk of output: an image with a photo as its logo has 45 KB at 512 px. */
const chunkSize = 128 * 1024;

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const colorTypes = { rgb: 2, indexed: 3, rgba: 6 } as const;

/** Four bytes per pixel: red, green, blue and alpha, which is not multiplied into the colors. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8Array;
}

export function encodeIndexedPng({ bitDepth, palette, rows }: Raster, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const plte = chunk('PLTE', Uint8Array.from(palette.flat()));
  return encode({ width: size, height: size, bitDepth, colorType: colorTypes.indexed }, rows, [plte]);
}

/** As RGB if all pixels are opaque, otherwise as RGBA. */
export function encodePixels(pixels: Pixels): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height } = pixels;
  const isOpaque = minAlphaOf(pixels) === 255;
  const header = { width, height, bitDepth: 8, colorType: isOpaque ? colorTypes.rgb : colorTypes.rgba };
  return encode(header, filteredRows(pixels, isOpaque ? 3 : 4), []);
}

/** Three bytes per pixel; each row starts with its filter byte. */
export function encodeRgbRows(rows: Uint8Array, width: number, height: number): Promise<Uint8Array<ArrayBuffer>> {
  return encode({ width, height, bitDepth: 8, colorType: colorTypes.rgb }, rows, []);
}

/** The least alpha of all pixels. */
export function minAlphaOf({ rgba }: Pixels): number {
  const words = wordsOf(rgba);
  let least = 255;
  for (let pixel = 0; pixel < words.length; pixel++) {
    const alpha = (words[pixel] as number) >>> 24;
    if (alpha < least) least = alpha;
  }
  return least;
}

/** One number per pixel, with alpha in its highest byte: in the order of little-endian machines, which all that run this are. */
export function wordsOf(rgba: Uint8Array): Uint32Array {
  const { buffer, byteOffset, length } = rgba.byteOffset % 4 === 0 ? rgba : new Uint8Array(rgba);
  return new Uint32Array(buffer, byteOffset, length / 4);
}

/** Stores the difference from the row above, which is 0 for most pixels of a QR code. */
function filteredRows({ width, height, rgba }: Pixels, channels: 3 | 4): Uint8Array {
  const rows = new Uint8Array((1 + width * channels) * height);
  const words = wordsOf(rgba);
  const stride = 1 + width * channels;
  for (let y = 0, pixel = 0; y < height; y++) {
    let to = y * stride;
    rows[to++] = upFilter;
    for (const end = pixel + width; pixel < end; pixel++, to += channels) {
      const word = words[pixel] as number;
      // Of the first row, all pixels above are 0.
      const above = y > 0 ? (words[pixel - width] as number) : 0;
      if (word === above) continue;
      rows[to] = word - above;
      rows[to + 1] = (word >>> 8) - (above >>> 8);
      rows[to + 2] = (word >>> 16) - (above >>> 16);
      if (channels === 4) rows[to + 3] = (word >>> 24) - (above >>> 24);
    }
  }
  return rows;
}

/**
 * A smaller file, for images that are stored: each row takes the filter whose values are smallest, and compression is
 * thorough. Takes about ten times as long as `encodePixels`.
 */
export function encodeSmallPng({ width, height, rgba }: Pixels): Promise<Uint8Array<ArrayBuffer>> {
  const stride = width * 4;
  const rows = new Uint8Array((1 + stride) * height);
  const candidates = [0, 1, 2, 4].map((filter) => ({ filter, row: new Uint8Array(stride) }));
  for (let y = 0; y < height; y++) {
    let best = candidates[0];
    let least = Number.POSITIVE_INFINITY;
    for (const candidate of candidates) {
      const sum = filterRow(candidate.row, candidate.filter, rgba, y, stride);
      if (sum >= least) continue;
      least = sum;
      best = candidate;
    }
    rows[y * (1 + stride)] = best?.filter ?? 0;
    rows.set(best?.row ?? [], y * (1 + stride) + 1);
  }
  return encode({ width, height, bitDepth: 8, colorType: colorTypes.rgba }, rows, [], 9);
}

/** Fills `row`, and returns the sum of its values as signed bytes, by which encoders choose filters. */
function filterRow(row: Uint8Array, filter: number, rgba: Uint8Array, y: number, stride: number): number {
  let sum = 0;
  const from = y * stride;
  for (let i = 0; i < stride; i++) {
    const left = i >= 4 ? (rgba[from + i - 4] as number) : 0;
    const above = y > 0 ? (rgba[from + i - stride] as number) : 0;
    const corner = i >= 4 && y > 0 ? (rgba[from + i - stride - 4] as number) : 0;
    const predicted = filter === 0 ? 0 : filter === 1 ? left : filter === 2 ? above : paeth(left, above, corner);
    const value = ((rgba[from + i] as number) - predicted) & 0xff;
    row[i] = value;
    sum += value < 128 ? value : 256 - value;
  }
  return sum;
}

function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner;
  const [toLeft, toAbove] = [Math.abs(estimate - left), Math.abs(estimate - above)];
  const toCorner = Math.abs(estimate - corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

interface Header {
  width: number;
  height: number;
  bitDepth: number;
  colorType: number;
}

async function encode(
  { width, height, bitDepth, colorType }: Header,
  rows: Uint8Array,
  chunks: Uint8Array[],
  // Level 2: higher levels take several times as long and save a quarter of the size.
  level = 2,
): Promise<Uint8Array<ArrayBuffer>> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = bitDepth;
  header[9] = colorType;
  const pixels = await compress(rows, { level, chunkSize });
  return concatenate([
    Uint8Array.from(signature),
    chunk('IHDR', header),
    ...chunks,
    chunk('IDAT', pixels),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

/** The length of the signature and the header, which every PNG starts with. */
const headerBytes = 33;

/** Records the resolution in a PNG, so that programs place it at its physical size. */
export function withResolution(png: Uint8Array, dpi: number): Uint8Array<ArrayBuffer> {
  const data = new Uint8Array(9);
  const view = new DataView(data.buffer);
  const perMeter = Math.round(dpi / 0.0254);
  view.setUint32(0, perMeter);
  view.setUint32(4, perMeter);
  data[8] = 1;
  return concatenate([png.subarray(0, headerBytes), chunk('pHYs', data), png.subarray(headerBytes)]);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(data, 8);
  view.setUint32(8 + data.length, crc32(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
