import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import { Resvg } from '@resvg/resvg-js';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { cornersDotTypes, cornersSquareTypes, dotsTypes } from '../../events/style-shapes.ts';

export const exampleUrl = 'https://scan.example.com/aB3xY7z';

/** All 6 × 3 × 2 combinations of shapes. */
export const allShapes = dotsTypes.flatMap((dotsType) =>
  cornersSquareTypes.flatMap((cornersSquareType) =>
    cornersDotTypes.map((cornersDotType) => ({ dotsType, cornersSquareType, cornersDotType })),
  ),
);

/** Every shape at least once, for what does not depend on their combination. */
export const eachShape = dotsTypes.map((dotsType, i) => ({
  dotsType,
  cornersSquareType: cornersSquareTypes[i % 3] ?? 'square',
  cornersDotType: cornersDotTypes[i % 2] ?? 'square',
}));

export interface Pixels {
  width: number;
  height: number;
  /** `#RRGGBB` */
  at(x: number, y: number): string;
  /** Three bytes per pixel. */
  rgb: Uint8Array;
}

export interface DecodedPng extends Pixels {
  bitDepth: number;
  colorType: number;
  colors: number;
}

/** A strict decoder of indexed PNG: throws on any deviation from the specification. */
export function decodePng(png: Uint8Array): DecodedPng {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a) throw new Error('no PNG signature');
  const chunks = new Map<string, Uint8Array>();
  let at = 8;
  while (at < png.length) {
    const length = view.getUint32(at);
    const type = new TextDecoder().decode(png.subarray(at + 4, at + 8));
    if (view.getUint32(at + 8 + length) !== crc(png.subarray(at + 4, at + 8 + length)))
      throw new Error(`wrong CRC of ${type}`);
    if (chunks.has(type)) throw new Error(`duplicate chunk ${type}`);
    chunks.set(type, png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  if ([...chunks.keys()].join() !== 'IHDR,PLTE,IDAT,IEND') throw new Error(`unexpected chunks ${[...chunks.keys()]}`);
  const [header, palette, data] = [...chunks.values()] as [Uint8Array, Uint8Array, Uint8Array];
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const [bitDepth, colorType, compression, filter, interlace] = header.subarray(8) as unknown as number[];
  if (colorType !== 3 || compression !== 0 || filter !== 0 || interlace !== 0)
    throw new Error('not a plain indexed PNG');
  const depth = bitDepth as number;
  const stride = 1 + Math.ceil((width * depth) / 8);
  const rows = new Uint8Array(inflateSync(data));
  if (rows.length !== stride * height) throw new Error(`${rows.length} bytes of pixels, expected ${stride * height}`);
  for (let y = 0; y < height; y++) {
    const kind = rows[y * stride];
    if (kind !== 0 && kind !== 2) throw new Error(`unexpected filter ${kind}`);
    if (kind === 0 || y === 0) continue;
    for (let x = 1; x < stride; x++)
      rows[y * stride + x] = byte(rows, y * stride + x) + byte(rows, (y - 1) * stride + x);
  }
  const rgb = new Uint8Array(width * height * 3);
  const lowBits = (1 << depth) - 1;
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const bit = x * depth;
      const index = (byte(rows, y * stride + 1 + (bit >> 3)) >> (8 - depth - (bit & 7))) & lowBits;
      if (index * 3 >= palette.length) throw new Error(`color ${index} is not in the palette`);
      for (let channel = 0; channel < 3; channel++) rgb[i++] = byte(palette, index * 3 + channel);
    }
  }
  return { ...pixels(width, height, rgb), bitDepth: depth, colorType, colors: palette.length / 3 };
}

export function rasterize(svg: string): Pixels {
  const image = new Resvg(svg, { font: { loadSystemFonts: false } }).render();
  const rgb = new Uint8Array(image.width * image.height * 3);
  const rgba = image.pixels;
  for (let from = 0, to = 0; from < rgba.length; from += 4) {
    if (byte(rgba, from + 3) !== 255) throw new Error('not opaque');
    for (let channel = 0; channel < 3; channel++) rgb[to++] = byte(rgba, from + channel);
  }
  return pixels(image.width, image.height, rgb);
}

const hex = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0').toUpperCase());

function pixels(width: number, height: number, rgb: Uint8Array): Pixels {
  const at = (x: number, y: number) => {
    const i = (y * width + x) * 3;
    return `#${hex[byte(rgb, i)]}${hex[byte(rgb, i + 1)]}${hex[byte(rgb, i + 2)]}`;
  };
  return { width, height, at, rgb };
}

function byte(bytes: Uint8Array, index: number): number {
  return bytes[index] as number;
}

const crcOfByte = Array.from({ length: 256 }, (_, one) => {
  let value = one;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

// Not taken from zlib, which the encoder uses.
function crc(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const one of bytes) value = (value >>> 8) ^ (crcOfByte[(value ^ one) & 255] as number);
  return (value ^ 0xffffffff) >>> 0;
}

/** The text of every QR code that zxing finds in an image. */
export async function scan(png: Uint8Array): Promise<string[]> {
  await scannerReady();
  const found = await readBarcodes(png, { formats: ['QRCode'] });
  return found.map(({ text }) => text);
}

/** The text of every QR code in an image of one byte per pixel. */
export async function scanAll(page: { width: number; height: number; data: Uint8Array }): Promise<string[]> {
  await scannerReady();
  const { width, height } = page;
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let from = 0, to = 0; from < page.data.length; from++, to += 4)
    data[to] = data[to + 1] = data[to + 2] = byte(page.data, from);
  const found = await readBarcodes({ width, height, data } as Parameters<typeof readBarcodes>[0], {
    formats: ['QRCode'],
  });
  return found.map(({ text }) => text);
}

let ready: Promise<unknown> | undefined;
function scannerReady(): Promise<unknown> {
  ready ??= (async () => {
    // By default the package fetches this file from the network.
    const wasm = await readFile(fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm')));
    const wasmBinary = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength) as ArrayBuffer;
    await prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
  })();
  return ready;
}

/** Throws if a document is not well-formed XML; supports the subset without DOCTYPE. */
export function assertWellFormed(xml: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: characters that XML 1.0 does not allow
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(xml) || !xml.isWellFormed()) {
    throw new Error('a character that XML does not allow');
  }
  const token = /<(\/?)([A-Za-z][\w:.-]*)((?:\s+[A-Za-z][\w:.-]*="[^"<]*")*)\s*(\/?)>|([^<]+)/y;
  const open: string[] = [];
  let roots = 0;
  while (token.lastIndex < xml.length) {
    const at = token.lastIndex;
    const match = token.exec(xml);
    if (!match) throw new Error(`not XML at ${at}: ${xml.slice(at, at + 60)}`);
    const [, closing, name, attributes = '', empty, text] = match;
    if (/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)/.test(text ?? attributes)) throw new Error('a bare &');
    if (text !== undefined) {
      if (open.length === 0 && text.trim() !== '') throw new Error(`text outside the document: ${text}`);
      continue;
    }
    if (closing) {
      if (attributes || empty || open.pop() !== name) throw new Error(`unexpected </${name}>`);
      continue;
    }
    const names = [...attributes.matchAll(/([\w:.-]+)=/g)].map(([, attribute]) => attribute);
    if (new Set(names).size !== names.length) throw new Error(`an attribute twice in <${name}>`);
    if (open.length === 0) roots++;
    if (!empty) open.push(name as string);
  }
  if (open.length > 0 || roots !== 1) throw new Error('not one closed document');
}
