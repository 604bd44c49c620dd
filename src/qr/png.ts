import type { Style } from '../../events/style.ts';
import { composePixels, type SceneOptions } from './composition.ts';
import { layeredRows } from './layered-rows.ts';
import { encodeIndexedPng, encodePixels, encodeRgbRows } from './png-file.ts';
import { rasterOf } from './raster.ts';
import { unmultiplied } from './render.ts';
import { sceneFrom } from './scene.ts';
import { drawScene } from './scene-pixels.ts';
import { isPlain } from './style.ts';

/**
 * Draws a short URL as a PNG, `size` pixels wide: from tiles if its colors are solid, otherwise by its SVG. Compression runs in zlib's thread pool, but a large image still
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
  const rows = await layeredRows(composition, layout, options);
  if (rows !== undefined) return encodeRgbRows(rows, size, layout.height);
  return encodePixels(unmultiplied(await drawScene(sceneFrom(composition, options), layout)));
}
