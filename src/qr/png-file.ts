import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import type { Raster } from './raster.ts';

const compress = promisify<Uint8Array, { level: number }, Uint8Array>(deflate);

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const colorTypes = { rgb: 2, indexed: 3, rgba: 6 } as const;
const upFilter = 2;

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
  const isOpaque = !pixels.rgba.some((value, i) => i % 4 === 3 && value !== 255);
  const header = { width, height, bitDepth: 8, colorType: isOpaque ? colorTypes.rgb : colorTypes.rgba };
  return encode(header, filteredRows(pixels, isOpaque ? 3 : 4), []);
}

/** Stores the difference from the row above, which is 0 for most pixels of a QR code. */
function filteredRows({ width, height, rgba }: Pixels, channels: 3 | 4): Uint8Array {
  const rows = new Uint8Array((1 + width * channels) * height);
  const words = new Uint32Array(rgba.buffer, rgba.byteOffset, width * height);
  let to = 0;
  for (let y = 0; y < height; y++) {
    rows[to++] = upFilter;
    for (let pixel = y * width; pixel < (y + 1) * width; pixel++) {
      if (y > 0 && words[pixel] === words[pixel - width]) {
        to += channels;
        continue;
      }
      const from = pixel * 4;
      for (let channel = 0; channel < channels; channel++) {
        const above = y > 0 ? (rgba[from + channel - width * 4] as number) : 0;
        rows[to++] = (rgba[from + channel] as number) - above;
      }
    }
  }
  return rows;
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
): Promise<Uint8Array<ArrayBuffer>> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = bitDepth;
  header[9] = colorType;
  // Level 2: higher levels take several times as long and save a quarter of the size.
  const pixels = await compress(rows, { level: 2 });
  return concatenate([
    Uint8Array.from(signature),
    chunk('IHDR', header),
    ...chunks,
    chunk('IDAT', pixels),
    chunk('IEND', new Uint8Array(0)),
  ]);
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
