import type { Style } from '../../events/style.ts';
import { composePixels, type SceneOptions } from './composition.ts';
import { layeredRows } from './layered-rows.ts';
import { overlayOf, paintOverlay } from './overlay.ts';
import { encodeIndexedPng, encodePixels, encodeRgbRows } from './png-file.ts';
import { rasterOf } from './raster.ts';
import { isPlain } from './style.ts';
import { symbolPixels } from './symbol-pixels.ts';

/**
 * Draws a short URL as a PNG, `size` pixels wide. Compression runs in zlib's thread pool, but a large image still
 * blocks for 20 ms or more: the service draws in another process (src/render/).
 *
 * @example
 * await drawPng('https://sho.rt/aB3xY7z', { dotsType: 'rounded' }, 512);
 */
export async function drawPng(
  url: string,
  style: Style,
  size: number,
  options: SceneOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { composition, layout } = composePixels(url, style, size, options);
  const { look, geometry } = composition;
  if (isPlain(look)) return encodeIndexedPng(rasterOf(geometry, layout, look), size);
  const { height } = layout;
  const rows = await layeredRows(composition, layout, options);
  if (rows !== undefined) return encodeRgbRows(rows, size, height);
  const words = symbolPixels(composition, layout);
  const overlay = await overlayOf(composition, layout, options);
  if (overlay !== undefined) paintOverlay(words, overlay);
  return encodePixels({ width: size, height, rgba: new Uint8Array(words.buffer) });
}
