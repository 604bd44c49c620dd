import type { Style } from '../../events/style.ts';
import { geometryOf } from './geometry.ts';
import { layoutOf, unframed } from './layout.ts';
import { matrixOf } from './matrix.ts';
import { encodeIndexedPng, encodePixels } from './png-file.ts';
import { rasterOf } from './raster.ts';
import { renderSvg } from './render.ts';
import { scaledLogo } from './scaled-logo.ts';
import { pixelSceneOf, type SceneOptions } from './scene.ts';
import { isPlain, lookOf } from './style.ts';
import { writeSvg } from './svg.ts';

/**
 * Draws a short URL as a PNG, `size` pixels wide. Compression runs in zlib's thread pool, but a large image still
 * blocks for 20 ms or more: the service draws in a worker thread (drawing.ts).
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
  const look = lookOf(style);
  if (!isPlain(look)) {
    const { scene, layout } = pixelSceneOf(url, style, size, options);
    const shapes = await Promise.all(
      scene.shapes.map(async (shape) => {
        if (shape.kind !== 'logo' || shape.art.kind !== 'raster' || look.logo === undefined) return shape;
        return { ...shape, art: await scaledLogo(shape.art, look.logo.id, shape.width * layout.scale) };
      }),
    );
    return encodePixels(await renderSvg(writeSvg({ ...scene, shapes }, layout, '')));
  }
  const matrix = matrixOf(url, options.mask, look.errorCorrection);
  const layout = layoutOf(matrix.side, size, unframed(look.quietZone), options.maxSizePx);
  const geometry = geometryOf(matrix, look);
  return encodeIndexedPng(rasterOf(geometry, layout, look), size);
}
