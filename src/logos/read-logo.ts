import type { LogoFormat } from '../../events/logo.ts';
import { downscale } from '../qr/downscale.ts';
import type { LogoArt, RasterLogo } from '../qr/logo-art.ts';
import { encodeLogo } from '../qr/logo-files.ts';
import { encodeSmallPng, type Pixels } from '../qr/png-file.ts';
import { BadImage, checkSize, type RasterHeader } from './bytes.ts';
import { decodeImage } from './decode.ts';
import { flattenSvg } from './flatten-svg.ts';
import { readJpegHeader } from './jpeg-header.ts';
import { readPngHeader } from './png-header.ts';
import { sanitizeSvg } from './sanitize-svg.ts';
import { readWebpHeader } from './webp-header.ts';

/** An uploaded image that can be a logo. It has the width, height and format of the upload. */
export interface ReadLogo {
  format: LogoFormat;
  width: number;
  height: number;
  art: LogoArt;
}

/** Sharp at 300 dpi for a logo of 87 mm, which a code 29 cm wide has. */
const maxStoredSidePx = 1024;
/** Of a PNG and of paths. */
const maxStoredBytes = 1024 * 1024;

/**
 * Checks and decodes an uploaded image. What it returns has nothing of the file but its pixels or shapes: no metadata,
 * no scripts, no references. Throws `BadImage`. Takes up to 300 MB for a moment: run it in a process of its own.
 */
export async function readLogo(bytes: Uint8Array): Promise<ReadLogo> {
  const header = readHeader(bytes);
  if (header === undefined) return readSvg(bytes);
  const pixels = await decodeImage(bytes, header);
  const { width, height } = pixels;
  return { format: header.format, width, height, art: await storable(pixels) };
}

/** By content: names and declared types can be wrong. Undefined for what may be an SVG. */
function readHeader(bytes: Uint8Array): RasterHeader | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 16));
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return readPngHeader(bytes);
  if (start.startsWith('\xff\xd8\xff')) return readJpegHeader(bytes);
  if (start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP') return readWebpHeader(bytes);
  if (/^(\xef\xbb\xbf)?\s*</.test(start)) return undefined;
  if (bytes.length === 0) throw new BadImage('is empty');
  throw new BadImage('is not a PNG, JPEG, WebP or SVG file');
}

async function readSvg(bytes: Uint8Array): Promise<ReadLogo> {
  const { Resvg } = await import('@resvg/resvg-js');
  const clean = sanitizeSvg(textOf(bytes));
  const size = { width: 0, height: 0 };
  let simplified: string;
  try {
    const svg = new Resvg(clean, { font: { loadSystemFonts: false } });
    Object.assign(size, { width: Math.ceil(svg.width), height: Math.ceil(svg.height) });
    simplified = svg.toString();
  } catch {
    throw new BadImage('is not an SVG that can be drawn');
  }
  const art = flattenSvg(simplified);
  if (encodeLogo(art).content.length > maxStoredBytes) throw new BadImage('is too detailed: simplify it');
  return { format: 'svg', ...checkSize(size), art };
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new BadImage('is not an SVG in UTF-8');
  }
}

async function storable(pixels: Pixels): Promise<RasterLogo> {
  const { width, height } = pixels;
  for (let side = maxStoredSidePx; ; side = Math.floor(side / 1.5)) {
    const scale = Math.min(1, side / Math.max(width, height));
    const [toWidth, toHeight] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
    const reduced = scale === 1 ? pixels : downscale(pixels, toWidth, toHeight);
    const png = await encodeSmallPng(reduced);
    if (png.length <= maxStoredBytes) return { kind: 'raster', width: toWidth, height: toHeight, png };
  }
}
