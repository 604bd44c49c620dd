import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { geometryOf } from './geometry.ts';
import { layoutOf } from './layout.ts';
import { type Mask, matrixOf } from './matrix.ts';
import { type Raster, rasterOf } from './raster.ts';
import { lookOf, type Style } from './style.ts';
import { takeTurns } from './turns.ts';

const compress = promisify<Uint8Array, { level: number }, Uint8Array>(deflate);

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const INDEXED_COLOR = 3;

/**
 * A picture of a short URL as a PNG of exactly `size` × `size` pixels. Compression, the longer part of the work, runs
 * beside the event loop.
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
  const turns = takeTurns();
  // Otherwise a row of drawings, each begun as the one before it is done, would leave no turn to anybody else.
  await turns.next();
  const matrix = matrixOf(url, options.mask);
  if (turns.isOver()) await turns.next();
  const layout = layoutOf(matrix.side, size);
  const geometry = geometryOf(matrix, look);
  return encodePng(await rasterOf(geometry, layout, look, turns), size);
}

async function encodePng({ bitDepth, palette, rows }: Raster, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, size);
  view.setUint32(4, size);
  header[8] = bitDepth;
  header[9] = INDEXED_COLOR;
  // Level 2: rows are mostly zeros, and higher levels take several times as long to save a quarter.
  const pixels = await compress(rows, { level: 2 });
  return concatenate([
    Uint8Array.from(SIGNATURE),
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
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
