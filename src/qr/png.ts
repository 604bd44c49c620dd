import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import type { Style } from '../../events/style.ts';
import { geometryOf } from './geometry.ts';
import { layoutOf } from './layout.ts';
import { type Mask, matrixOf } from './matrix.ts';
import { type Raster, rasterOf } from './raster.ts';
import { lookOf } from './style.ts';

const compress = promisify<Uint8Array, { level: number }, Uint8Array>(deflate);

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const indexedColor = 3;

/**
 * Draws a short URL as a PNG of `size` × `size` pixels. Compression runs in zlib's thread pool, but a large image
 * still blocks for 20 ms or more: the service draws in a worker thread (drawing.ts).
 *
 * @example
 * await drawPng('https://sho.rt/aB3xY7z', { dotsType: 'rounded' }, 512);
 */
export async function drawPng(
  url: string,
  style: Style,
  size: number,
  options: { mask?: Mask } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const look = lookOf(style);
  const matrix = matrixOf(url, options.mask);
  const layout = layoutOf(matrix.side, size);
  const geometry = geometryOf(matrix, look);
  return encodePng(rasterOf(geometry, layout, look), size);
}

async function encodePng({ bitDepth, palette, rows }: Raster, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, size);
  view.setUint32(4, size);
  header[8] = bitDepth;
  header[9] = indexedColor;
  // Level 2: higher levels take several times as long and save a quarter of the size.
  const pixels = await compress(rows, { level: 2 });
  return concatenate([
    Uint8Array.from(signature),
    chunk('IHDR', header),
    chunk('PLTE', Uint8Array.from(palette.flat())),
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
